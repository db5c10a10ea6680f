"""Format values as PyFlink prints them: like Java if the stream has a type, like Python if it has none.

Used by ``print`` and by sinks that write lines. The rules of PyFlink:

- A typed value has Java's form: ``true``, ``1.0E10``, ``(1,a)``, ``[1, 2]``, ``{a=1}`` in the order of a ``HashMap``.
- A row that is itself the element is formatted in Python: its kind, then ``str`` of each field, joined by commas
  without spaces, ``+I[1,a]``. A nested row has Java's form, ``+I[1, a]``, with ``null`` for ``None``.
- An untyped value is formatted by ``str``.

Where Java prints an address (for an array that is the element, or in a list, as in ``[J@1b2c``), the elements are shown.
"""

from __future__ import annotations

import datetime
from array import array
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

from headrace.types import typeinfo
from headrace.types.java_hash import hash_map_order
from headrace.types.row import Row
from headrace.types.time import Instant, instant_of
from headrace.types.typeinfo import BasicType, TypeInformation, Types

StringForm = Callable[[Any], str]
_ALL_DIGITS = Context(38)


def string_form(type_info: TypeInformation | None) -> StringForm:
    """Return the function that formats a value of this type for ``print``.

    >>> from headrace.common import Types
    >>> string_form(Types.TUPLE([Types.LONG(), Types.STRING(), Types.BOOLEAN()]))((1, "a", True))
    '(1,a,true)'
    >>> string_form(Types.ROW([Types.DOUBLE(), Types.STRING()]))(Row(1e10, None))
    '+I[10000000000.0,None]'
    >>> string_form(None)((1, "a"))
    "(1, 'a')"
    """
    if isinstance(type_info, typeinfo.ExternalTypeInfo):
        return string_form(type_info.type_info)
    if isinstance(type_info, typeinfo.RowTypeInfo):
        return _printed_row
    return java_form(type_info)


def java_form(type_info: TypeInformation | None) -> StringForm:
    """Return the function that formats a value of this type like Java's ``toString``, as Java sinks and logs do.

    >>> from headrace.common import Types
    >>> java_form(Types.ROW([Types.DOUBLE(), Types.STRING()]))(Row(1e10, None))
    '+I[1.0E10, null]'
    """
    return str if isinstance(type_info, typeinfo.PickledBytesTypeInfo) else _java_form(type_info)


def _printed_row(row: Row) -> str:
    return f"{row.get_row_kind()}[{','.join(map(str, row))}]"


def _or_null(form: StringForm) -> StringForm:
    return lambda value: "null" if value is None else form(value)


def _java_form(type_info: TypeInformation | None) -> StringForm:
    form = _value_form(type_info) or _collection_form(type_info)
    return str if form is None else _or_null(form)


def _value_form(type_info: TypeInformation | None) -> StringForm | None:
    match type_info:
        case typeinfo.BasicTypeInfo(basic_type=basic):
            return _BASIC_FORMS.get(basic, str)
        case typeinfo.PickledBytesTypeInfo():
            return lambda value: _bytes_text(value) if isinstance(value, (bytes, bytearray)) else str(value)
        case typeinfo.TimeTypeInfo():
            return lambda time: f"{time:%H:%M:%S}"
        case typeinfo.TimestampTypeInfo():
            return _sql_timestamp
        case typeinfo.LocalTimeTypeInfo():
            return lambda moment: str(moment.isoformat())
        case typeinfo.LocalZonedTimestampTypeInfo():
            return lambda moment: _instant_text(instant_of(moment))
        case typeinfo.ExternalTypeInfo(type_info=inner):
            return _java_form(inner)
    return None


def _collection_form(type_info: TypeInformation | None) -> StringForm | None:
    match type_info:
        case typeinfo.TupleTypeInfo():
            return _fields_form(type_info.get_field_types(), ",", "({})")
        case typeinfo.RowTypeInfo():
            fields = _fields_form(type_info.get_field_types(), ", ", "[{}]")
            return lambda row: f"{row.get_row_kind()}{fields(row)}"
        case typeinfo.PrimitiveArrayTypeInfo(element_type=element) if element == Types.BYTE():
            return _bytes_text
        case (
            typeinfo.PrimitiveArrayTypeInfo(element_type=element)
            | typeinfo.BasicArrayTypeInfo(element_type=element)
            | typeinfo.ObjectArrayTypeInfo(element_type=element)
            | typeinfo.ListTypeInfo(element_type=element)
        ):
            item = _java_form(element)
            return lambda values: f"[{', '.join(map(item, values))}]"
        case typeinfo.MapTypeInfo(key_type_info=key, value_type_info=value):
            return _map_form(key, value)
    return None


