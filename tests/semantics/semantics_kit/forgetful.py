"""A local executor that rebuilds every task in every epoch, from its state files: as if each epoch ran in another process."""

from __future__ import annotations

from headrace.driver.executor import EpochResult
from headrace.local.executor import LocalExecutor
from headrace.worker.messages import EpochOrder
from headrace.worker.slot.host import TaskHost


class ForgetfulExecutor(LocalExecutor):
    """Keeps nothing in memory."""

    def run_epoch(self, order: EpochOrder) -> EpochResult:
        """Runs an epoch in a new host."""
        self._host = TaskHost(self._spec)
        return super().run_epoch(order)
