"""One event, or one move of time, against the branches of one key; which branches and matches a found match removes.

Branches are in the order of their start: a branch and its successors have the same start, and a new start is always the
latest. So branches whose window has ended are at the front, and no sorting is necessary.

Cost: a condition on the event alone is asked once per event, whatever the number of branches. If all branches stay as they
are, they are not touched at all. Iterative conditions are asked per branch, and only if the preceding conditions on the
event do not decide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.errors import HeadraceError
from headrace.graph.cep_pattern import Skip, SkipKind
from headrace.operators.cep.decisions import ConditionContext, Decision, callable_of, roots
from headrace.operators.cep.key_state import Branch, KeyState, keep, pop, push
from headrace.operators.cep.nfa import Nfa, StateKind
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


Match = dict[str, list[Any]]
FEW = 8
"""Number of branches up to which checking each is cheaper than asking first whether that is necessary."""


class Matcher:
    """Runs an NFA. Has no state of keys: callers pass a `KeyState`.

    >>> from headrace.graph.cep_pattern import Condition, Contiguity, PatternData, Step
    >>> from headrace.operators.cep.compiler import compile_pattern
    >>> first = Step("a", Contiguity.STRICT, Condition(str.islower))
    >>> nfa = compile_pattern(PatternData((first, Step("b", Contiguity.RELAXED, Condition(str.isdigit)))))
    >>> matcher, state = Matcher(nfa, Skip()), KeyState()
    >>> [matcher.process(state, event, time) for time, event in enumerate("x-7")]
    [[], [], [{'a': ['x'], 'b': ['7']}]]
    """

    def __init__(self, nfa: Nfa, skip: Skip, *, timeouts: bool = False, now: Callable[[], int] = lambda: 0) -> None:
        self.window = nfa.window
        self._skip = skip
        self._skips = skip.kind is not SkipKind.NO_SKIP
        self._timeouts = timeouts
        self._context = ConditionContext(now)
        asked = [callable_of(tree) for tree in nfa.atoms]
        self._calls = [call for call, _ in asked]
        self._iterative = [iterative for _, iterative in asked]
        self._roots = roots(nfa)
        self._start = self._roots[nfa.start.index]
        self._pending = [s.kind is StateKind.PENDING for s in nfa.states]
        self._gaps = [s.gap or None for s in nfa.states] if nfa.has_gaps else None
        self.has_gaps = self._gaps is not None
        self.has_time_limits = self.window > 0 or self.has_gaps
        self.started = False
        """Whether a branch has started (later than time 0) since this was set to False."""

    def start_filter(self) -> Callable[[Any], Any] | None:
        """A plain predicate that every first event fulfils; None if there is none."""
        start = self._start
        if start.atom < 0 or self._iterative[start.atom]:
            return None
        closed = start.after(False)
        return self._calls[start.atom] if closed.atom < 0 and not closed.moves and not closed.discards else None

    # -- time -----------------------------------------------------------------------------------------------------

    def advance(self, state: KeyState, time: int) -> tuple[list[Match], list[tuple[Match, int]]] | None:
        """End the branches whose window ends at `time`. Return the matches that this completes or frees, and timed-out ones."""
        branches = state.branches
        if not branches:
            return None
        if self._gaps is not None:
            return self._advance_with_gaps(state, time)
        window = self.window
        if not window or time - branches[0][3] < window:
            return None
        ended = 1
        while ended < len(branches) and time - branches[ended][3] >= window:
            ended += 1
        over = branches[:ended]
        state.branches = branches[ended:]
        timed_out: list[tuple[Match, int]] = []
        complete: list[Branch] = []
        for branch in over:
            if self._pending[branch[0]]:
                complete.append(branch)
            elif self._timeouts:
                timed_out.append((match_of(branch[1]), branch[3] + window))
        return self._settle(state, complete), timed_out

    def _advance_with_gaps(self, state: KeyState, time: int) -> tuple[list[Match], list[tuple[Match, int]]] | None:
        window, gaps = self.window, self._gaps
        assert gaps is not None
        kept: list[Branch] = []
        timed_out: list[tuple[Match, int]] = []
        complete: list[Branch] = []
        for branch in state.branches:
            gap = gaps[branch[0]]
            if gap is not None and time - branch[4] >= gap:
                end = branch[4] + gap
            elif window and time - branch[3] >= window:
                end = branch[3] + window
            else:
                kept.append(branch)
                continue
            if self._pending[branch[0]]:
                complete.append(branch)
            elif self._timeouts:
                timed_out.append((match_of(branch[1]), end))
        if len(kept) == len(state.branches):
            return None
        state.branches = kept
        return self._settle(state, complete), timed_out

    # -- events ---------------------------------------------------------------------------------------------------

    def process(self, state: KeyState, event: Any, time: int) -> list[Match]:
        """Feed one event; return the matches that it completes or frees."""
        context = self._context
        context.time = time
        answers: dict[int, bool] = {}
        number = state.next_number
        state.next_number = number + 1
        complete: list[Branch] = []
        branches = state.branches
        if branches and (len(branches) <= FEW or not self._all_stay(state, event, answers)):
            moved = self._move(branches, event, time, number, answers, complete)
            if moved is not branches:
                state.branches = branches = moved
                state.states = None
        if not state.blocked:
            node = self._start
            if node.atom >= 0:
                context.link = None
                node = self._leaf(node, event, answers)
            if node.discards:
                state.blocked = True
            for step, target, final in node.moves:
                link = (step, number, event, None)
                if target >= 0:
                    branches.append((target, link, number, time, time))  # type: ignore[arg-type]
                    if state.states is not None:
                        state.states.add(target)
                if final:
                    complete.append((-1, link, number, time, time))  # type: ignore[arg-type]
                if time > 0:
                    self.started = True
        if complete or state.complete:
            return self._settle(state, complete)
        return _NONE

    def _move(
        self,
        branches: list[Branch],
        event: Any,
        time: int,
        number: int,
        answers: dict[int, bool],
        complete: list[Branch],
    ) -> list[Branch]:
        """Return the successors of all branches; the same list if nothing changes."""
        all_roots, context = self._roots, self._context
        calls, iterative = self._calls, self._iterative
        reached: dict[int, Decision] = {}
        moved: list[Branch] = []
        changed = False
        for branch in branches:
            at, before, start, start_time, newest = branch
            node = all_roots[at]
            atom = node.atom
            if atom >= 0 and not iterative[atom]:
                known = reached.get(at)
                if known is None:
                    known = reached[at] = self._without_context(node, event, answers)
                node = known
                atom = node.atom
            if atom >= 0:
                context.link = before
                answer = bool(calls[atom](event, context))
                node = (node.yes if answer else node.no) or node.after(answer)
                if node.atom >= 0:
                    node = self._leaf(node, event, answers)
            if node.stays:
                moved.append(branch)
                continue
            changed = True
            for step, target, final in node.moves:
                link: Link | None
                if step is None:
                    link = before
                else:
                    link, newest = (step, number, event, before), time
                if target >= 0:
                    moved.append((target, link, start, start_time, newest))
                if final:
                    complete.append((-1, link, start, start_time, newest))
                newest = branch[4]
        return moved if changed else branches

    def _all_stay(self, state: KeyState, event: Any, answers: dict[int, bool]) -> bool:
        """Return whether the event is known to change no branch, without checking each."""
        states = state.states
        if states is None:
            states = state.states = {b[0] for b in state.branches}
        for at in states:
            node = self._without_context(self._roots[at], event, answers)
            if node.atom >= 0 or not node.stays:
                return False
        return True

    def _without_context(self, node: Decision, event: Any, answers: dict[int, bool]) -> Decision:
        """Return the node that conditions on the event alone lead to: the same for all branches of a state."""
        atom = node.atom
        while atom >= 0 and not self._iterative[atom]:
            answer = answers.get(atom)
            if answer is None:
                answer = answers[atom] = bool(self._calls[atom](event))
            node = (node.yes if answer else node.no) or node.after(answer)
            atom = node.atom
        return node

    def _leaf(self, node: Decision, event: Any, answers: dict[int, bool]) -> Decision:
        atom = node.atom
        while atom >= 0:
            if self._iterative[atom]:
                answer = bool(self._calls[atom](event, self._context))
            else:
                known = answers.get(atom)
                if known is None:
                    known = answers[atom] = bool(self._calls[atom](event))
                answer = known
            node = (node.yes if answer else node.no) or node.after(answer)
            atom = node.atom
        return node

    # -- matches --------------------------------------------------------------------------------------------------

    def _settle(self, state: KeyState, complete: list[Branch]) -> list[Match]:
        """Emit complete matches. With a skip strategy, each removes others and waits for earlier branches."""
        if not self._skips and len(complete) <= 1:
            return [match_of(b[1]) for b in complete]
        queue = state.complete
        for branch in complete:
            push(queue, branch)
        found: list[Match] = []
        while queue:
            branches = state.branches
            if self._skips and branches and queue[0][2] > branches[0][2]:
                break
            link = pop(queue)[1]
            first = first_kept_start(self._skip, link) if self._skips else None
            if first is not None:
                if branches and branches[0][2] < first:
                    state.branches = [b for b in branches if b[2] >= first]
                lowest = first
                keep(queue, lambda b, lowest=lowest: b[2] >= lowest)  # type: ignore[misc]
            found.append(match_of(link))
        return found


_NONE: list[Match] = []
