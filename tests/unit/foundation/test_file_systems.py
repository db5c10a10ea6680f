"""File systems by their addresses: what is refused, and with which advice."""

from __future__ import annotations

import importlib.util

import pytest

from headrace.common import Configuration
from headrace.common.errors import ConfigurationError, InvalidProgramError, MissingExtraError
from headrace.datastream import StreamExecutionEnvironment
from headrace.foundation.file_systems import file_system


@pytest.fixture
def without_client(monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "hdfs_native" else find_spec(name))


def test_hdfs_without_its_client_is_refused(without_client):
    with pytest.raises(MissingExtraError, match="hdfs-native") as refused:
        file_system("hdfs://127.0.0.1:9000/x")
    assert "headrace[hdfs]" in refused.value.remedy and "webhdfs://" in refused.value.remedy


def test_hdfs_without_a_name_node_is_refused(monkeypatch):
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    with pytest.raises(InvalidProgramError, match="defaultFS") as refused:
        file_system("hdfs:///x")
    assert "HADOOP_CONF_DIR" in refused.value.remedy and "webhdfs://" in refused.value.remedy


@pytest.mark.parametrize("key", ["execution.checkpointing.dir", "execution.checkpointing.savepoint-dir"])
def test_storage_is_refused_before_the_job_starts(key, monkeypatch):
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict({"headrace.executor": "local", key: "hdfs:///checkpoints"})
    )
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match="The storage cannot be reached"):
        env.execute_async("never")
