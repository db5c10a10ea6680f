"""Runs one trial: lives and deaths of a job until it has finished, then the verifier."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from chaos_kit import workload
from chaos_kit.broken_disk import BrokenDisk
from chaos_kit.lives import Life, Nursery, StuckError
from chaos_kit.plans import Strike, TrialPlan
from chaos_kit.rescaler import outcomes
from chaos_kit.verify import slot_facts

VERIFIER = ("-S", "-m", "chaos_kit.verify")
"""Without site packages: headrace cannot even be found by it."""
_KIT = Path(__file__).parents[1]
_MOST_LIVES = 12


class Trial:
    """One job with its folder."""

    def __init__(self, plan: TrialPlan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.params = {**plan.params, "root": str(folder)}
        self.nursery = Nursery(folder, workload.run)
        self.kills: list[float] = []
        self.points: list[str] = []
        self.problems: list[str] = []
        self.fenced = 0
        self.savepoints = 0
        self._journal: dict[str, dict[str, Any]] = {}

    # -- lives ----------------------------------------------------------------------------------------------------

    def run(self) -> dict[str, Any]:
        began = time.time()
        report: dict[str, Any] = {}
        try:
            if self.plan.kind.endswith("zombie"):
                self._zombie()
            elif self.plan.kind.endswith("stop"):
                for strike in self.plan.strikes:
                    self._stop_with_savepoint(strike)
            elif self.plan.kind == "term":
                for strike in self.plan.strikes:
                    self._terminate(strike)
            else:
                for strike in self.plan.strikes:
                    self._live_until(strike)
            self._finish()
            report = self._verify()
            self.problems += report.pop("problems")
        except StuckError as error:
            self.problems.append(f"I8: {error}")
        finally:
            self.nursery.end_all()
        return {
            "kind": self.plan.kind,
            "mode": self.plan.mode,
            "kills": len(self.kills),
            "fenced": self.fenced,
            "savepoints": self.savepoints,
            "points": self.points,
            **self._rescales(),
            "lives": len(self.nursery.lives),
            "seconds": round(time.time() - began, 3),
            "recovery": self._recovery_times(),
            "problems": self.problems,
            **report,
        }

    def _rescales(self) -> dict[str, Any]:
        """How many rescales were done and refused; others are problems."""
        lines = outcomes(self.folder)
        self.problems += [f"F43: {line}" for line in lines if not line.startswith(("done ", "refused "))]
        refused = [line for line in lines if line.startswith("refused ")]
        return {
            "rescales": sum(line.startswith("done ") for line in lines),
            "refused": len(refused),
            "reasons": refused,
        }

    @property
    def failed(self) -> bool:
        return bool(self.problems)

    def _start(self, strike: Strike | None = None) -> Life:
        disk = self.params.get("disk")
        before = BrokenDisk(disk, self.folder).install if disk else None
        params = self.params
        if "rescales" in params:  # each life does other ones
            turn = len(self.nursery.lives) * 5 % len(params["rescales"])
            params = {**params, "rescales": [*params["rescales"][turn:], *params["rescales"][:turn]]}
        if "parallelisms" in params:
            turn = len(self.nursery.lives) % len(params["parallelisms"])
            settings = {**params["settings"], "state.backend.type": params["backends"][turn]}
            params = {**params, "parallelism": params["parallelisms"][turn], "settings": settings}
        return self.nursery.start(params, strike.fault if strike is not None else None, before)

    def _live_until(self, strike: Strike) -> Life:
        life = self._start(strike)
        if strike.seconds is not None:
            life.sleep_or_end(strike.seconds)
            if life.code is None:
                life.kill()
        else:
            life.wait()
        self._note(life, strike)
        return life

    def _note(self, life: Life, strike: Strike | None) -> None:
        """Takes the end of a life in."""
        if life.fault_happened and strike is not None and strike.fault is not None:
            self.points.append(strike.fault.partition(":")[0])
        if life.code == -signal.SIGKILL or (life.code == -signal.SIGTERM and self.plan.kind == "term"):
            self.kills.append(life.ended or 0.0)
        elif life.code == workload.FENCED:
            self.fenced += 1
            if not self.plan.kind.endswith("zombie"):
                self.problems.append(f"a driver was fenced without another one: {self._tail(life)}")
        elif life.code != workload.FINISHED:
            self.problems.append(f"a driver ended with {life.code}: {self._tail(life)}")
        self.look()

    def _finish(self) -> None:
        """Lets the job come to its end, and once more: then there is nothing to do but to clear up."""
        for _ in range(_MOST_LIVES):
            life = self._start()
            life.wait()
            self._note(life, None)
            if life.code == workload.FINISHED:
                break
        else:
            self.problems.append("I8: the job does not come to its end")
        last = self._start_last()
        last.wait()
        self._note(last, None)

    def _start_last(self) -> Life:
        if "backends" in self.params:  # only a job that keeps state on disk looks for what others left there
            self.params["backends"] = ["rocksdb"] * len(self.params["backends"])
        return self._start()

    # -- ends that are asked for ----------------------------------------------------------------------------------

    def _terminate(self, strike: Strike) -> None:
        """SIGTERM reaches the driver at the point."""
        life = self._start(strike)
        if life.wait_until_stopped():
            life.send(signal.SIGTERM)
            life.send(signal.SIGCONT)
            life.wait()
            if life.code != -signal.SIGTERM:
                self.problems.append(f"a driver that got SIGTERM ended with {life.code}: {self._tail(life)}")
        self._note(life, strike)

    def _stop_with_savepoint(self, strike: Strike) -> None:
        """The request to stop with a savepoint reaches the driver at the point."""
        request, answer = self.folder / workload.STOP, self.folder / workload.STOPPED
        life = self._start(strike)
        if life.wait_until_stopped():
            request.touch()
            life.send(signal.SIGCONT)
            if self.plan.mode == "killed":
                life.sleep_or_end(0.001 * (self.plan.seed % 100))
                if life.code is None:
                    life.kill()
            life.wait()
            request.unlink()
            if life.code == workload.FINISHED and not answer.exists():
                self.problems.append(f"a driver did not answer the request to stop: {self._tail(life)}")
            elif answer.exists() and (path := answer.read_text()) and not (Path(path) / "_metadata").exists():
                self.problems.append(f"there is no savepoint at {path}")
            self.savepoints += answer.exists() and bool(answer.read_text())
            answer.unlink(missing_ok=True)
        self._note(life, strike)

    # -- zombies --------------------------------------------------------------------------------------------------

    def _zombie(self) -> None:
        """The first driver sleeps; the second one works, sleeps or dies meanwhile; the first one wakes up."""
        sleep, other = self.plan.strikes
        first = self._start(sleep)
        if not first.wait_until_stopped():
            self._note(first, sleep)
            return
        claimed = self._newest_claim()
        second = self._start(other)
        if self.plan.mode == "race":
            second.sleep_or_end(0.05)
        elif second.wait_until_stopped() and self.plan.mode == "after":
            second.send(signal.SIGCONT)
            second.wait()
        replaced = self._newest_claim() > claimed and not str(sleep.fault).startswith("gen.claim.pre")
        done, before = second.code == workload.FINISHED, self._decided()
        first.send(signal.SIGCONT)
        first.wait()
        # Until the other one has sealed a slot and committed what it found, the first one may still do that itself.
        touched = sorted(set(self._decided()) ^ set(before))
        if replaced and done and touched:
            self.problems.append(f"I7: the driver that was replaced has written or deleted {touched[:5]}")
        if replaced and first.code != workload.FENCED and not str(sleep.fault).startswith(("publish", "gc")):
            self.problems.append(f"the driver that was replaced ended with {first.code}: {self._tail(first)}")
        self._note(first, sleep)
        if second.code is None:
            second.send(signal.SIGCONT)
            second.wait(wake=True)
        self._note(second, other)

    def _newest_claim(self) -> int:
        return max((int(p.name) for p in (self.folder / "checkpoints").glob("*/generations/*")), default=0)

    def _decided(self) -> list[str]:
        """What only the master may make: decisions, and output that can be seen.

        A slot below the last manifest was collected, or will be: who fills it again decides nothing.
        """
        committed = self.folder / "out" / "committed"
        seen = [p.name for p in committed.iterdir()] if committed.exists() else []
        return [*(f"slot {facts['epoch']} {facts['digest']}" for facts in self._live_slots()), *seen]

    # -- looking --------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Keeps what the slots say now, for the verifier."""
        for facts in self._live_slots():
            self._journal[facts["digest"]] = facts

    def _live_slots(self) -> list[dict[str, Any]]:
        """The last manifest and the seals after it."""
        found = []
        for path in (self.folder / "checkpoints").glob("*/slots/*"):
            try:
                found.append(slot_facts(path))
            except (OSError, ValueError, KeyError) as error:
                self.problems.append(f"I10: {path.name} cannot be read: {error!r}")
        base = max((f["epoch"] for f in found if f["kind"] == "manifest"), default=0)
        return [facts for facts in found if facts["epoch"] >= base]

    def _verify(self) -> dict[str, Any]:
        journal = self.folder / "journal"
        journal.write_text("".join(json.dumps(entry) + "\n" for entry in self._journal.values()))
        done = subprocess.run(
            [sys.executable, *VERIFIER, *map(str, self._arguments(journal))],
            env={"PYTHONPATH": str(_KIT)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if not done.stdout:
            return {"problems": [f"the verifier failed: {done.stderr[-2000:]}"], "lost": 0, "duplicated": 0}
        report: dict[str, Any] = json.loads(done.stdout)
        for what in ("lost", "duplicated", "foreign"):
            if report[what]:
                report["problems"].append(f"{what}: {report[what]} of {report['lines']}, as {report['examples'][:4]}")
        return report

    def _arguments(self, journal: Path) -> list[Any]:
        retained = self.params["settings"]["execution.checkpointing.num-retained"]
        rescaled = "rescaled" if "parallelisms" in self.params or "rescales" in self.params else ""
        workload_name = self.params.get("workload", "") + (" mini" if self.params.get("mini_batch") else "")
        return [self.folder, self.params["seed"], self.params["records"], journal, retained, rescaled, workload_name]

    def _recovery_times(self) -> list[float]:
        """Seconds from each kill until something new was committed; none if nothing was left to commit."""
        committed = self.folder / "out" / "committed"
        times = sorted(p.stat().st_ctime for p in committed.iterdir()) if committed.exists() else []
        return [
            round(next(t for t in times if t > kill) - kill, 3) for kill in self.kills if times and times[-1] > kill
        ]

    def _tail(self, life: Life) -> str:
        return life.log.read_text()[-1500:] if life.log.exists() else ""
