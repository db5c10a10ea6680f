"""Starts jobs: turns a job graph and its configuration into a running job for `headrace.datastream`."""

from __future__ import annotations

import contextlib
import re
import uuid
from typing import Any

from headrace.checkpoint.driver import Checkpoints
from headrace.checkpoint.manifests import key_groups_of
from headrace.checkpoint.model import Origin
from headrace.checkpoint.savepoints import find_origin
from headrace.config.checkpoint_settings import DurabilitySettings
from headrace.config.configuration import Configuration
from headrace.config.restart_keys import restart_strategy_from
from headrace.config.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from headrace.config.runtime_settings import (
    RuntimeSettings,
    read_backend_settings,
    read_latency_settings,
    read_runtime_settings,
)
from headrace.driver.current_job import Program
from headrace.driver.enumerators import Enumerators
from headrace.driver.executor import Executor
from headrace.driver.job_master import JobMaster, listeners_for
from headrace.driver.restarts import policy_for
from headrace.driver.wiring import assemble
from headrace.errors import ConfigurationError
from headrace.graph.epoch_plan import EpochPlan, build_epoch_plan
from headrace.graph.job_graph import JobGraph, with_key_groups
from headrace.local.executor import LocalExecutor
from headrace.metrics.reporters.settings import Reporting, read_reporters
from headrace.operators.clock import SystemClock
from headrace.state.job_folder import StateFolder, sweep_abandoned
from headrace.state.storage import file_system, join, local_path
from headrace.worker.job_files import gather_files
from headrace.worker.job_spec import JobSpec, make_job_spec
from headrace.worker.slot.launch import CLOSE_SECONDS

_NAMES = uuid.UUID("5e1f0b6a-8d8e-5a0c-9a54-0f2f8c1d7b11")
"""The namespace in which job names become ids."""


def submit(
    graph: JobGraph,
    configuration: Configuration,
    *,
    spark: Any = None,
    restart_strategy: RestartStrategyConfiguration | None = None,
) -> JobMaster:
    """Start a job and return its handle. `spark` is a SparkSession or SparkContext to run on, if the user has one."""
    options = read_runtime_settings(configuration)
    durability = options.durability
    _check_places(durability)
    reporting = Reporting(read_reporters(options.configuration))
    job_id = _job_id(durability.job_id)
    listeners = listeners_for(configuration)
    for listener in listeners:
        listener.submitting(job_id, graph.name)
    origin = _origin(durability, job_id)
    if origin is not None:
        graph = with_key_groups(graph, key_groups_of(origin.manifest))

    backend = read_backend_settings(configuration)
    latency = read_latency_settings(configuration)

    def make_spec(graph: JobGraph, plan: EpochPlan) -> JobSpec:
        return make_job_spec(
            job_id,
            graph,
            plan,
            watermark_records=options.watermark_records,
            job_parameters=options.job_parameters,
            files=gather_files(configuration),
            backend=backend,
            latency=latency,
            close_seconds=max(CLOSE_SECONDS, options.task_timeout or 0.0),
        )

    plan = build_epoch_plan(graph)
    program = Program(job_id, graph, plan, make_spec(graph, plan), make_spec, origin)
    executor = _executor(options, spark)
    executor.start(program.spec)
    sweep_abandoned(options.state_directory)
    folder = StateFolder(options.state_directory, job_id)
    enumerators = Enumerators(graph)
    try:
        root = join(folder.path, "checkpoints") if durability.directory is None else join(durability.directory, job_id)
        clock = SystemClock()
        publish = enumerators.notify_checkpoint_complete
        checkpoints = Checkpoints(job_id, root, durability, graph, plan, clock.now, folder.path, publish)
        strategy = restart_strategy or restart_strategy_from(configuration) or RestartStrategies.fall_back_restart()
        policy = policy_for(strategy, durability.periodic)
        if origin is None:
            enumerators.start(graph)
        master = JobMaster(
            assemble(program, executor, options, folder, checkpoints, policy, clock, reporting, enumerators)
        )
        master.start()
    except BaseException:
        enumerators.close(kept=False)
        folder.remove()
        raise
    for listener in listeners:
        listener.started(master)
    return master


def _check_places(durability: DurabilitySettings) -> None:
    """Refuse storage whose file system or package is missing before anything is started."""
    for place in (durability.directory, durability.savepoint_directory):
        if place is not None and local_path(place) is None:
            file_system(place)


def _job_id(given: str | None) -> str:
    """Return 32 hexadecimal digits, always the same for the same name."""
    if given is None:
        return uuid.uuid4().hex
    return given if re.fullmatch("[0-9a-f]{32}", given) else uuid.uuid5(_NAMES, given).hex


def _origin(durability: DurabilitySettings, job_id: str) -> Origin | None:
    """Return what the job starts from. A savepoint that it has claimed is gone: its own checkpoints replace it."""
    if durability.restore_path is None:
        return None
    if durability.claim and durability.job_id is not None and durability.directory is not None:
        with contextlib.suppress(ConfigurationError):  # it has none yet
            return find_origin(join(durability.directory, job_id), trust=durability.trust)
    return find_origin(durability.restore_path, ignore_unclaimed=durability.ignore_unclaimed, trust=durability.trust)


def _executor(options: RuntimeSettings, spark: Any) -> Executor:
    if options.executor == "local":
        return LocalExecutor(in_thread=options.task_timeout is not None)
    from headrace.spark.executor import SparkExecutor

    return SparkExecutor(options.spark, spark, options.python)
