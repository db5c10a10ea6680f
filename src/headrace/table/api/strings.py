"""Members for texts and binary strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.table.api.operand import Operand, node_of, reads
from headrace.table.sql.syntax import expressions as syntax

if TYPE_CHECKING:
    from typing import Self


class Strings(Operand):
    """Functions of texts."""

    ascii = reads("ASCII", "The number of the first byte.")
    char_length = reads("CHAR_LENGTH", "The number of characters.")
    chr = reads("CHR", "The character of a number.")
    from_base64 = reads("FROM_BASE64", "The text behind base64.")
    init_cap = reads("INITCAP", "The text with a capital at the start of each word.")
    lower_case = reads("LOWER", "The text in lower case.")
    md5 = reads("MD5", "The MD5 hash in hexadecimal digits.")
    reverse = reads("REVERSE", "The text backwards.")
    sha1 = reads("SHA1", "The SHA-1 hash in hexadecimal digits.")
    sha224 = reads("SHA224", "The SHA-224 hash in hexadecimal digits.")
    sha256 = reads("SHA256", "The SHA-256 hash in hexadecimal digits.")
    sha384 = reads("SHA384", "The SHA-384 hash in hexadecimal digits.")
    sha512 = reads("SHA512", "The SHA-512 hash in hexadecimal digits.")
    to_base64 = reads("TO_BASE64", "The text in base64.")
    upper_case = reads("UPPER", "The text in upper case.")

    def sha2(self, hash_length: Any) -> Self:
        """Return the SHA-2 hash of 224, 256, 384 or 512 bits in hexadecimal digits."""
        return self._call("SHA2", hash_length)

    def substring(self, begin_index: Any, length: Any = None) -> Self:
        """Return the part that starts at an index, which starts with 1."""
        return self._given("SUBSTRING", begin_index, length)

    def substr(self, begin_index: Any, length: Any = None) -> Self:
        """Return the part that starts at an index, which starts with 1."""
        return self._given("SUBSTR", begin_index, length)

    def left(self, length: Any) -> Self:
        """Return the first characters."""
        return self._call("LEFT", length)

    def right(self, length: Any) -> Self:
        """Return the last characters."""
        return self._call("RIGHT", length)

    def _trimmed(self, side: str, character: Any) -> Self:
        characters = node_of(" " if character is None else character)
        return self._make(syntax.Call(("TRIM",), (syntax.Symbol(side), characters, self.node)))

    def trim(self, character: Any = None) -> Self:
        """Return the text without some characters, or blanks, at both ends."""
        return self._trimmed("BOTH", character)

    def trim_leading(self, character: Any = None) -> Self:
        """Return the text without some characters, or blanks, at its start."""
        return self._trimmed("LEADING", character)

    def trim_trailing(self, character: Any = None) -> Self:
        """Return the text without some characters, or blanks, at its end."""
        return self._trimmed("TRAILING", character)

    def btrim(self, trim_str: Any = None) -> Self:
        """Return the text without any of some characters, or blanks, at both ends."""
        return self._given("BTRIM", trim_str)

    def ltrim(self, trim_str: Any = None) -> Self:
        """Return the text without any of some characters, or blanks, at its start."""
        return self._given("LTRIM", trim_str)

    def rtrim(self, trim_str: Any = None) -> Self:
        """Return the text without any of some characters, or blanks, at its end."""
        return self._given("RTRIM", trim_str)

    def lpad(self, length: Any, pad: Any) -> Self:
        """Return the text in a length, with another text in front."""
        return self._call("LPAD", length, pad)

    def rpad(self, length: Any, pad: Any) -> Self:
        """Return the text in a length, with another text behind."""
        return self._call("RPAD", length, pad)

    def repeat(self, n: Any) -> Self:
        """Return the text several times."""
        return self._call("REPEAT", n)

    def replace(self, search: Any = None, replacement: Any = None) -> Self:
        """Return the text with all occurrences of another one replaced."""
        return self._call("REPLACE", search, replacement)

    def translate(self, from_str: Any, to_str: Any) -> Self:
        """Return the text with characters replaced by those at the same place of another text."""
        return self._call("TRANSLATE", from_str, to_str)

    def overlay(self, new_string: Any, starting: Any, length: Any = None) -> Self:
        """Return the text with a part, from an index on, replaced."""
        return self._given("OVERLAY", new_string, starting, length)

    def concat(self, other: Any) -> Self:
        """Return two texts as one."""
        return self._call("CONCAT", other)

    def starts_with(self, start_expr: Any) -> Self:
        """Return whether the text starts with another one."""
        return self._call("STARTSWITH", start_expr)

    def ends_with(self, end_expr: Any) -> Self:
        """Return whether the text ends with another one."""
        return self._call("ENDSWITH", end_expr)

    def like(self, pattern: Any = None, escape: Any = None) -> Self:
        """Return whether the text is like a pattern with % and _."""
        escaped = None if escape is None else node_of(escape)
        return self._make(syntax.Like(self.node, node_of(pattern), escaped))

    def similar(self, pattern: Any = None) -> Self:
        """Return whether the text is like a regular expression of SQL."""
        return self._make(syntax.Like(self.node, node_of(pattern), kind="SIMILAR TO"))

    def position(self, haystack: Any = None) -> Self:
        """Return the index of the text in another one; 0 if it is not there."""
        return self._call("POSITION", haystack)

    def instr(self, s: Any) -> Self:
        """Return the index of another text in this one; 0 if it is not there."""
        return self._call("INSTR", s)

    def locate(self, s: Any, pos: Any = None) -> Self:
        """Return the index of the text in another one, from a place on; 0 if it is not there."""
        return self._given("LOCATE", s, pos)

    def regexp(self, regex: Any) -> Self:
        """Return whether a part of the text matches a regular expression."""
        return self._call("REGEXP", regex)

    def regexp_count(self, regex: Any) -> Self:
        """Return how often a regular expression matches."""
        return self._call("REGEXP_COUNT", regex)

    def regexp_extract(self, regex: Any, extract_index: Any = None) -> Self:
        """Return the first match of a regular expression, or of a group of it."""
        return self._given("REGEXP_EXTRACT", regex, extract_index)

    def regexp_extract_all(self, regex: Any, extract_index: Any = None) -> Self:
        """Return all matches of a regular expression, or of a group of it."""
        return self._given("REGEXP_EXTRACT_ALL", regex, extract_index)

    def regexp_instr(self, regex: Any) -> Self:
        """Return the index of the first match of a regular expression; 0 if there is none."""
        return self._call("REGEXP_INSTR", regex)

    def regexp_replace(self, regex: Any, replacement: Any) -> Self:
        """Return the text with all matches of a regular expression replaced."""
        return self._call("REGEXP_REPLACE", regex, replacement)

    def regexp_substr(self, regex: Any) -> Self:
        """Return the first match of a regular expression."""
        return self._call("REGEXP_SUBSTR", regex)

    def split(self, delimiter: Any) -> Self:
        """Return the parts between delimiters as an array."""
        return self._call("SPLIT", delimiter)

    def split_index(self, separator: Any, index: Any) -> Self:
        """Return one of the parts between separators; the first one has the index 0."""
        return self._call("SPLIT_INDEX", separator, index)

    def str_to_map(self, list_delimiter: Any = None, key_value_delimiter: Any = None) -> Self:
        """Return a text such as `a=1,b=2` as a map."""
        if list_delimiter is None:
            return self._call("STR_TO_MAP")
        return self._call("STR_TO_MAP", list_delimiter, "=" if key_value_delimiter is None else key_value_delimiter)

    def elt(self, expr: Any, *exprs: Any) -> Self:
        """Return the one of some texts that has the value as its number."""
        return self._call("ELT", expr, *exprs)

    def printf(self, *obj: Any) -> Self:
        """Return the text as a format, filled with values."""
        return self._call("PRINTF", *obj)

    def encode(self, charset: Any) -> Self:
        """Return the bytes of the text in a character set."""
        return self._call("ENCODE", charset)

    def decode(self, charset: Any) -> Self:
        """Return the text of bytes in a character set."""
        return self._call("DECODE", charset)

    def parse_url(self, part_to_extract: Any, key: Any = None) -> Self:
        """Return a part of a URL, such as HOST or QUERY."""
        return self._given("PARSE_URL", part_to_extract, key)

    def url_decode(self) -> Self:
        """Return the text behind the encoding of URLs."""
        return self._call("URL_DECODE")

    def url_encode(self) -> Self:
        """Return the text in the encoding of URLs."""
        return self._call("URL_ENCODE")

    def inet_aton(self) -> Self:
        """Return the number of an IPv4 address."""
        return self._call("INET_ATON")

    def inet_ntoa(self) -> Self:
        """Return the IPv4 address of a number."""
        return self._call("INET_NTOA")
