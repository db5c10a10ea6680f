"""TwoPhaseCommitSinkFunction: exactly once into a system with transactions.

It is not in PyFlink; the names are those of Flink's Java API. `headrace.connectors.functions.two_phase_commit` calls it,
in tasks and in the driver.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from headrace.connectors.base.sink import Sink as SinkDefinition
from headrace.connectors.functions.two_phase_commit import TwoPhaseCommitSink
from headrace.errors import InvalidProgramError
from headrace.functions.sink_function import SinkFunction


class TwoPhaseCommitSinkFunction(SinkFunction):
    r"""Writes elements in transactions, which are committed when a checkpoint completes.

    A transaction is any picklable object that you choose. Each subtask begins, fills and prepares its own. The driver
    commits them, in a copy of this object that was opened there (its `get_index_of_this_subtask` is -1). After a failure
    it commits again what may not have been committed, so **`commit`, `recover_and_commit`, `abort` and
    `recover_and_abort` must be idempotent**.

    >>> import os, uuid
    >>> class Files(TwoPhaseCommitSinkFunction):
    ...     def __init__(self, directory):
    ...         super().__init__()
    ...         self.directory = directory
    ...
    ...     def begin_transaction(self):
    ...         return f"{self.directory}/{uuid.uuid4()}"
    ...
    ...     def invoke(self, transaction, value, context):
    ...         with open(transaction + ".tmp", "a") as file:
    ...             print(value, file=file)
    ...
    ...     def pre_commit(self, transaction):
    ...         pass
    ...
    ...     def commit(self, transaction):
    ...         if os.path.exists(transaction + ".tmp"):
    ...             os.rename(transaction + ".tmp", transaction)
    ...
    ...     def abort(self, transaction):
    ...         if os.path.exists(transaction + ".tmp"):
    ...             os.remove(transaction + ".tmp")
    >>> import glob, tempfile
    >>> from headrace.common import Configuration
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment(
    ...     Configuration.from_dict({"headrace.executor": "local"})
    ... )
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     sink = env.from_collection(["a", "b"]).add_sink(Files(directory)).set_parallelism(1)
    ...     result = env.execute()
    ...     [open(file).read() for file in glob.glob(directory + "/*")]
    ['a\nb\n']
    """

    _current_transaction: Any = None
    _user_context: Any = None
    transaction_timeout: int | None = None
    ignores_failures_after_timeout: bool = False
    timeout_warning_ratio: float | None = None

    # ------------------------------------------------------------------ to implement

    @abstractmethod
    def begin_transaction(self) -> Any:
        """Return a new transaction; called in the subtask after `open` and after each `pre_commit`."""

    @abstractmethod
    def invoke(self, transaction: Any, value: Any, context: SinkFunction.Context) -> None:  # type: ignore[override]
        """Write one element in the transaction."""

    @abstractmethod
    def pre_commit(self, transaction: Any) -> None:
        """Prepare the transaction. Afterwards its data must be safe and `commit` must eventually succeed."""

    @abstractmethod
    def commit(self, transaction: Any) -> None:
        """Make the transaction visible; called in the driver."""

    @abstractmethod
    def abort(self, transaction: Any) -> None:
        """Abort the transaction; called in the subtask or in the driver."""

    # ------------------------------------------------------------------ to override

    def recover_and_commit(self, transaction: Any) -> None:
        """Commit a transaction that may have been committed already. Calls `commit` by default."""
        self.commit(transaction)

    def recover_and_abort(self, transaction: Any) -> None:
        """Abort a transaction of a subtask or driver that is gone. Calls `abort` by default."""
        self.abort(transaction)

    def finish_processing(self, transaction: Any) -> None:
        """Write the remaining data after the last element of a bounded stream; `pre_commit` follows."""

    def initialize_user_context(self) -> Any:
        """Return a picklable object to store with the transactions, if the function needs one."""
        return None

    def finish_recovering_context(self, handled_transactions: list[Any]) -> None:
        """Handle the restore of a subtask, which found and aborted ``handled_transactions``."""

    # ------------------------------------------------------------------ to call

    def current_transaction(self) -> Any:
        """Return the transaction that elements are written to, in a subtask."""
        return self._current_transaction

    def get_user_context(self) -> Any:
        """Return the result of `initialize_user_context`, from when this subtask or its predecessor started."""
        return self._user_context

    def set_transaction_timeout(self, transaction_timeout: int) -> TwoPhaseCommitSinkFunction:
        """Set after how many milliseconds the external system aborts a transaction. Has no effect by itself."""
        if transaction_timeout <= 0:
            raise InvalidProgramError("The transaction timeout must be positive", seen=transaction_timeout)
        self.transaction_timeout = transaction_timeout
        return self

    def ignore_failures_after_transaction_timeout(self) -> TwoPhaseCommitSinkFunction:
        """Log a transaction that can no longer be committed after its timeout, instead of failing the job.

        Its data is lost then. Without this call, or without a timeout, the job fails and retries.
        """
        self.ignores_failures_after_timeout = True
        return self

    def enable_transaction_timeout_warnings(self, warning_ratio: float) -> TwoPhaseCommitSinkFunction:
        """Log a warning if a transaction is committed after more than this fraction (0 to 1) of its timeout."""
        if not 0 <= warning_ratio <= 1:
            raise InvalidProgramError("The ratio must be between 0 and 1", seen=warning_ratio)
        self.timeout_warning_ratio = warning_ratio
        return self

    # ------------------------------------------------------------------ for the engine

    def set_user_context(self, context: Any) -> None:
        """Store the context; the engine calls it."""
        self._user_context = context

    def set_current_transaction(self, transaction: Any) -> None:
        """Store the transaction; the engine calls it."""
        self._current_transaction = transaction

    def get_definition(self) -> SinkDefinition:
        """Return the definition that the runtime uses."""
        return TwoPhaseCommitSink(self)
