"""From a job graph to a running job: the way in for `headrace.datastream`."""

from __future__ import annotations

import uuid
from typing import Any

from headrace.common.configuration import Configuration
from headrace.graph.epoch_plan import build_epoch_plan
from headrace.graph.job_graph import JobGraph
from headrace.operators.clock import SystemClock
from headrace.runtime.executor import Executor
from headrace.runtime.job_master import JobMaster
from headrace.runtime.ledger import Ledger
from headrace.runtime.local.executor import LocalExecutor
from headrace.runtime.options import RuntimeOptions, read_options
from headrace.runtime.task.job_files import gather_files
from headrace.runtime.task.job_spec import make_job_spec
from headrace.runtime.task.state_folder import StateFolder, sweep_abandoned


def submit(graph: JobGraph, configuration: Configuration, *, spark: Any = None) -> JobMaster:
    """Starts a job and gives its handle. `spark` is a SparkSession or SparkContext to run on, if the user has one."""
    options = read_options(configuration)
    job_id = uuid.uuid4().hex
    plan = build_epoch_plan(graph)
    spec = make_job_spec(
        job_id,
        graph,
        plan,
        watermark_records=options.watermark_records,
        job_parameters=options.job_parameters,
        files=gather_files(configuration),
    )
    executor = _executor(options, spark)
    executor.start(spec)
    sweep_abandoned(options.state_directory)
    folder = StateFolder(options.state_directory, job_id)
    try:
        ledger = Ledger(job_id, graph, plan, folder.path)
        master = JobMaster(job_id, graph, ledger, executor, options, folder, SystemClock())
        master.start()
    except BaseException:
        folder.remove()
        raise
    return master


def _executor(options: RuntimeOptions, spark: Any) -> Executor:
    if options.executor == "local":
        return LocalExecutor()
    from headrace.runtime.spark.executor import SparkExecutor

    return SparkExecutor(options.spark, spark)
