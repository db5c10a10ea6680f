"""The error for a CEP pattern that cannot be built or compiled. Raised by `headrace.cep` and by the NFA compiler."""

from __future__ import annotations

from headrace.errors import InvalidProgramError


class MalformedPatternException(InvalidProgramError):
    """An invalid pattern. The message names the step.

    >>> error = MalformedPatternException.at("middle", "Only one until condition can be applied")
    >>> print(error)
    Only one until condition can be applied (pattern 'middle') [MALFORMED_PATTERN]
    >>> isinstance(error, ValueError)
    True
    """

    code = "MALFORMED_PATTERN"

    @classmethod
    def at(cls, name: str, message: str, remedy: str | None = None) -> MalformedPatternException:
        """Return the error for the step `name`."""
        return cls(f"{message} (pattern {name!r})", remedy=remedy)
