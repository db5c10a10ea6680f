"""RedisSink against a real Redis: what is in it afterwards, also when the server was away or the job has failed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.common.errors import HeadraceError, InvalidProgramError, JobExecutionError, TypeMismatchError
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.redis import RedisCommand, RedisSink

if TYPE_CHECKING:
    from redis_server import RedisServer

MakeEnvironment = Callable[..., StreamExecutionEnvironment]


@pytest.fixture
def client(redis_server: RedisServer) -> Any:
    client = redis_server.client()
    client.flushall()
    return client


def test_all_commands(redis_server: RedisServer, client: Any, make_env: MakeEnvironment) -> None:
    client.set("old", 1)
    client.sadd("tags", "gone")
    client.hset("h", "gone", 1)
    client.zadd("z", {"gone": 1})

    def commands(word: str) -> list[RedisCommand]:
        return [
            RedisCommand.set("word", word),
            RedisCommand.set("soon", word, expire_seconds=1000),
            RedisCommand.delete("old"),
            RedisCommand.hset("h", {"a": word, "n": 3}),
            RedisCommand.hdel("h", "gone"),
            RedisCommand.sadd("tags", word, "x"),
            RedisCommand.srem("tags", "gone"),
            RedisCommand.zadd("z", {word: 2.5}),
            RedisCommand.zrem("z", "gone"),
        ]

    env = make_env(1)
    env.from_collection(["a", "b"]).sink_to(RedisSink.builder(redis_server.url).set_mapper(commands).build())
    env.execute()
    assert (client.get("word"), client.get("soon"), client.exists("old")) == ("b", "b", 0)
    assert 900 < client.ttl("soon") <= 1000
    assert client.hgetall("h") == {"a": "b", "n": "3"}
    assert client.smembers("tags") == {"a", "b", "x"}
    assert client.zrange("z", 0, -1, withscores=True) == [("a", 2.5), ("b", 2.5)]


def test_counts_are_right_although_the_job_fails(
    redis_server: RedisServer, client: Any, make_env: MakeEnvironment, tmp_path: Path
) -> None:
    armed = tmp_path / "armed"
    armed.touch()

    def fails_once(number: int) -> int:
        if number == 1500 and armed.exists():
            armed.unlink()
            raise RuntimeError("once")
        return number

    env = make_env(
        2,
        execution__checkpointing__interval="20 ms",
        **{"headrace__epoch__max-records": 200, "restart-strategy__type": "fixed-delay"},
        **{"restart-strategy__fixed-delay__delay": "10 ms"},
    )
    counts = env.from_sequence(1, 2000).map(fails_once).map(lambda n: (f"k{n % 7}", 1))
    counts = counts.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    counts.sink_to(RedisSink.builder(redis_server.url).set_mapper(lambda pair: RedisCommand.set(*pair)).build())
    env.execute()
    assert not armed.exists(), "it has failed"
    assert {k: int(client.get(k)) for k in client.keys()} == {
        f"k{r}": sum(1 for n in range(1, 2001) if n % 7 == r) for r in range(7)
    }


def test_a_server_that_is_away_is_waited_for(redis_server: RedisServer, client: Any, make_env: MakeEnvironment) -> None:
    env = make_env(1, **{"headrace__epoch__max-records": 50})
    sink = RedisSink.builder(redis_server.url).set_mapper(lambda n: RedisCommand.sadd("numbers", n)).build()
    env.from_sequence(1, 600).limit_rate(300).sink_to(sink)
    job = env.execute_async()

    def wait_for_some() -> None:
        while client.scard("numbers") < 100:
            time.sleep(0.01)

    waiting = threading.Thread(target=wait_for_some, daemon=True)
    waiting.start()
    waiting.join(30)
    assert not waiting.is_alive()
    redis_server.stop(kill=True)
    time.sleep(1.5)
    redis_server.start()
    job.get_job_execution_result().result()
    assert client.scard("numbers") == 600


def test_what_is_refused(redis_server: RedisServer, client: Any, make_env: MakeEnvironment) -> None:
    with pytest.raises(InvalidProgramError, match="needs to know its commands"):
        RedisSink.builder("redis://localhost").build()
    with pytest.raises(TypeMismatchError, match="named by a URL"):
        RedisSink.builder("localhost")
    client.set("text", "x")
    wrong = RedisSink.builder(redis_server.url).set_mapper(lambda n: RedisCommand.sadd("text", n)).build()
    env = make_env(1)
    env.from_collection([1]).sink_to(wrong)
    with pytest.raises(JobExecutionError, match=r"(?s)WRONGTYPE.*'SADD' 'text' 1"):
        env.execute()
    env = make_env(1)
    env.from_collection([1]).sink_to(RedisSink.builder(redis_server.url).set_mapper(lambda n: ("INCR", n)).build())
    with pytest.raises(HeadraceError, match=r"(?s)makes commands.*keep sums in state"):
        env.execute()
    env = make_env(1)
    nobody = RedisSink.builder("redis://127.0.0.1:1").set_mapper(lambda n: RedisCommand.set("a", n))
    env.from_collection([1]).sink_to(nobody.set_retry_seconds(0.2).build())
    with pytest.raises(JobExecutionError, match="Redis does not answer"):
        env.execute()


def test_the_example(redis_server: RedisServer, client: Any, example: Any) -> None:
    example("redis_totals")["main"](redis_server.url)
    assert {key: client.get(key) for key in client.keys()} == {"total:tea": "7", "total:rice": "2"}
