"""Decisions about how Spark is started and what its failures mean; no JVM here."""

from __future__ import annotations

import importlib.util
import os
import sys

import pytest
from pyspark import SparkContext

from headrace.common.errors import ConfigurationError, JobExecutionError
from headrace.driver.executor import EpochLostError
from headrace.spark import jvm
from headrace.spark.context import spark_context
from headrace.spark.failures import as_epoch_error
from headrace.spark.java import explain_failed_start, major_version
from headrace.spark.settings import DAEMON_MODULE, launch_environment, local_master, settings_for
from headrace.worker.slot import courier

ABORTED = """org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times, most \
recent failure: Lost task 0.3 in stage 3.0 (TID 9) (localhost executor driver): {cause}
\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:645)
\tat java.base/java.lang.Thread.run(Thread.java:840)

Driver stacktrace:"""

LOST_SLOT = """org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "pyspark/worker.py", line 9, in main
    process()
headrace.worker.slot.courier.SlotLostError: the slot process of task (1, 0) of job ab has died
"""


def test_a_lost_slot_may_be_tried_again_and_is_named():
    error = as_epoch_error(RuntimeError(ABORTED.format(cause=LOST_SLOT)))
    assert isinstance(error, EpochLostError)
    assert error.seen == (
        "headrace.worker.slot.courier.SlotLostError: the slot process of task (1, 0) of job ab has died"
    )
    assert "\tat " not in str(error)


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ('java.io.IOException: Cannot run program "python9": error=2, No such file', "cannot start 'python9'"),
        ("ModuleNotFoundError: No module named 'headrace.worker'", "no module 'headrace'"),
        ("pyspark.errors.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] worker 3.9, driver 3.11", "another version"),
        ("PermissionError: /tmp/x must be a directory of user 5 with mode 0700", "not private"),
    ],
)
def test_faults_of_the_set_up_are_the_users_to_mend(cause, words):
    error = as_epoch_error(RuntimeError(ABORTED.format(cause=cause)))
    assert isinstance(error, ConfigurationError)
    assert words in str(error)
    assert "\tat " not in str(error)


def test_a_stopped_context_is_named():
    error = as_epoch_error(
        RuntimeError("java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.")
    )
    assert "is gone" in str(error)


def test_what_is_unknown_is_shown_short():
    error = as_epoch_error(RuntimeError(ABORTED.format(cause="java.lang.Error: odd")))
    assert type(error) is JobExecutionError
    assert "odd" in str(error)
    assert "\tat " not in str(error)


DAEMON = """org.apache.spark.SparkException: \n\
Error from python worker:
  Traceback (most recent call last):
    File "<frozen runpy>", line 198, in _run_module_as_main
    File "pyspark/daemon.py", line 129, in manager
      listen_sock.bind(socket_path)
  OSError: AF_UNIX path too long
PYTHONPATH was:
  /opt/spark/jars/spark-core.jar
org.apache.spark.SparkException: EOFException occurred while reading the port number from pyspark.daemon's stdout."""


def test_the_cause_is_in_the_line_that_a_restart_logs():
    """The log has nothing but the message of the error."""
    error = as_epoch_error(RuntimeError(ABORTED.format(cause=DAEMON)))
    assert type(error) is JobExecutionError
    assert error.message == "Spark could not run an epoch: OSError: AF_UNIX path too long"
    error = as_epoch_error(RuntimeError(ABORTED.format(cause="java.lang.Error: odd")))
    assert error.message == "Spark could not run an epoch: java.lang.Error: odd"


def test_another_version_of_headrace_on_the_executors_is_named():
    said = DAEMON.replace("OSError: AF_UNIX path too long", "/opt/python: No module named headrace.spark.daemon")
    error = as_epoch_error(RuntimeError(ABORTED.format(cause=said)))
    assert isinstance(error, ConfigurationError)
    assert "another version of headrace" in error.message


def test_own_errors_pass():
    error = JobExecutionError("x")
    assert as_epoch_error(error) is error


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "java.net.BindException: Cannot assign requested address: Service 'sparkDriver' failed after 16 retries",
            "listen",
        ),
        ("java.nio.file.AccessDeniedException: /scratch", "temporary files"),
        ("org.apache.spark.SparkException: Could not parse Master URL: 'moon'", "Unknown kind of cluster"),
        ("java.lang.Error: odd", "Cannot create a SparkContext"),
    ],
)
def test_a_context_that_could_not_be_made_is_explained(text, words):
    assert words in str(explain_failed_start(RuntimeError(text), {"spark.master": "moon"}))


