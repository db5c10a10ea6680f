import pickle

import pytest

from headrace.common import Configuration, ExecutionConfig, ExecutionMode, InputDependencyConstraint, RestartStrategies
from headrace.common.errors import ConfigurationError

# Getters with what a fresh PyFlink environment gives.
DEFAULTS = {
    "get_auto_watermark_interval": 200,
    "get_latency_tracking_interval": 0,
    "get_parallelism": -1,
    "get_max_parallelism": -1,
    "get_task_cancellation_interval": 30000,
    "get_task_cancellation_timeout": 180000,
    "has_auto_generated_uids_enabled": True,
    "has_generic_types_disabled": False,
    "is_object_reuse_enabled": False,
    "is_use_snapshot_compression": False,
    "is_closure_cleaner_enabled": True,
    "is_force_avro_enabled": False,
    "is_force_kryo_enabled": False,
    "is_auto_type_registration_disabled": False,
    "get_global_job_parameters": {},
    "get_default_kryo_serializer_classes": {},
    "get_registered_kryo_types": [],
    "get_registered_pojo_types": [],
    "get_registered_types_with_kryo_serializer_classes": {},
    "get_execution_mode": ExecutionMode.PIPELINED,
    "get_default_input_dependency_constraint": InputDependencyConstraint.ANY,
    "get_restart_strategy": RestartStrategies.fall_back_restart(),
}


@pytest.mark.parametrize(("getter", "value"), DEFAULTS.items())
def test_defaults(getter, value):
    assert getattr(ExecutionConfig(), getter)() == value


CALLS = [
    ("set_auto_watermark_interval", (5,), "get_auto_watermark_interval", 5),
    ("set_latency_tracking_interval", (5,), "get_latency_tracking_interval", 5),
    ("set_parallelism", (3,), "get_parallelism", 3),
    ("set_parallelism", (-2,), "get_parallelism", -1),
    ("set_max_parallelism", (64,), "get_max_parallelism", 64),
    ("set_task_cancellation_interval", (5,), "get_task_cancellation_interval", 5),
    ("set_task_cancellation_timeout", (0,), "get_task_cancellation_timeout", 0),
    ("enable_object_reuse", (), "is_object_reuse_enabled", True),
    ("disable_auto_generated_uids", (), "has_auto_generated_uids_enabled", False),
    ("disable_generic_types", (), "has_generic_types_disabled", True),
    ("disable_closure_cleaner", (), "is_closure_cleaner_enabled", False),
    ("enable_force_kryo", (), "is_force_kryo_enabled", True),
    ("enable_force_avro", (), "is_force_avro_enabled", True),
    ("disable_auto_type_registration", (), "is_auto_type_registration_disabled", True),
    ("set_use_snapshot_compression", (True,), "is_use_snapshot_compression", True),
    ("set_execution_mode", (ExecutionMode.BATCH,), "get_execution_mode", ExecutionMode.BATCH),
    ("register_kryo_type", ("a.B",), "get_registered_kryo_types", ["a.B"]),
    ("register_pojo_type", ("a.B",), "get_registered_pojo_types", ["a.B"]),
    ("add_default_kryo_serializer", ("a.B", "c.D"), "get_default_kryo_serializer_classes", {"a.B": "c.D"}),
    ("set_global_job_parameters", ({"a": 1, "b": "x:y,z"},), "get_global_job_parameters", {"a": "1", "b": "x:y,z"}),
    ("set_restart_strategy", (RestartStrategies.no_restart(),), "get_restart_strategy", RestartStrategies.no_restart()),
]


@pytest.mark.parametrize(("setter", "arguments", "getter", "value"), CALLS)
def test_values_are_kept(setter, arguments, getter, value):
    config = ExecutionConfig()
    assert getattr(config, setter)(*arguments) is config
    assert getattr(config, getter)() == value
    again = pickle.loads(pickle.dumps(config))
    assert again == config
    assert getattr(again, getter)() == value


def test_switches_go_back():
    config = ExecutionConfig().enable_object_reuse().disable_object_reuse()
    config.disable_auto_generated_uids().enable_auto_generated_uids()
    assert not config.is_object_reuse_enabled()
    assert config.has_auto_generated_uids_enabled()


def test_configuration_and_methods_set_the_same():
    configuration = Configuration.from_dict(
        {"parallelism.default": "5", "pipeline.auto-watermark-interval": "1 s", "restart-strategy": "none"}
    )
    config = ExecutionConfig(configuration)
    assert (config.get_parallelism(), config.get_auto_watermark_interval()) == (5, 1000)
    assert config.get_restart_strategy() == RestartStrategies.no_restart()
    config.set_parallelism(6)
    assert configuration.get_integer("parallelism.default", 0) == 6


@pytest.mark.parametrize(
    "wrong",
    [
        lambda c: c.set_parallelism(0),
        lambda c: c.set_parallelism(-5),
        lambda c: c.set_max_parallelism(0),
        lambda c: c.set_max_parallelism(40_000),
        lambda c: c.set_auto_watermark_interval(-1),
        lambda c: c.set_task_cancellation_timeout(-1),
    ],
)
def test_wrong_values_are_refused(wrong):
    with pytest.raises(ConfigurationError):
        wrong(ExecutionConfig())


def test_equality():
    assert ExecutionConfig() == ExecutionConfig()
    assert ExecutionConfig().set_parallelism(2) != ExecutionConfig()
    assert ExecutionConfig().set_restart_strategy(RestartStrategies.no_restart()) != ExecutionConfig()
