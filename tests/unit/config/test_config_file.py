"""The configuration file, the environment, what a launcher hands over, and which of them wins."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from headrace.common import Configuration
from headrace.common.errors import ConfigurationError
from headrace.config.config_file import load_configuration, parse_properties, write_configuration
from headrace.config.known_keys import HEADRACE_OPTIONS, check_options
from headrace.config.runtime_settings import read_runtime_settings
from headrace.datastream import StreamExecutionEnvironment

ROOT = Path(__file__).resolve().parents[3]

FILE = """
# a comment
parallelism.default: 3
execution:
  checkpointing:
    interval: 10 s
    dir: file:///tmp/checkpoints
  runtime-mode: STREAMING
state.backend.rocksdb.memory.fixed-per-slot: 64 mb
pipeline.cached-files:
  - name:a,path:/a
  - name:b,path:/b
pipeline.global-job-parameters: {x: 1, y: two}
spark.master: "local[2,4]"
"""


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch, tmp_path):
    for name in ("HEADRACE_CONF_DIR", "HEADRACE_PROPERTIES", "HEADRACE_CONFIGURATION_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def conf(tmp_path, monkeypatch):
    folder = tmp_path / "my-conf"
    folder.mkdir()
    (folder / "headrace.yaml").write_text(FILE)
    monkeypatch.setenv("HEADRACE_CONF_DIR", str(folder))
    return folder


def test_nested_and_flat_keys_and_their_types(conf):
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.get_parallelism() == 3
    assert env.get_checkpoint_interval() == 10_000
    configuration = env.get_configuration()
    options = read_runtime_settings(configuration)
    assert options.durability.directory == "file:///tmp/checkpoints"
    assert options.spark == {"spark.master": "local[2,4]"}
    assert options.job_parameters == {"x": "1", "y": "two"}
    assert configuration.get_string("pipeline.cached-files", "") == "name:a,path:/a;name:b,path:/b"


def test_later_sources_win(conf, monkeypatch, tmp_path):
    def parallelism(given=None):
        return StreamExecutionEnvironment.get_execution_environment(given).get_parallelism()

    assert parallelism() == 3
    monkeypatch.setenv("HEADRACE_PROPERTIES", "parallelism.default: 4\npipeline.name: from the environment")
    assert parallelism() == 4
    write_configuration(tmp_path / "launch.json", load_configuration(overrides={"parallelism.default": "5"}))
    monkeypatch.setenv("HEADRACE_CONFIGURATION_FILE", str(tmp_path / "launch.json"))
    assert parallelism() == 5
    assert parallelism(Configuration().set_integer("parallelism.default", 6)) == 6
    assert load_configuration()["pipeline.name"] == "from the environment"


def test_a_file_in_conf_of_the_working_directory_counts(tmp_path):
    assert load_configuration() == {}
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "headrace.yaml").write_text("rest.port: 9000")
    assert load_configuration() == {"rest.port": "9000"}


def test_unknown_keys_of_headrace_are_refused_with_the_nearest_name(conf):
    (conf / "headrace.yaml").write_text("headrace.state.dir: /data")
    with pytest.raises(ConfigurationError, match=r"did you mean headrace\.state\.directory\?") as caught:
        load_configuration()
    assert str(conf) in str(caught.value)
    with pytest.raises(ConfigurationError, match=r"did you mean headrace\.epoch\.target-ms\?"):
        read_runtime_settings(Configuration().set_string("headrace.epoch.target", "5"))
    with pytest.raises(ConfigurationError, match=r"did you mean headrace\.executor\?.*|headrace\.exekutor, in -D"):
        (conf / "headrace.yaml").write_text("")
        load_configuration(overrides={"headrace.exekutor": "local"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("execution.checkpointing.interval: 10 potatoes", "Expected a duration"),
        ("execution: {checkpointing.interval: 5 s}\nexecution.checkpointing.interval: 6 s", "set twice"),
        ("a: 1\na: 2", "a is set twice"),
        ("a: [", "not valid YAML"),
        ("just text", "no keys and values"),
        ("state.backend.rocksdb.memory.fixed-per-slot: much", "Expected a memory size"),
        ("!!python/object/apply:os.system ['true']", "no keys and values"),
    ],
)
def test_malformed_files_are_refused(conf, text, message):
    (conf / "headrace.yaml").write_text(text)
    with pytest.raises(ConfigurationError, match=message) as caught:
        load_configuration()
    assert "headrace.yaml" in str(caught.value)


def test_a_conf_directory_without_a_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_CONF_DIR", str(tmp_path))
    with pytest.raises(ConfigurationError, match="has no configuration file"):
        load_configuration()


@pytest.mark.parametrize("text", ["not json", "[1]"])
def test_a_broken_launcher_file_is_refused(tmp_path, monkeypatch, text):
    (tmp_path / "launch.json").write_text(text)
    monkeypatch.setenv("HEADRACE_CONFIGURATION_FILE", str(tmp_path / "launch.json"))
    with pytest.raises(ConfigurationError, match="HEADRACE_CONFIGURATION_FILE"):
        load_configuration()


def test_words_of_yaml_stay_texts():
    assert parse_properties("a: on\nb: 010\nc: 1.50\nd: true\ne:\nf: null", "x") == {
        "a": "on", "b": "010", "c": "1.50", "d": "true", "e": "", "f": "null"
    }  # fmt: skip


def test_the_file_of_the_launcher_is_private(tmp_path):
    write_configuration(tmp_path / "launch.json", {"a": "secret"})
    assert stat.S_IMODE((tmp_path / "launch.json").stat().st_mode) == 0o600
    assert json.loads((tmp_path / "launch.json").read_text()) == {"a": "secret"}


def test_every_option_of_headrace_has_the_namespace_and_a_readable_default():
    for key, option in HEADRACE_OPTIONS.items():
        assert key == option.key and key.startswith("headrace.")
        assert option.default is None or isinstance(option.default, option.kind)


def test_the_sample_changes_nothing_and_is_right_when_it_is_put_to_use():
    text = (ROOT / "conf" / "headrace.yaml").read_text()
    assert parse_properties(text, "sample") == {}
    lines = [line[2:] for line in text.splitlines() if line.startswith("# ") and re.match(r"# +[\w.-]+:( |$)", line)]
    settings = parse_properties("\n".join(lines), "sample")
    assert settings["execution.checkpointing.interval"] == "10 s"
    assert settings["restart-strategy.exponential-delay.max-backoff"] == "1 min"
    check_options(settings)
    assert len(settings) > 20
