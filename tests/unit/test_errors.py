import copy
import pickle

import pytest

from headrace.common.errors import (
    ConfigurationError,
    HeadraceError,
    InvalidProgramError,
    JobCancelledError,
    JobExecutionError,
    NoJvmError,
    StateError,
    TypeMismatchError,
    UserCodeError,
    shortened,
)

ALL = [
    ConfigurationError,
    HeadraceError,
    InvalidProgramError,
    JobCancelledError,
    JobExecutionError,
    NoJvmError,
    StateError,
    TypeMismatchError,
]


def test_codes_are_unique():
    codes = [error.code for error in [*ALL, UserCodeError]]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("kind", ALL)
def test_pickles_with_all_parts(kind):
    error = kind("text", operator_name="Map", uid="u", seen=object, expected="e", remedy="r")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is kind
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_builtin_classes_still_catch():
    assert issubclass(TypeMismatchError, TypeError)
    assert issubclass(ConfigurationError, ValueError)
    assert issubclass(InvalidProgramError, ValueError)


def test_text_leaves_out_what_is_not_known():
    assert str(StateError("No key")) == "No key [STATE]"
    assert str(StateError("No key", uid="u")).splitlines()[1] == "  operator: (unnamed) (uid u)"


def test_lines_of_one_part_stay_under_it():
    lines = str(StateError("No key", remedy="first\nsecond")).splitlines()
    assert lines[1:] == ["  remedy:   first", "            second"]


def test_seen_keeps_a_short_text_not_the_value():
    error = TypeMismatchError("x", seen=["a" * 1000])
    assert len(error.seen) < 250
    assert error.seen.endswith("(list)")


def test_shortened_survives_a_broken_repr():
    class Broken:
        def __repr__(self):
            raise RuntimeError

    assert "Broken" in shortened(Broken())


def fails(value):
    return 1 / value


def test_user_code_error_starts_with_the_users_traceback():
    try:
        fails(0)
    except ZeroDivisionError as problem:
        error = UserCodeError.wrap(problem, operator_name="Map", uid="m1", subtask=3, record=0)
    text = str(error)
    assert text.startswith("Traceback (most recent call last)")
    assert "in fails" in text
    assert text.index("ZeroDivisionError: division by zero") < text.index("Map (uid m1)") < text.index("subtask:  3")


def test_user_code_error_leaves_out_the_frames_of_headrace():
    namespace = {"__name__": "headrace.operators.map", "fails": fails}
    exec("def call():\n    return fails(0)", namespace)
    try:
        namespace["call"]()
    except ZeroDivisionError as problem:
        assert "in call" in "".join(__import__("traceback").format_exception(problem))
        own = problem.__traceback__.tb_next  # without this test's frame, headrace's comes first
        error = UserCodeError.wrap(problem.with_traceback(own))
    assert "in call" not in error.user_traceback
    assert "in fails" in error.user_traceback


def test_user_code_error_pickles_although_the_record_does_not():
    error = UserCodeError("x", user_traceback="tb", record=lambda: 0, subtask=1)
    again = pickle.loads(pickle.dumps(error))
    assert (again.user_traceback, again.subtask, again.record) == ("tb", 1, error.record)
    assert str(again) == str(error)
