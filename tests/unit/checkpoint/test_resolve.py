"""The decision table, whole."""

import pytest

from headrace.checkpoint.derive import Base, Derived, Situation
from headrace.checkpoint.errors import CheckpointFailureReason as Reason
from headrace.checkpoint.model import Damaged, Manifest
from headrace.checkpoint.resolve import Verdict, asks_sinks, resolve

ONE = Manifest("job", 1, 1, "a", None)
TWO = Manifest("job", 1, 2, "b", 1)
TORN = Damaged("slots/0000000002", "torn")
BAD = Damaged("state/f", "missing")


def test_the_quiet_rows():
    assert resolve(Derived(Situation.FENCED, newer=4)).newer == 4
    assert resolve(Derived(Situation.FENCED)).verdict is Verdict.STOP
    assert resolve(Derived(Situation.EMPTY)).verdict is Verdict.REDO
    assert resolve(Derived(Situation.UNFINISHED, 1, ONE)).verdict is Verdict.REPLAY
    assert resolve(Derived(Situation.FINISHED, 1, ONE)).verdict is Verdict.GO_ON
    assert resolve(Derived(Situation.FINISHED, 1, ONE, begun=True)).verdict is Verdict.REDO
    assert resolve(Derived(Situation.FINISHED, 1, ONE, begun=True)).base is ONE


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("untouched", [False, True])
@pytest.mark.parametrize("fallback", [None, Base(None), Base(ONE), Base(ONE, finished=False)])
@pytest.mark.parametrize("fallback_damage", [None, BAD])
@pytest.mark.parametrize("damage", [TORN, BAD])
def test_damage_fails_closed_unless_nobody_can_have_seen_anything(marked, untouched, fallback, fallback_damage, damage):
    derived = Derived(Situation.DAMAGED, 2, None, fallback, marked, damage=damage)
    decision = resolve(derived, untouched, fallback_damage)
    if not marked and untouched and fallback is not None and fallback_damage is None:
        assert asks_sinks(derived)
        assert decision.verdict is (Verdict.REDO if fallback.finished else Verdict.REPLAY)
        assert decision.base is fallback.manifest
        assert decision.withdraw == 2
    else:
        assert decision.verdict is Verdict.FAIL_CLOSED
        assert decision.reason is (Reason.MANIFEST_DAMAGED if damage is TORN else Reason.STATE_FILE_DAMAGED)
        assert decision.damage is damage


def test_without_the_sinks_word_it_stays_closed():
    derived = Derived(Situation.DAMAGED, 2, TWO, Base(ONE), damage=BAD)
    assert resolve(derived).verdict is Verdict.FAIL_CLOSED
