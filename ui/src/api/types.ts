/** The JSON of the REST service, as far as the pages read it. Names are Flink's. */

export interface ClusterOverview {
  taskmanagers: number;
  "slots-total": number;
  "slots-available": number;
  "jobs-running": number;
  "jobs-finished": number;
  "jobs-cancelled": number;
  "jobs-failed": number;
  "flink-version"?: string;
}

export interface UiConfig {
  "refresh-interval"?: number;
  "flink-version"?: string;
  "flink-revision"?: string;
  features?: Record<string, boolean>;
}

export interface JobSummary {
  jid: string;
  name: string;
  state: string;
  "start-time": number;
  "end-time": number;
  duration: number;
  "last-modification"?: number;
  tasks: Record<string, number>;
  glance: Glance;
}

/** Of the event stream only: whether all is well with a job. */
export interface Glance {
  "records-per-second": number;
  "watermark-lag": number | null;
  checkpoint: { id: number; status: string; end_timestamp?: number; failure_message?: string | null } | null;
  bottleneck: { vertex: string | null; reason: string } | null;
  exception: ExceptionEntry | null;
  /** Since when the job has had no executor; -1 if it has one. */
  "waiting-since"?: number;
}

export interface VertexIoMetrics {
  "read-bytes"?: number;
  "write-bytes"?: number;
  "read-records"?: number;
  "write-records"?: number;
  [name: string]: number | boolean | string | undefined;
}

export interface JobVertex {
  id: string;
  name: string;
  parallelism: number;
  maxParallelism?: number;
  status: string;
  "start-time": number;
  "end-time": number;
  duration: number;
  tasks: Record<string, number>;
  metrics: VertexIoMetrics;
  /** Of the event stream only: the metrics of the subtasks, put together. */
  "vertex-metrics"?: Record<string, number | string>;
  /** Of the event stream only: how the subtask that is idle least spends its time. */
  "busiest-subtask"?: Record<string, number>;
}

export interface PlanNode {
  id: string;
  parallelism: number;
  operator?: string;
  description?: string;
  inputs?: { num: number; id: string; ship_strategy?: string; exchange?: string }[];
}

export interface Plan {
  jid?: string;
  name?: string;
  type?: string;
  nodes: PlanNode[];
}

export interface Bottleneck {
  vertex_id: string;
  subtask?: number | null;
  reason: string;
  advice: string;
}

export interface JobDetail {
  jid: string;
  name: string;
  state: string;
  "start-time": number;
  "end-time": number;
  duration: number;
  now: number;
  maxParallelism?: number;
  timestamps: Record<string, number>;
  vertices: JobVertex[];
  "status-counts"?: Record<string, number>;
  plan: Plan;
  bottleneck?: Bottleneck | null;
  /** Of the event stream only: since when the job has had no executor; -1 if it has one. */
  "waiting-since"?: number;
}

export interface Subtask {
  subtask: number;
  status: string;
  attempt: number;
  host?: string;
  endpoint?: string;
  "start-time": number;
  "end-time": number;
  duration: number;
  "taskmanager-id"?: string;
  metrics: VertexIoMetrics;
}

export interface VertexDetail {
  id: string;
  name: string;
  parallelism: number;
  maxParallelism?: number;
  now: number;
  subtasks: Subtask[];
}

export interface SubtaskTimes {
  id: string;
  name: string;
  now: number;
  subtasks: { subtask: number; host?: string; endpoint?: string; duration: number; timestamps: Record<string, number> }[];
}

export interface MetricValue {
  id: string;
  value?: string;
}

export interface AggregatedMetric {
  id: string;
  min?: number;
  max?: number;
  avg?: number;
  sum?: number;
}

export interface BackPressure {
  status: string;
  backpressureLevel?: string;
  "backpressure-level"?: string;
  "end-timestamp"?: number;
  subtasks?: {
    subtask: number;
    "attempt-number"?: number;
    backpressureLevel?: string;
    "backpressure-level"?: string;
    ratio: number;
    busyRatio?: number;
    idleRatio?: number;
  }[];
}

export interface Statistics {
  min: number;
  max: number;
  avg: number;
  p50?: number;
  p90?: number;
  p95?: number;
  p99?: number;
  p999?: number;
}

export interface CheckpointEntry {
  id: number;
  status: string;
  is_savepoint: boolean;
  trigger_timestamp: number;
  latest_ack_timestamp?: number;
  end_to_end_duration?: number;
  checkpointed_size?: number;
  state_size?: number;
  num_subtasks?: number;
  num_acknowledged_subtasks?: number;
  checkpoint_type?: string;
  external_path?: string;
  discarded?: boolean;
  failure_timestamp?: number;
  failure_message?: string;
  restore_timestamp?: number;
  tasks?: Record<string, CheckpointTask>;
}

export interface CheckpointTask {
  id: number;
  status: string;
  latest_ack_timestamp?: number;
  checkpointed_size?: number;
  state_size?: number;
  end_to_end_duration?: number;
  num_subtasks: number;
  num_acknowledged_subtasks: number;
}

export interface Checkpoints {
  counts: { restored: number; total: number; in_progress: number; completed: number; failed: number };
  summary?: Record<string, Statistics | null>;
  latest?: Record<string, CheckpointEntry | null>;
  history: CheckpointEntry[];
  notes?: string[];
}

export interface CheckpointSubtasks {
  id: number;
  status: string;
  subtasks: {
    index: number;
    status: string;
    ack_timestamp?: number;
    end_to_end_duration?: number;
    checkpointed_size?: number;
    state_size?: number;
    checkpoint?: { sync?: number; async?: number };
  }[];
}

export interface ExceptionEntry {
  exceptionName: string;
  stacktrace: string;
  timestamp: number;
  taskName?: string | null;
  endpoint?: string | null;
  location?: string | null;
  taskManagerId?: string | null;
  concurrentExceptions?: ExceptionEntry[];
  /** How often it happened in an unbroken row, since when, and what to do about it. */
  count?: number;
  "first-timestamp"?: number;
  advice?: string | null;
}

export interface Exceptions {
  exceptionHistory?: { entries: ExceptionEntry[]; truncated: boolean };
  "root-exception"?: string | null;
  timestamp?: number | null;
}

export interface JobConfig {
  jid: string;
  name: string;
  "execution-config"?: Record<string, unknown> & { "user-config"?: Record<string, unknown> };
}

export interface Accumulator {
  name: string;
  type: string;
  value: string;
}

export interface FlameNode {
  name: string;
  value: number;
  children?: FlameNode[];
}

export interface FlameGraph {
  /** Negative while there is no data: not sampled yet, or the job has ended. */
  endTimestamp: number;
  data?: FlameNode;
}

export interface TaskManager {
  id: string;
  path?: string;
  dataPort?: number;
  timeSinceLastHeartbeat: number;
  slotsNumber: number;
  freeSlots: number;
  hardware?: { cpuCores?: number; physicalMemory?: number; freeMemory?: number; managedMemory?: number };
}

export interface Jar {
  id: string;
  name: string;
  uploaded: number;
  entry?: { name: string; description: string | null }[];
}

export interface LogFile {
  name: string;
  size: number;
  mtime?: number;
}

export interface AsyncStatus {
  status: { id: string };
  operation?: { location?: string; "failure-cause"?: { class?: string; "stack-trace"?: string } };
}