def _fields_form(types: list[TypeInformation], separator: str, frame: str) -> StringForm:
    forms = [_java_form(field) for field in types]

    def fields_text(values: Any) -> str:
        return frame.format(separator.join([form(value) for form, value in zip(forms, values, strict=False)]))

    return fields_text


def _map_form(key: TypeInformation, value: TypeInformation) -> StringForm:
    key_form, value_form = _java_form(key), _java_form(value)

    def map_text(values: dict[Any, Any]) -> str:
        ordered = hash_map_order(values, key)
        return "{" + ", ".join([f"{key_form(item)}={value_form(values[item])}" for item in ordered]) + "}"

    return map_text


def _bytes_text(data: bytes | bytearray) -> str:
    return str([byte - 256 if byte > 127 else byte for byte in data])


def _sql_timestamp(moment: datetime.datetime) -> str:
    fraction = f"{moment.microsecond:06d}".rstrip("0") or "0"
    return f"{moment.year:04d}-{moment:%m-%d %H:%M:%S}.{fraction}"


def _instant_text(instant: Instant) -> str:
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=instant.seconds)
    nanos = instant.nanos
    fraction = ""
    if nanos:
        # Java shows as many groups of three digits as needed.
        width = 3 if nanos % 1_000_000 == 0 else 6 if nanos % 1_000 == 0 else 9
        fraction = "." + f"{nanos:09d}"[:width]
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}{fraction}Z"


def _decimal_text(digits: str, exponent: int) -> str:
    # Digits d and exponent e mean 0.d * 10**e. Java: plain from 0.001 up to below 10**7, else scientific.
    if -2 <= exponent <= 0:
        return f"0.{'0' * -exponent}{digits}"
    if 0 < exponent <= 7:
        whole = digits[:exponent].ljust(exponent, "0")
        return f"{whole}.{digits[exponent:] or '0'}"
    return f"{digits[0]}.{digits[1:] or '0'}E{exponent - 1}"


def _split(scientific: str) -> tuple[str, int]:
    mantissa, exponent = scientific.split("e")
    return mantissa.replace(".", "").rstrip("0") or "0", int(exponent) + 1


def _special_text(number: float) -> str | None:
    if number != number:  # noqa: PLR0124 - NaN
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "-0.0" if str(number)[0] == "-" else "0.0"
    return None


def double_text(number: float) -> str:
    """Format a ``double`` like Java: the shortest string of at least two digits that parses to the same number.

    >>> [double_text(x) for x in (1.0, 1e10, 0.001, 0.0001, 5e-324)]
    ['1.0', '1.0E10', '0.001', '1.0E-4', '4.9E-324']
    """
    number = float(number)
    special = _special_text(number)
    if special is not None:
        return special
    size = abs(number)
    # The nearest two digits take precedence over one digit, then the shortest; 17 digits always suffice.
    texts = (f"{size:.{precision}e}" for precision in range(1, 17))
    digits, exponent = _split(next(text for text in texts if float(text) == size))
    return ("-" if number < 0 else "") + _decimal_text(digits, exponent)


def float_text(number: float) -> str:
    """Format a 32-bit ``float`` like Java.

    >>> [float_text(x) for x in (1.1, 1 / 3, 16777216.0, 1e39)]
    ['1.1', '0.33333334', '1.6777216E7', 'Infinity']
    """
    narrow = array("f", (number,))[0]
    special = _special_text(narrow)
    if special is not None:
        return special
    size = abs(narrow)
    texts = (f"{size:.{precision}e}" for precision in range(1, 10))
    digits, exponent = _split(next(text for text in texts if array("f", (float(text),))[0] == size))
    return ("-" if narrow < 0 else "") + _decimal_text(digits, exponent)


def decimal_text(number: Decimal) -> str:
    """Format a decimal number without trailing zeros, like Java's ``BigDecimal``.

    >>> decimal_text(Decimal("1.50")), decimal_text(Decimal("100.00")), decimal_text(Decimal("0.00"))
    ('1.5', '1E+2', '0')
    """
    return str(number.normalize(_ALL_DIGITS))


_BASIC_FORMS: dict[BasicType, StringForm] = {
    BasicType.BOOLEAN: lambda value: "true" if value else "false",
    BasicType.FLOAT: float_text,
    BasicType.DOUBLE: double_text,
    BasicType.INSTANT: _instant_text,
    BasicType.BIG_DEC: lambda value: str(value if value else abs(value)),  # Java has no negative zero
}
