"""Runs a `TwoPhaseCommitSinkFunction`: transactions are begun, filled and prepared in tasks, committed in the driver.

1. Task: each epoch has its own transaction, so that an epoch can be retried. At its end the transaction is prepared
   (`pre_commit`) and handed over; the next one is begun and becomes the writer's state. A transaction without elements
   continues in the next epoch.
2. Restored task: aborts the transaction in its state, which its predecessor may have begun to fill, and begins another.
3. Driver: `commit` at the first attempt, `recover_and_commit` at all others, also those of another driver.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from headrace.connectors.base.driver_side import DriverFunction
from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_committer import Handle, SinkCommitter
from headrace.connectors.base.sink_writer import ElementContext, EpochEnd, RecordError, SinkWriter, WriterContext
from headrace.metrics.values import Path, Value
from headrace.state.safe_pickle import packed, unpacked

_log = logging.getLogger("headrace")
_REMEMBERED = 10


class TwoPhaseCommitSink(Sink):
    """The definition around a function."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def functions(self) -> Sequence[Any]:
        return (self._function,)

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return _Writer(self._function, context, states)

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter:
        return _Committer(DriverFunction(self._function, job_id, sink_id))


class _Writer(SinkWriter):
    def __init__(self, function: Any, context: WriterContext, states: list[Any]) -> None:
        self._function = function
        self._now = context.current_processing_time
        self._element = ElementContext(context.current_watermark, context.current_processing_time)
        function.open(context.runtime)
        handled = []
        for state in states:
            function.set_user_context(unpacked(state["context"]))
            transaction = unpacked(state["transaction"])
            function.recover_and_abort(transaction)
            handled.append(transaction)
        if states:
            function.finish_recovering_context(handled)
        if function.get_user_context() is None:
            function.set_user_context(function.initialize_user_context())
        self._transaction: Any = None
        self._begin()

    def _begin(self) -> None:
        self._transaction = self._function.begin_transaction()
        self._open, self._filled = True, False
        self._started = self._now()
        self._function.set_current_transaction(self._transaction)

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        invoke, transaction, element = self._function.invoke, self._transaction, self._element
        self._filled = self._filled or bool(values)
        element.record_timestamp = None
        value = None
        try:
            for i, value in enumerate(values):
                if timestamps is not None:
                    element.record_timestamp = timestamps[i]
                invoke(transaction, value, element)
        except Exception as error:
            raise RecordError(value) from error

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        if end.last:
            self._function.finish_processing(self._transaction)
        elif not self._filled:
            return []
        self._function.pre_commit(self._transaction)
        payload = self._packed()
        self._open = False
        if not end.last:
            self._begin()
        return [payload]

    def state(self) -> Any:
        return self._packed() if self._open else None

    def _packed(self) -> dict[str, Any]:
        return {
            "transaction": packed(self._transaction),
            "context": packed(self._function.get_user_context()),
            "started": self._started,
        }

    def close(self) -> None:
        try:
            if self._open:
                self._open = False
                self._function.abort(self._transaction)
        finally:
            self._function.close()


class _Committer(SinkCommitter):
    def __init__(self, function: DriverFunction) -> None:
        self._function = function
        self._tried: dict[str, int] = {}
        """Handles of the last few checkpoints that this process tried: all handles of a manifest are retried."""

    def commit(self, handle: Handle) -> None:
        function, transaction = self._take(handle)
        if handle.recovered or handle.id in self._tried:
            self._commit_again(function, transaction, handle.payload["started"])
            return
        if handle.checkpoint > max(self._tried.values(), default=0):
            self._tried = {h: number for h, number in self._tried.items() if number > handle.checkpoint - _REMEMBERED}
        self._tried[handle.id] = handle.checkpoint
        self._warn(function, transaction, handle.payload["started"])
        function.commit(transaction)

    def _commit_again(self, function: Any, transaction: Any, started: int) -> None:
        self._warn(function, transaction, started)
        try:
            function.recover_and_commit(transaction)
        except Exception:
            timeout = function.transaction_timeout
            if timeout is None or not function.ignores_failures_after_timeout or _age(started) <= timeout:
                raise
            _log.exception(
                "headrace: the transaction %r could not be committed within its timeout of %d ms: its data is given up",
                transaction,
                timeout,
            )

    def _warn(self, function: Any, transaction: Any, started: int) -> None:
        ratio, timeout = function.timeout_warning_ratio, function.transaction_timeout
        if ratio is not None and timeout is not None and _age(started) > ratio * timeout:
            _log.warning(
                "headrace: the transaction %r is %d ms old, its timeout is %d ms", transaction, _age(started), timeout
            )

    def abort(self, handle: Handle) -> bool:
        function, transaction = self._take(handle)
        if handle.recovered:
            function.recover_and_abort(transaction)
        else:
            function.abort(transaction)
        return True

    def _take(self, handle: Handle) -> tuple[Any, Any]:
        function = self._function.get()
        function.set_user_context(unpacked(handle.payload["context"]))
        return function, unpacked(handle.payload["transaction"])

    def metrics(self) -> dict[Path, Value]:
        return self._function.metrics()

    def close(self) -> None:
        self._function.close()


def _age(started: int) -> int:
    return int(time.time() * 1000) - started
