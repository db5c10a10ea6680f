"""Private folders: made closed under any umask, and refused if somebody else could have made them."""

from __future__ import annotations

import os

import pytest

from headrace.foundation.private_folders import (
    NotPrivateError,
    make_folders,
    owner_only,
    private_folder,
    require_private,
)


@pytest.fixture(params=[0o000, 0o002, 0o022], ids=["umask000", "umask002", "umask022"])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path):
    return path.stat().st_mode & 0o7777


def test_folders_and_files_are_closed_under_any_umask(tmp_path, umask):
    folder = private_folder(tmp_path / "a" / "b")
    with open(folder / "file", "xb", opener=owner_only):
        pass
    assert [mode(p) for p in (folder.parent, folder, folder / "file")] == [0o700, 0o700, 0o600]
    assert private_folder(folder) == folder


def test_an_open_folder_a_link_and_a_file_are_refused(tmp_path):
    for name, bits in (("group", 0o710), ("others", 0o701), ("all", 0o777)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(bits)
    private_folder(tmp_path / "private")
    (tmp_path / "link").symlink_to(tmp_path / "private")
    (tmp_path / "file").touch(mode=0o600)
    for name in ("group", "others", "all", "link", "file"):
        with pytest.raises(NotPrivateError, match="0700"):
            private_folder(tmp_path / name)


def test_a_folder_of_another_user_is_refused(shared_folder, other_user):
    assert other_user(f"mkdir -m 0700 {shared_folder}/taken").returncode == 0
    with pytest.raises(NotPrivateError, match="owner 65534"):
        require_private(shared_folder / "taken")


def test_another_user_can_neither_enter_nor_replace_a_private_folder(shared_folder, other_user, umask):
    folder = private_folder(shared_folder / "mine")
    (folder / "file").touch()
    for attempt in ("ls {0}", "cat {0}/file", "touch {0}/more", "mv {0} {0}.stolen", "rm -rf {0}"):
        other_user(attempt.format(folder))
        assert other_user(attempt.format(folder)).returncode != 0, attempt
    assert [entry.name for entry in folder.iterdir()] == ["file"]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a file system that refuses new folders: /proc")
@pytest.mark.parametrize("path", ["/proc/no", "/proc/no/deeper"])
def test_a_folder_that_cannot_be_made_is_an_error_of_the_system(path):
    """The parent is there, and still says that there is no such file."""
    with pytest.raises(OSError) as refused:
        make_folders(path)
    assert not isinstance(refused.value, RecursionError) and "/proc/no" in str(refused.value)


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FileExistsError, match="file"):
            make_folders(path)
