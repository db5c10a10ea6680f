"""Formulas without an event: whether one can hold at all. Used for descriptions of patterns."""

from __future__ import annotations

from itertools import product

from headrace.operators.cep.nfa import Always, Atom, Both, Formula

MANY = 10


def atoms_in(formula: Formula) -> set[int]:
    """Return the numbers of its conditions."""
    if isinstance(formula, Atom):
        return {formula.index}
    if isinstance(formula, Both):
        return atoms_in(formula.left) | atoms_in(formula.right)
    return set() if isinstance(formula, Always) else atoms_in(formula.of)


def holds(formula: Formula, answers: dict[int, bool]) -> bool:
    """Return the value of the formula; a missing answer raises KeyError with the condition's number."""
    if isinstance(formula, Always):
        return True
    if isinstance(formula, Atom):
        return answers[formula.index]
    if isinstance(formula, Both):
        return holds(formula.left, answers) and holds(formula.right, answers)
    return not holds(formula.of, answers)


def can_hold(formula: Formula) -> bool:
    """Return whether some answers to its conditions make it true.

    >>> from headrace.operators.cep.nfa import ALWAYS, Not
    >>> a = Atom(0, "a")
    >>> can_hold(a), can_hold(Both(a, Not(a))), can_hold(Not(ALWAYS))
    (True, False, False)
    """
    atoms = sorted(atoms_in(formula))
    if len(atoms) > MANY:
        return True
    return any(holds(formula, dict(zip(atoms, answers))) for answers in product((True, False), repeat=len(atoms)))
