"""Tokens are noted where nobody else can read them, or not at all."""

from __future__ import annotations

import os

import pytest

from headrace.common.errors import ConfigurationError
from headrace.service.tokens import forget_token, note_token, noted_token, token_path

PLACE = "127.0.0.1:8081"


def test_a_note_is_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        token = note_token(tmp_path / "service", PLACE)
    finally:
        os.umask(before)
    path = token_path(tmp_path / "service", PLACE)
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert noted_token(tmp_path / "service", PLACE) == token
    assert os.listdir(path.parent) == [PLACE], "nothing is left beside it"


def test_a_folder_that_others_can_enter_is_refused(tmp_path):
    (tmp_path / "tokens").mkdir()
    (tmp_path / "tokens").chmod(0o777)
    with pytest.raises(ConfigurationError, match="cannot be written"):
        note_token(tmp_path, PLACE)
    (tmp_path / "tokens").rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "tokens").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        note_token(tmp_path, PLACE)


def test_a_note_that_others_can_read_or_replace_is_not_used(tmp_path):
    note_token(tmp_path, PLACE)
    path = token_path(tmp_path, PLACE)
    path.chmod(0o644)
    assert noted_token(tmp_path, PLACE) is None
    path.chmod(0o600)
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    assert noted_token(tmp_path, PLACE) is None


def test_every_start_has_its_own_token_and_only_its_own_note_goes(tmp_path):
    first, second = note_token(tmp_path, PLACE), note_token(tmp_path, PLACE)
    assert first != second
    forget_token(tmp_path, PLACE, first)
    assert noted_token(tmp_path, PLACE) == second
    forget_token(tmp_path, PLACE, second)
    assert noted_token(tmp_path, PLACE) is None
