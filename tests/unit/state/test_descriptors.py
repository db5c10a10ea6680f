"""Descriptors and TTL configuration: PyFlink's calls, as data."""

import pickle

import pytest

from headrace.common.errors import StateError, TypeMismatchError
from headrace.common.time import Duration, Time
from headrace.common.typeinfo import Types
from headrace.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from headrace.state.heap import HeapKeyedBackend
from headrace.state.ttl import StateTtlConfig


class Sum:
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


def add(a, b):
    return a + b


class AddFunction:
    def reduce(self, value1, value2):
        return value1 + value2


def all_descriptors():
    return [
        ValueStateDescriptor("v", Types.LONG()),
        ListStateDescriptor("l", Types.LONG()),
        MapStateDescriptor("m", Types.STRING(), Types.LONG()),
        ReducingStateDescriptor("r", add, Types.LONG()),
        AggregatingStateDescriptor("a", Sum(), Types.LONG()),
    ]


def test_parameter_names_are_pyflinks():
    assert ValueStateDescriptor(name="v", value_type_info=Types.LONG()).get_name() == "v"
    assert ListStateDescriptor(name="l", elem_type_info=Types.LONG()).get_type_info() == Types.LIST(Types.LONG())
    assert MapStateDescriptor(name="m", key_type_info=Types.LONG(), value_type_info=Types.LONG()).name == "m"
    assert ReducingStateDescriptor(name="r", reduce_function=add, type_info=Types.LONG()).name == "r"
    assert AggregatingStateDescriptor(name="a", agg_function=Sum(), state_type_info=Types.LONG()).name == "a"


@pytest.mark.parametrize("descriptor", all_descriptors(), ids=lambda d: d.kind)
def test_descriptors_are_picklable(descriptor):
    again = pickle.loads(pickle.dumps(descriptor))
    assert (again.name, again.kind, again.type_info) == (descriptor.name, descriptor.kind, descriptor.type_info)


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_state_needs_a_name(name):
    with pytest.raises(StateError, match="needs a name"):
        ValueStateDescriptor(name, Types.LONG())


def test_untyped_descriptors():
    assert MapStateDescriptor("m", None, None).type_info is None
    assert ListStateDescriptor("l", None).type_info is None


def test_reduce_function_or_callable():
    function = AddFunction()
    assert ReducingStateDescriptor("r", function, None).get_reduce_function() is function
    assert ReducingStateDescriptor("r", add, None).get_reduce_function().reduce(1, 2) == 3


def test_aggregate_function_is_checked():
    with pytest.raises(TypeMismatchError, match="AggregateFunction"):
        AggregatingStateDescriptor("a", AddFunction(), None)
    assert AggregatingStateDescriptor("a", Sum(), None).get_agg_function().merge(1, 2) == 3


def test_ttl_defaults_are_pyflinks():
    config = StateTtlConfig.new_builder(Time.seconds(5)).build()
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnCreateAndWrite
    assert config.get_state_visibility() is StateTtlConfig.StateVisibility.NeverReturnExpired
    assert config.get_ttl_time_characteristic() is StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
    assert config.get_ttl() == Time.seconds(5)
    assert config.is_enabled()
    strategies = config.get_cleanup_strategies()
    assert strategies.is_cleanup_in_background()
    assert not strategies.in_full_snapshot()
    assert strategies.get_incremental_cleanup_strategy().get_cleanup_size() == 5
    assert strategies.get_incremental_cleanup_strategy().run_cleanup_for_every_record() is False
    compaction = strategies.get_rocksdb_compact_filter_cleanup_strategy()
    assert compaction.get_query_time_after_num_entries() == 1000
    assert compaction.get_periodic_compaction_time() == Duration.of_days(30)


def test_ttl_builder_sets_everything():
    config = (
        StateTtlConfig.new_builder(Time.seconds(5))
        .set_ttl(Duration.of_minutes(1))
        .update_ttl_on_create_and_write()
        .update_ttl_on_read_and_write()
        .never_return_expired()
        .return_expired_if_not_cleaned_up()
        .use_processing_time()
        .cleanup_full_snapshot()
        .cleanup_incrementally(10, True)
        .cleanup_in_rocksdb_compact_filter(500, Duration.of_hours(1))
        .disable_cleanup_in_background()
        .build()
    )
    assert config.get_ttl() == Duration.of_minutes(1)
    assert config.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
    assert config.get_state_visibility() is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
    strategies = config.get_cleanup_strategies()
    assert not strategies.is_cleanup_in_background()
    assert strategies.in_full_snapshot()
    assert strategies.get_incremental_cleanup_strategy().get_cleanup_size() == 10
    assert strategies.get_rocksdb_compact_filter_cleanup_strategy().get_periodic_compaction_time() == (
        Duration.of_hours(1)
    )
    assert "OnReadAndWrite" in repr(config)
    assert pickle.loads(pickle.dumps(config)).get_ttl() == config.get_ttl()


def test_no_default_strategies_without_background_cleanup():
    strategies = (
        StateTtlConfig.new_builder(Time.seconds(5)).disable_cleanup_in_background().build().get_cleanup_strategies()
    )
    assert strategies.get_incremental_cleanup_strategy() is None
    assert strategies.get_rocksdb_compact_filter_cleanup_strategy() is None


@pytest.mark.parametrize("descriptor", all_descriptors(), ids=lambda d: d.kind)
def test_ttl_is_not_ignored(descriptor):
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(5)).build())
    state = HeapKeyedBackend(128, range(128)).get_state(descriptor)
    assert type(state).__name__ == f"Ttl{descriptor.kind}"


def test_disabled_ttl_is_accepted():
    descriptor = ValueStateDescriptor("v", None)
    builder = StateTtlConfig.new_builder(Time.seconds(5))
    descriptor.enable_time_to_live(builder.set_update_type(StateTtlConfig.UpdateType.Disabled).build())
    HeapKeyedBackend(128, range(128)).get_state(descriptor)


def test_ttl_config_is_checked():
    with pytest.raises(TypeMismatchError):
        ValueStateDescriptor("v", None).enable_time_to_live(5)
