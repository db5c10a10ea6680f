"""What a FileSource reads with: formats of records one after the other, and formats of blocks of columns."""

from __future__ import annotations

from headrace.connectors.files.source import FileFormat
from headrace.connectors.files.text_file import TextLines

__all__ = ["BulkFormat", "StreamFormat"]


class StreamFormat:
    """How the bytes of a file become records, one after the other.

    >>> StreamFormat.text_line_format("ISO-8859-1").file_format.produced_type
    String
    """

    def __init__(self, file_format: FileFormat) -> None:
        """Wrap what reads files in tasks."""
        self.file_format = file_format

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        """Give the format in which each line is a record."""
        return StreamFormat(TextLines(charset_name))


class BulkFormat:
    """How the bytes of a file become batches of records (Parquet, ORC).

    >>> from headrace.datastream.formats.parquet import ParquetColumnarRowInputFormat
    >>> issubclass(ParquetColumnarRowInputFormat, BulkFormat)
    True
    """

    def __init__(self, file_format: FileFormat) -> None:
        """Wrap what reads files in tasks."""
        self.file_format = file_format
