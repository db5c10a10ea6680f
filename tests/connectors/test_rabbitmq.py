"""RabbitMQ as source and sink against a real server: acknowledged with checkpoints, nothing lost when it goes away."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.common import BadRecord, Types
from headrace.common.errors import BadRecordError, ConfigurationError, InvalidProgramError
from headrace.common.serialization import SimpleStringSchema
from headrace.datastream import OutputTag, StreamExecutionEnvironment
from headrace.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSinkPublishOptions, RMQSource
from headrace.datastream.formats.json import JsonRowDeserializationSchema

if TYPE_CHECKING:
    from rabbitmq_server import RabbitServer

MakeEnvironment = Callable[..., StreamExecutionEnvironment]
RESTARTS = {
    "headrace__epoch__max-records": 100,
    "restart-strategy__type": "fixed-delay",
    "restart-strategy__fixed-delay__delay": "10 ms",
    "restart-strategy__fixed-delay__attempts": 10,
}


@pytest.fixture
def queue(rabbit: RabbitServer) -> str:
    return f"q{uuid.uuid4().hex[:8]}"


def config(rabbit: RabbitServer) -> RMQConnectionConfig:
    return RMQConnectionConfig.Builder().set_uri(rabbit.uri).set_network_recovery_interval(100).build()


def source(rabbit: RabbitServer, queue: str, ids: bool) -> RMQSource:
    return RMQSource(config(rabbit), queue, ids, SimpleStringSchema())


def first(stream: Any, count: int) -> list[int]:
    with stream.execute_and_collect() as results:
        return [int(next(results)) for _ in range(count)]


def test_messages_are_acknowledged_with_checkpoints(
    rabbit: RabbitServer, queue: str, make_env: MakeEnvironment
) -> None:
    rabbit.send(queue, range(500))
    env = make_env(2, execution__checkpointing__interval="50 ms")
    with env.add_source(source(rabbit, queue, True)).execute_and_collect() as results:
        assert sorted(int(next(results)) for _ in range(500)) == list(range(500))
        time.sleep(0.5)  # some checkpoints later all are acknowledged
    assert rabbit.take_all(queue) == []


def test_without_a_checkpoint_messages_come_again(rabbit: RabbitServer, queue: str, make_env: MakeEnvironment) -> None:
    rabbit.send(queue, range(50))
    env = make_env(1, execution__checkpointing__interval="10 min")
    stream = env.add_source(source(rabbit, queue, False)).map(int)
    stream.print()
    job = env.execute_async()
    deadline = time.monotonic() + 30
    while rabbit.waiting(queue):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    job.cancel().result()
    assert sorted(rabbit.take_all(queue)) == list(range(50)), "the server has them all again"


def test_each_message_once_although_the_job_fails_and_the_server_goes_away(
    rabbit: RabbitServer, queue: str, make_env: MakeEnvironment, tmp_path: Path
) -> None:
    rabbit.send(queue, range(600))
    armed = tmp_path / "armed"
    armed.touch()

    def fails_once(text: str) -> int:
        if text == "450" and armed.exists():
            armed.unlink()
            raise RuntimeError("once")
        return int(text)

    env = make_env(1, execution__checkpointing__interval="30 ms", **RESTARTS)
    stream = env.add_source(source(rabbit, queue, True)).limit_rate(600).map(fails_once)
    copies = f"{queue}-copies"
    stream.map(str, Types.STRING()).add_sink(RMQSink(config(rabbit), copies, SimpleStringSchema()))
    with stream.execute_and_collect() as results:
        found = [next(results) for _ in range(300)]
        rabbit.stop()
        time.sleep(1.0)
        rabbit.start()
        rabbit.send(queue, range(600, 700))
        found += [next(results) for _ in range(400)]
        time.sleep(0.3)
    assert not armed.exists(), "it has failed"
    assert Counter(found) == Counter(range(700))
    assert rabbit.take_all(queue) == []
    copied = Counter(rabbit.take_all(copies))
    assert set(copied) == set(range(700)), "the sink has lost nothing"
    assert sum(copied.values()) < 1400, "only what was on its way may be there twice"


def test_without_ids_nothing_is_lost(
    rabbit: RabbitServer, queue: str, make_env: MakeEnvironment, tmp_path: Path
) -> None:
    rabbit.send(queue, range(400), ids=False)
    armed = tmp_path / "armed"
    armed.touch()

    def fails_once(text: str) -> int:
        if text == "300" and armed.exists():
            armed.unlink()
            raise RuntimeError("once")
        return int(text)

    env = make_env(2, execution__checkpointing__interval="30 ms", **RESTARTS)
    with env.add_source(source(rabbit, queue, False)).map(fails_once).execute_and_collect() as results:
        found: set[int] = set()
        while len(found) < 400:
            found.add(next(results))
    assert not armed.exists(), "it has failed"


def test_a_stream_to_a_queue(rabbit: RabbitServer, queue: str, make_env: MakeEnvironment) -> None:
    env = make_env(2, **{"headrace__epoch__max-records": 6000})
    numbers = env.from_sequence(0, 7_999).map(str, Types.STRING())
    numbers.add_sink(RMQSink(config(rabbit), queue, SimpleStringSchema()))
    env.execute()
    assert sorted(rabbit.take_all(queue)) == list(range(8_000))


def test_bad_messages(rabbit: RabbitServer, queue: str, make_env: MakeEnvironment) -> None:
    rabbit.send(queue, range(3))
    schema = JsonRowDeserializationSchema.builder().type_info(Types.ROW_NAMED(["a"], [Types.INT()])).build()
    made = RMQSource(config(rabbit), queue, True, schema)
    with pytest.raises(BadRecordError, match=f"A message of queue '{queue}' cannot be read"):
        first(make_env(1).add_source(made), 1)
    bad = make_env(1).add_source(made.set_dead_letter_output(OutputTag("bad"))).get_side_output(OutputTag("bad"))
    with bad.map(lambda record: record).execute_and_collect() as results:
        letters: list[BadRecord] = [next(results) for _ in range(3)]
    assert sorted(letter.value for letter in letters) == [b"0", b"1", b"2"]
    other = f"{queue}-no-ids"
    rabbit.send(other, range(1), ids=False)
    with pytest.raises(BadRecordError, match="has no correlation id"):
        first(make_env(1).add_source(source(rabbit, other, True)), 1)


def test_what_is_refused(rabbit: RabbitServer, queue: str, make_env: MakeEnvironment) -> None:
    with pytest.raises(InvalidProgramError, match="no port, virtual_host, user, password"):
        RMQConnectionConfig.Builder().set_host("localhost").build()
    wrong = RMQConnectionConfig.Builder().set_uri(rabbit.uri.replace("guest:guest", "guest:wrong")).build()
    with pytest.raises(ConfigurationError, match="refuses the user"):
        first(make_env(1).add_source(RMQSource(wrong, queue, False, SimpleStringSchema())), 1)
    assert "wrong" not in repr(wrong.settings)


class ByParity(RMQSinkPublishOptions):
    def __init__(self, exchange: str) -> None:
        self.exchange = exchange

    def compute_exchange(self, value: str) -> str:
        return self.exchange

    def compute_routing_key(self, value: str) -> str:
        return f"numbers.{'odd' if int(value) % 2 else 'even'}"

    def compute_properties(self, value: str) -> Any:
        import pika

        return pika.BasicProperties(delivery_mode=2, correlation_id=f"number {value}") if value == "7" else None


def test_messages_go_to_an_exchange_by_their_routing_keys(
    rabbit: RabbitServer, queue: str, make_env: MakeEnvironment
) -> None:
    with rabbit.connection() as connection:
        channel = connection.channel()
        channel.exchange_declare(f"{queue}-exchange", "topic", durable=True)
        for key, name in (("numbers.odd", f"{queue}-odd"), ("numbers.*", f"{queue}-all")):
            channel.queue_declare(name, durable=True)
            channel.queue_bind(name, f"{queue}-exchange", key)
    env = make_env(2)
    numbers = env.from_collection([str(n) for n in range(20)], Types.STRING())
    numbers.add_sink(RMQSink(config(rabbit), None, SimpleStringSchema(), ByParity(f"{queue}-exchange")))
    env.execute()
    with rabbit.connection() as connection:
        found = {}
        for method, properties, body in connection.channel().consume(f"{queue}-odd", True, inactivity_timeout=0.3):
            if method is None:
                break
            found[int(body)] = properties.correlation_id
    assert found == {n: "number 7" if n == 7 else None for n in range(1, 20, 2)}
    assert sorted(rabbit.take_all(f"{queue}-all")) == list(range(20))


def test_an_exchange_that_is_not_there(rabbit: RabbitServer, queue: str, make_env: MakeEnvironment) -> None:
    env = make_env(1)
    options = ByParity("nowhere")
    env.from_collection(["1"], Types.STRING()).add_sink(RMQSink(config(rabbit), None, SimpleStringSchema(), options))
    with pytest.raises(ConfigurationError, match="does not know an exchange"):
        env.execute()
    with pytest.raises(InvalidProgramError, match="a queue or publish options"):
        RMQSink(config(rabbit), queue, SimpleStringSchema(), options)
    with pytest.raises(InvalidProgramError, match="a queue or publish options"):
        RMQSink(config(rabbit), None, SimpleStringSchema())


def test_the_example(rabbit: RabbitServer, queue: str, example: Any) -> None:
    with rabbit.connection() as connection:
        channel = connection.channel()
        for name in (queue, f"{queue}-copies"):
            channel.queue_declare(name, durable=True)
        channel.basic_publish("", queue, b"tea")
        job = example("rabbitmq_copy")["start"](rabbit.uri, queue, f"{queue}-copies")
        deadline = time.monotonic() + 30
        while (body := channel.basic_get(f"{queue}-copies", auto_ack=True)[2]) is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        job.cancel().result()
    assert body == b"TEA"
