"""A program that ends while its job runs has not cancelled it: a job with a name can be started again."""

from __future__ import annotations

import textwrap

import pytest

PROGRAM = """
    import os, pathlib, signal, sys, threading, time
    from headrace.common import Configuration, WatermarkStrategy
    from headrace.datastream import StreamExecutionEnvironment
    from headrace.connectors.generated.datagen import DataGenerator

    configuration = Configuration()
    for key, value in {
        "headrace.executor": "local",
        "headrace.job.id": "left-alone",
        "execution.checkpointing.interval": "50 ms",
        "execution.checkpointing.dir": os.environ["CHECKPOINTS"],
    }.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    source = DataGenerator(lambda index: index, records_per_second=100)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    if os.environ.get("END", "").startswith("interrupt"):
        def press():
            while not list(pathlib.Path(os.environ["CHECKPOINTS"]).glob("*/markers/*")):
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=press).start()
        if os.environ["END"] == "interrupt a loop":
            for number in numbers.execute_and_collect("interrupted"):
                pass
        numbers.filter(lambda n: False).print()
        env.execute("interrupted")
    numbers.filter(lambda n: False).print()
    client = env.execute_async("left alone")
    while not client.get_checkpoint_statistics()["counts"]["completed"]:
        time.sleep(0.05)
    if os.environ.get("END") == "cancel":
        client.cancel().result()
    else:
        raise SystemExit("something else went wrong in the program")
"""


def slots(folder):
    return sorted(path.name for path in folder.glob("*/slots/*"))


def test_checkpoints_stay_when_the_program_ends_and_go_when_the_job_is_cancelled(run_script, tmp_path):
    script, folder = tmp_path / "program.py", tmp_path / "checkpoints"
    script.write_text(textwrap.dedent(PROGRAM))
    ended = run_script(script, tmp_path, 60, CHECKPOINTS=str(folder))
    assert ended.returncode == 1, ended.report()
    assert slots(folder)
    cancelled = run_script(script, tmp_path, 60, CHECKPOINTS=str(folder), END="cancel")
    assert cancelled.returncode == 0, cancelled.report()
    assert not slots(folder)


@pytest.mark.parametrize("where", ["interrupt", "interrupt a loop"])
def test_checkpoints_stay_when_the_program_is_interrupted(run_script, tmp_path, where):
    script, folder = tmp_path / "program.py", tmp_path / "checkpoints"
    script.write_text(textwrap.dedent(PROGRAM))
    ended = run_script(script, tmp_path, 60, CHECKPOINTS=str(folder), END=where)
    assert "KeyboardInterrupt" in ended.stderr, ended.report()
    assert slots(folder), ended.report()
