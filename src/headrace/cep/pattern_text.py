"""Patterns as strings, in the grammar of `headrace.cep.parser`. Pure; used by `repr` and by descriptions."""

from __future__ import annotations

from headrace.graph.cep_pattern import Contiguity, Repetition, Step

__all__ = ["text_of"]

_BEFORE = {
    Contiguity.STRICT: "-> ",
    Contiguity.RELAXED: "",
    Contiguity.ANY: "..> ",
    Contiguity.NOT_NEXT: "-> !",
    Contiguity.NOT_FOLLOWED: "!",
}


def text_of(steps: tuple[Step, ...]) -> str:
    """Return the steps, without conditions and time limits.

    >>> loop = Step("b", Contiguity.RELAXED, repetition=Repetition.LOOP, optional=True)
    >>> text_of((Step("a", Contiguity.STRICT), loop, Step("c", Contiguity.STRICT)))
    'a b* -> c'
    """
    words = []
    for position, step in enumerate(steps):
        before = "" if position == 0 else _BEFORE[step.contiguity]
        words.append(before + (step.name if step.group is None else f"({text_of(step.group)})") + _quantifier(step))
    return " ".join(words)


def _quantifier(step: Step) -> str:
    optional = step.optional
    text = ""
    if step.repetition is Repetition.LOOP:
        text = "+" if step.least == 1 else f"{{{step.least},}}"
        if optional and step.least == 1:
            text, optional = "*", False
    elif step.repetition is Repetition.TIMES:
        text = f"{{{step.least}}}" if step.least == step.most else f"{{{step.least},{step.most}}}"
    text += "?" if optional else ""
    if step.repetition is not Repetition.ONCE:
        text += {Contiguity.STRICT: "!", Contiguity.ANY: "%"}.get(step.inner, "")
        text += "&" if step.greedy else ""
    return text
