"""Misspelt keys of Flink and Spark warn, and nothing that exists does."""

import re
import warnings
from importlib.resources import files
from pathlib import Path

import pytest

from headrace.compatibility.ignored_settings import OPTIONS_WITHOUT_EFFECT
from headrace.config import known_keys
from headrace.config.known_keys import TYPED_OPTIONS, UnknownOptionWarning, check_options, nearest_key


@pytest.fixture(autouse=True)
def nothing_said_yet(monkeypatch):
    monkeypatch.setattr(known_keys, "_warned", set())


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("execution.checkpointing.intervall", "execution.checkpointing.interval"),
        ("execution.checkpoint.interval", "execution.checkpointing.interval"),
        ("restart-strategy.typ", "restart-strategy.type"),
        ("restart-strategy.fixed-delay.attempt", "restart-strategy.fixed-delay.attempts"),
        ("parallelism.defalt", "parallelism.default"),
        ("pipeline.max-paralelism", "pipeline.max-parallelism"),
        ("state.backend.typ", "state.backend.type"),
        ("state.backend.rocksdb.memory.fixed-per-slott", "state.backend.rocksdb.memory.fixed-per-slot"),
        ("spark.executor.memroy", "spark.executor.memory"),
        ("spark.sql.shuffle.partition", "spark.sql.shuffle.partitions"),
    ],
)
def test_a_misspelt_key_warns_once_with_the_nearest_one(key, meant):
    with pytest.warns(UnknownOptionWarning, match=re.escape(f"{key}, in -D is not a known option")) as caught:
        check_options({key: "1"}, "-D")
    assert str(caught[0].message).endswith(f"did you mean {meant}?")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_options({key: "1"}, "-D")


@pytest.mark.parametrize(
    "key",
    [
        "metrics.reporter.prom.port",
        "metrics.reporter.my-own.filter.includes",
        "metrics.scope.variables.additional",
        "restart-strategy.my-company.attempts",
        "state.backend.rocksdb.my-factory.blocks",
        "s3.access-key",
        "s3.path.style.access",
        "fs.s3a.endpoint",
        "properties.bootstrap.servers",
        "bootstrap.servers",
        "yarn.application.my-own",
        "kubernetes.jobmanager.labels.team",
        "pipeline.global-job-parameters.mine",
        "security.module.factory.classes",
        "spark.hadoop.fs.s3a.endpoint",
        "spark.executorEnv.HOME",
        "spark.sql.catalog.mine",
        "my.own.key",
    ],
)
def test_keys_with_free_parts_pass(key):
    assert nearest_key(key) is None


def test_no_known_key_warns():
    known = files("headrace.config").joinpath("flink_options.txt").read_text().split()
    assert len(known) > 1000
    assert [key for key in known if nearest_key(key.replace(".*", ".mine")) is not None] == []
    ours = [*TYPED_OPTIONS, *(key for key in OPTIONS_WITHOUT_EFFECT if not key.endswith("."))]
    assert {key: near for key in ours if (near := nearest_key(key))} == {}


def test_keys_in_the_documentation_do_not_warn():
    docs = Path(__file__).parents[3] / "docs"
    text = " ".join(path.read_text() for path in docs.rglob("*.md"))
    spaces = known_keys._known()[2]
    found = {key for key in re.findall(r"`([a-z0-9-]+(?:\.[A-Za-z0-9-]+)+)`", text) if key.split(".")[0] in spaces}
    found = {key for key in found if not key.startswith("env.") and not key.endswith(".json")}  # calls and files
    unknown = {key: near for key in found if (near := nearest_key(key))}
    named_as_such = {"execution.checkpointing.intervall", "taskmanager.job.task"}  # an example, a part of a scope
    assert unknown.keys() - named_as_such == set()
