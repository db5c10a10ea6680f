"""After-match skip strategies: which branches and matches a found match removes. Pure."""

from __future__ import annotations

from headrace.errors import HeadraceError
from headrace.graph.cep_pattern import Skip, SkipKind
from headrace.operators.cep.shared_buffer import Link, match_of, numbers_of


class SkipError(HeadraceError):
    """Raised if a match has no event to skip to and the strategy treats that as an error."""

    code = "CEP_SKIP"


def first_kept_start(skip: Skip, link: Link) -> int | None:
    """Return the lowest start (event number) that stays after the match that ends with `link`; None if all stay.

    >>> match = ("b", 5, "y", ("a", 3, "x", None))
    >>> first_kept_start(Skip(SkipKind.PAST_LAST), match), first_kept_start(Skip(SkipKind.TO_NEXT), match)
    (6, 4)
    >>> first_kept_start(Skip(SkipKind.TO_FIRST, "b"), match)
    5
    """
    kind = skip.kind
    if kind is SkipKind.NO_SKIP:
        return None
    if kind is SkipKind.PAST_LAST:
        return link[1] + 1
    if kind is SkipKind.TO_NEXT:
        return numbers_of(link)[-1] + 1
    numbers = numbers_of(link, skip.name)
    if not numbers:
        if skip.strict:
            raise SkipError(
                f"Could not skip to {skip.name}. No such element in the found match {match_of(link)}",
                remedy="leave out throw_exception_on_miss(), or skip to a step that is never left out",
            )
        return None
    wanted = min(numbers) if kind is SkipKind.TO_FIRST else max(numbers)
    if skip.strict and wanted == min(numbers_of(link)):
        raise SkipError(
            "Could not skip to first element of a match.",
            seen=f"skip to {skip.name} in {match_of(link)}",
            remedy="leave out throw_exception_on_miss(), or skip to a later step",
        )
    return wanted