def test_versions_of_java():
    assert major_version('openjdk version "21" 2023-09-19') == 21
    assert major_version('java version "1.8.0_391"') == 8


def test_settings_of_the_user_win(monkeypatch):
    monkeypatch.delenv("HEADRACE_SPARK_MASTER", raising=False)
    settings = settings_for({"spark.driver.memory": "3g", "spark.ui.enabled": "true"})
    assert settings["spark.driver.memory"] == "3g"
    assert settings["spark.ui.enabled"] == "true"
    assert settings["spark.master"] == local_master()
    assert settings["spark.pyspark.python"] == os.environ.get("PYSPARK_PYTHON", sys.executable)
    assert "spark.driver.host" not in settings_for({"spark.master": "spark://far.away:7077"})


@pytest.mark.parametrize("master", ["local[2]", "spark://far.away:7077", "yarn"])
def test_the_temporary_directory_of_the_driver_is_the_drivers_alone(monkeypatch, master):
    monkeypatch.setenv("TMPDIR", "/scratch/mine")
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    settings = settings_for({"spark.master": master})
    assert "/scratch/mine" not in settings.values(), "executors get all settings"
    with launch_environment(settings):
        assert os.environ["SPARK_LOCAL_DIRS"] == "/scratch/mine"
    with launch_environment({**settings, "spark.local.dir": "/fast"}):
        assert "SPARK_LOCAL_DIRS" not in os.environ, "it would win over the setting"


def test_the_daemon_exists_and_couriers_know_it():
    assert importlib.util.find_spec(DAEMON_MODULE) is not None
    assert DAEMON_MODULE in courier._DAEMONS


def test_unix_sockets_are_used_where_headrace_makes_their_folder():
    def of(master: str, **more: str) -> tuple[str, str | None]:
        settings = settings_for({"spark.master": master, **{k.replace("__", "."): v for k, v in more.items()}})
        return settings["spark.python.unix.domain.socket.enabled"], settings.get("spark.python.daemon.module")

    own = DAEMON_MODULE
    assert of("local[2]") == of("yarn") == of("k8s://x") == ("true", own)
    assert of("local[2]", spark__python__use__daemon="false") == ("true", own)
    assert of("yarn", spark__python__use__daemon="false") == ("false", None)
    assert of("yarn", spark__python__daemon__module="mine") == ("false", "mine")
    assert of("yarn", spark__python__unix__domain__socket__enabled="false") == ("false", None)


@pytest.mark.parametrize(("variable", "setting"), [("sc://host:443/;token=abc", ""), ("", "sc://host:443/;token=abc")])
def test_spark_connect_is_refused_with_the_reason(monkeypatch, variable, setting):
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    monkeypatch.setenv("SPARK_REMOTE", variable)
    with pytest.raises(ConfigurationError, match="Spark Connect") as caught:
        spark_context(None, {"spark.remote": setting} if setting else {})
    assert "RDD" in str(caught.value) and "sc://host:443/" in str(caught.value) and "spark.master" in str(caught.value)
    assert "abc" not in str(caught.value), "a token is a secret"


def test_the_environment_is_put_back():
    before = dict(os.environ)
    with launch_environment(settings_for({"spark.master": "local[1]"})):
        assert os.environ["PYSPARK_PYTHON"]
        assert "log4j2.configurationFile" in os.environ["SPARK_SUBMIT_OPTS"]
    assert dict(os.environ) == before


@pytest.mark.parametrize("variable", ["SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR"])
def test_a_configured_spark_is_started_its_own_way(monkeypatch, variable):
    monkeypatch.setenv(variable, "/somewhere")
    assert jvm.gateway_for(settings_for({"spark.master": "local[1]"})) is None


def test_other_clusters_are_left_to_spark_submit(monkeypatch):
    for name in ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS"):
        monkeypatch.delenv(name, raising=False)
    assert jvm.gateway_for(settings_for({"spark.master": "yarn"})) is None
    assert jvm.gateway_for({**settings_for({"spark.master": "local[1]"}), "spark.driver.extraClassPath": "/x"}) is None


def test_the_command_has_the_users_java_options_last(monkeypatch):
    settings = settings_for({"spark.master": "local[1]", "spark.driver.extraJavaOptions": "-Da='b c' -XX:+UseG1GC"})
    command = jvm._command(jvm.Path("/spark"), settings)
    assert command.index("-Da=b c") < command.index("org.apache.spark.deploy.SparkSubmit")
    assert "-XX:+UseSerialGC" not in command
    assert "-Xmx1g" in command
    assert not [part for part in command if "incubator" in part]
    assert command[-1] == "pyspark-shell"
