"""JobExecutionResult: the result of a finished job, returned by ``execute`` and ``JobClient``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace.common.job_id import JobID
from headrace.compatibility.names import offer_pyflink_names
from headrace.compatibility.no_jvm_object import NoJvmObject

__all__ = ["JobExecutionResult"]
offer_pyflink_names(__name__)


class JobExecutionResult(NoJvmObject):
    """The id of a job, how long it ran, and the results of its accumulators.

    >>> result = JobExecutionResult(JobID("0" * 32), 1500, {"lines": 3})
    >>> result.get_net_runtime(), result.get_accumulator_result("lines")
    (1500, 3)
    """

    def __init__(self, job_id: JobID, net_runtime: int, accumulators: Mapping[str, Any] | None = None) -> None:
        """Store the values; ``net_runtime`` is in milliseconds."""
        self._job_id = job_id
        self._net_runtime = net_runtime
        self._accumulators = dict(accumulators or {})

    def get_job_id(self) -> JobID:
        """Return the id of the job."""
        return self._job_id

    def get_net_runtime(self) -> int:
        """Return the runtime of the job in milliseconds."""
        return self._net_runtime

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """Return the result of an accumulator, or ``None``."""
        return self._accumulators.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, Any]:
        """Return the results of all accumulators by name."""
        return dict(self._accumulators)

    def __str__(self) -> str:
        lines = [f"Job {self._job_id} has finished.", f"Job runtime: {self._net_runtime} ms"]
        if self._accumulators:
            lines += ["Accumulator results:", *(f"- {name}: {value}" for name, value in self._accumulators.items())]
        return "\n".join(lines)
