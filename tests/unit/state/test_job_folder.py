"""Folders of state files: those of dead drivers go away, those in use do not."""

from __future__ import annotations

from pathlib import Path

from headrace.state import job_folder
from headrace.state.job_folder import StateFolder, sweep_abandoned


def test_a_folder_in_use_stays(tmp_path):
    folder = StateFolder(str(tmp_path), "job")
    sweep_abandoned(str(tmp_path))
    assert Path(folder.path).is_dir()
    folder.remove()
    assert not list(tmp_path.iterdir())


def test_what_a_driver_left_that_died_before_it_could_claim_its_folder_goes_away(tmp_path):
    (tmp_path / f"{job_folder.STATE_PREFIX}job-x").mkdir()
    sweep_abandoned(str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_folder_of_another_host_stays(tmp_path):
    other = tmp_path / f"{job_folder.STATE_PREFIX}job-x"
    other.mkdir()
    (other / "owner-elsewhere").touch()
    sweep_abandoned(str(tmp_path))
    assert (other / "owner-elsewhere").exists()


def test_a_driver_whose_new_folder_was_cleared_away_makes_another(tmp_path, monkeypatch):
    real = job_folder.LifeMark
    swept = []

    def late(path):
        if not swept:
            swept.append(path)
            sweep_abandoned(str(tmp_path))
        return real(path)

    monkeypatch.setattr(job_folder, "LifeMark", late)
    folder = StateFolder(str(tmp_path), "job")
    assert swept
    assert not swept[0].parent.exists()
    assert Path(folder.path).is_dir()
    folder.remove()
