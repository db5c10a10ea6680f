"""TableResult: what a statement returned. Rows of a query arrive while its job runs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidProgramError
from headrace.table.catalogs.schemas import ResolvedSchema
from headrace.table.conversion import row_reader
from headrace.table.printing import MOST, data_widths, table_lines, type_widths
from headrace.table.result_kind import ResultKind
from headrace.types.row import Row

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace.common.job_client import JobClient
    from headrace.table.table_schema import TableSchema

__all__ = ["CloseableIterator", "TableResult"]

_ALL = 1 << 30
Texts = Callable[[Sequence[Any]], list["str | None"]]


class CloseableIterator:
    """The rows of a result; a context manager. Closing it cancels the job if it is still running.

    >>> with CloseableIterator(iter([Row(1), Row(2)])) as rows:
    ...     print(next(rows))
    <Row(1)>
    """

    def __init__(self, rows: Iterator[Row], close: Callable[[], None] = lambda: None) -> None:
        """Programs call `TableResult.collect`."""
        self._rows, self._close = rows, close

    def __iter__(self) -> Self:
        """Return the iterator itself."""
        return self

    def __next__(self) -> Row:
        """Return the next row; wait for it if necessary."""
        return next(self._rows)

    def next(self) -> Row:
        """Return the next row; wait for it if necessary."""
        return next(self)

    def __enter__(self) -> Self:
        """Return the iterator itself."""
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """Close the iterator."""
        self.close()

    def close(self) -> None:
        """Cancel the job if it is still running. Remaining rows are lost."""
        self._rows = iter(())
        self._close()


class TableResult:
    """The result of a statement: rows, or the job that INSERT started.

    >>> from headrace.table import EnvironmentSettings, TableEnvironment
    >>> t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    >>> t_env.execute_sql("SHOW DATABASES").print()
    +------------------+
    |    database name |
    +------------------+
    | default_database |
    +------------------+
    1 row in set
    """

    def __init__(
        self,
        schema: ResolvedSchema,
        rows: Iterable[Sequence[Any]],
        *,
        kind: int = ResultKind.SUCCESS_WITH_CONTENT,
        kinds: bool = False,
        streaming: bool = False,
        known: bool = True,
        raw: bool = False,
        texts: Texts | None = None,
        widest: int = MOST,
        job: Any = None,
        job_ends: bool = False,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        """Statements create it. `rows` are in internal form, with kinds at the end if `kinds`.

        `known` means that all rows are there already: the widths of printed columns come from them. `raw` results are
        printed without a table. `widest` limits the printed columns of any width. `job_ends` means that the rows of a
        job are its result, so that reading them waits for it.
        """
        self._schema, self._rows, self._kind = schema, rows, kind
        self._kinds, self._streaming, self._known, self._texts = kinds, streaming, known, texts
        self._raw, self._widest = raw, widest
        self._job, self._job_ends, self._close = job, job_ends, close
        self._taken = False

    def get_job_client(self) -> JobClient | None:
        """Return the client of the job, None if the statement started none."""
        if self._job is None:
            return None
        from headrace.common.job_client import JobClient

        return JobClient(self._job)

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait until the job has finished, or the first row of a query is there. Raise the error of a failed job."""
        if self._job is None:
            return
        if self._job_ends:
            _within(timeout_ms, self._peek)
        else:
            _within(timeout_ms, self._job.wait)

    def _peek(self) -> None:
        rows = iter(self._rows)
        first = list(_first(rows))
        self._rows = _joined(first, rows)

    def get_result_kind(self) -> int:
        """Return whether there are rows: a value of `ResultKind`."""
        return self._kind

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns."""
        return self._schema

    def get_table_schema(self) -> TableSchema:
        """Return the columns, in the older form."""
        from headrace.table.table_schema import TableSchema

        return TableSchema(self._schema.get_column_names(), self._schema.get_column_data_types())

    def collect(self) -> CloseableIterator:
        """Return the rows, each with its kind. The rows of a job can be read once."""
        read = row_reader(self._schema.to_source_row_data_type(), self._kinds)
        return CloseableIterator(map(read, self._take()), self._close)

    def _take(self) -> Iterator[Sequence[Any]]:
        if self._job is not None:
            if self._taken:
                raise InvalidProgramError(
                    "The rows of a query can be read only once", remedy="execute the statement again"
                )
            self._taken = True
        return iter(self._rows)

    def print(self) -> None:
        """Print the rows to the standard output; those of a stream as they arrive."""
        names, types = self._schema.get_column_names(), self._schema.get_column_data_types()
        texts = self._texts
        if texts is None:
            from headrace.table.row_texts import cell_texts

            texts = cell_texts(types)
        if self._raw:
            for row in self._take():
                _print(",".join(text or "" for text in texts(row)))
            return
        null = "" if self._known else "<NULL>"
        if self._known:
            shown = [["" if text is None else text for text in texts(row)] for row in self._take()]
            rows: Iterable[Sequence[str | None]] = shown
            widths = data_widths(names, shown, _ALL)
        else:
            rows = self._texts_with_kinds(texts)
            widths = type_widths(names, types, self._widest)
        try:
            table_lines(names, widths, rows, kinds=self._streaming and not self._known, null=null, out=_print)
        finally:
            self._close()

    def _texts_with_kinds(self, texts: Texts) -> Iterator[list[str | None]]:
        for row in self._take():
            kind = _KINDS[row[-1]] if self._kinds else _KINDS[0]
            shown = texts(row[:-1] if self._kinds else row)
            yield [kind, *shown] if self._streaming else shown


_KINDS = ("+I", "-U", "+U", "-D")


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")


def _first(rows: Iterator[Any]) -> Iterator[Any]:
    for row in rows:
        yield row
        return


def _joined(first: list[Any], rows: Iterator[Any]) -> Iterator[Any]:
    yield from first
    yield from rows


def _within(timeout_ms: int | None, call: Callable[[], Any]) -> None:
    """Call a function; raise a TimeoutError if it takes too long."""
    if timeout_ms is None:
        call()
        return
    failures: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout_ms / 1000)
    if failures:
        raise failures[0]
    if thread.is_alive():
        raise TimeoutError(f"The job has not finished within {timeout_ms} ms")
