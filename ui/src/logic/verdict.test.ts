import { describe, expect, it } from "vitest";
import type { Checkpoints, Glance, JobDetail } from "../api/types";
import { bottleneck, checkpointing, failures, health, lateness, trouble } from "./verdict";
import { verticesOf } from "./vertices";

const NOW = 1_790_000_100_000;

function job(metrics: Record<string, number>[], more: Partial<JobDetail> = {}): JobDetail {
  return {
    jid: "j",
    name: "job",
    state: "RUNNING",
    "start-time": NOW - 100_000,
    "end-time": -1,
    duration: 100_000,
    now: NOW,
    timestamps: { RUNNING: NOW - 90_000 },
    vertices: metrics.map((one, index) => ({
      id: `v${index}`,
      name: `vertex ${index}`,
      parallelism: 1,
      status: "RUNNING",
      "start-time": 0,
      "end-time": -1,
      duration: 0,
      tasks: {},
      metrics: {},
      "vertex-metrics": one,
    })),
    plan: { nodes: metrics.map((_, index) => ({ id: `v${index}`, parallelism: 1, inputs: index === 0 ? [] : [{ num: 0, id: `v${index - 1}` }] })) },
    ...more,
  };
}

const checkpoints = (...statuses: string[]): Checkpoints => ({
  counts: {
    restored: 0,
    total: statuses.length,
    in_progress: 0,
    completed: statuses.filter((one) => one === "COMPLETED").length,
    failed: statuses.filter((one) => one === "FAILED").length,
  },
  history: statuses.map((status, index) => ({
    id: statuses.length - index,
    status,
    is_savepoint: false,
    trigger_timestamp: NOW - 5000 - index * 10_000,
    latest_ack_timestamp: NOW - 4000 - index * 10_000,
    end_to_end_duration: 250,
    state_size: 2048,
    ...(status === "FAILED" ? { failure_message: "IO_EXCEPTION: no space" } : {}),
  })),
});

describe("health", () => {
  it("counts from the last start", () => {
    expect(health(job([]), null)).toMatchObject({ mood: "good", answer: "Running", detail: "for 1 min 30 s" });
    expect(health(job([], { state: "FAILED" }), null)).toMatchObject({ mood: "bad", answer: "Failed", detail: "after 1 min 40 s" });
    expect(health(job([], { state: "RESTARTING" }), null).mood).toBe("watch");
  });
});

describe("the bottleneck", () => {
  it("is what the service says", () => {
    const one = job([{}, {}], { bottleneck: { vertex_id: "v1", subtask: 3, reason: "one key is hot", advice: "" } });
    expect(bottleneck(one, verticesOf(one))).toMatchObject({ vertex: "v1", answer: "vertex 1", detail: "one key is hot", mood: "watch" });
  });

  it("is else a vertex that is busy all the time, if there is one", () => {
    const slow = job([{ busyTimeMsPerSecond: 100 }, { busyTimeMsPerSecond: 950 }]);
    expect(bottleneck(slow, verticesOf(slow))).toMatchObject({ vertex: "v1", detail: "95 % busy" });
    const calm = job([{ busyTimeMsPerSecond: 100 }, { busyTimeMsPerSecond: 300 }]);
    expect(bottleneck(calm, verticesOf(calm))).toMatchObject({ vertex: null, mood: "good", answer: "None" });
  });
});

describe("lateness", () => {
  it("is that of the slowest watermark", () => {
    const one = job([{ currentOutputWatermark: NOW - 1000 }, { currentInputWatermark: NOW - 3200 }]);
    expect(lateness(one, verticesOf(one))).toMatchObject({ mood: "good", answer: "3.2 s behind" });
  });

  it("warns of dropped records and of a lag of more than a minute", () => {
    const dropped = job([{ currentInputWatermark: NOW - 1000, numLateRecordsDropped: 3 }]);
    expect(lateness(dropped, verticesOf(dropped))).toMatchObject({ mood: "watch", detail: "3 late records dropped" });
    const behind = job([{ currentInputWatermark: NOW - 61_000 }]);
    expect(lateness(behind, verticesOf(behind)).mood).toBe("watch");
  });

  it("has nothing to say without event time, or with made-up time", () => {
    for (const mark of [-9223372036854775808, 9223372036854775807, 4200]) {
      const one = job([{ currentInputWatermark: mark }]);
      expect(lateness(one, verticesOf(one)).answer).toBe("No event time");
    }
  });
});

describe("checkpoints", () => {
  it("shows the age of the last one", () => {
    expect(checkpointing(checkpoints("COMPLETED"), NOW)).toMatchObject({ mood: "good", answer: "4 s ago", detail: "2 KiB, 250 ms, 1 complete" });
  });

  it("is bad when the latest failed, and remembers older failures", () => {
    expect(checkpointing(checkpoints("FAILED", "COMPLETED"), NOW)).toMatchObject({ mood: "bad", answer: "Number 2 failed", detail: "IO_EXCEPTION: no space" });
    expect(checkpointing(checkpoints("COMPLETED", "FAILED"), NOW).mood).toBe("watch");
  });

  it("may be off, or not have begun", () => {
    expect(checkpointing(null, NOW).answer).toBe("Off");
    expect(checkpointing(checkpoints(), NOW).answer).toBe("None yet");
  });
});

it("failures name the newest exception", () => {
  const entry = (name: string, timestamp: number) => ({ exceptionName: name, stacktrace: "", timestamp });
  const history = { exceptionHistory: { entries: [entry("shop.errors.PriceError", NOW - 2000), entry("ValueError", NOW - 9000)], truncated: false } };
  expect(failures(history, NOW)).toMatchObject({ mood: "bad", answer: "PriceError", detail: "2 s ago, 2 in all" });
  expect(failures(null, NOW).mood).toBe("good");
});

describe("a job in the list", () => {
  const well: Glance = { "records-per-second": 5, "watermark-lag": 900, checkpoint: { id: 3, status: "COMPLETED" }, bottleneck: null, exception: null };
  const exception = { exceptionName: "UserCodeError", stacktrace: "Traceback\n  File \"job.py\"\nValueError: no", timestamp: NOW };
  const said = (state: string, more: Partial<Glance>): string | undefined =>
    trouble({ jid: "j", name: "job", state, "start-time": NOW, "end-time": -1, duration: 0, tasks: {}, glance: { ...well, ...more } }, NOW)?.text;

  it("has no trouble if all is well", () => {
    expect(said("RUNNING", {})).toBeUndefined();
    expect(said("CANCELED", { exception })).toBeUndefined();
  });

  it("says the worst first", () => {
    const slow = { vertex: "Map", reason: "user function" };
    const failed = { id: 4, status: "FAILED", failure_message: "no space" };
    expect(said("FAILED", { exception, bottleneck: slow })).toBe("ValueError: no");
    expect(said("RESTARTING", { exception, checkpoint: failed })).toBe("ValueError: no");
    expect(said("RUNNING", { exception, checkpoint: failed, bottleneck: slow })).toBe("Checkpoint 4 failed: no space");
    expect(said("RUNNING", { exception, bottleneck: slow })).toBe("Map: user function");
    expect(said("RUNNING", { "watermark-lag": 90_000 })).toBe("1 min 30 s behind the clock");
    expect(said("RUNNING", { exception })).toBe("Started again after ValueError: no");
  });
});

describe("a job without executors", () => {
  it("waits, and after a while that is to be looked at", () => {
    const since = { "waiting-since": NOW - 5000 };
    expect(health(job([], since), null)).toMatchObject({ mood: "neutral", answer: "Waiting for executors" });
    const long = health(job([], { "waiting-since": NOW - 21_000 }), null);
    expect(long).toMatchObject({ mood: "watch", answer: "Waiting for executors" });
    expect(long.detail).toMatch(/^since .*21 s/);
    expect(health(job([], { "waiting-since": -1 }), null).answer).toBe("Running");
  });
});

describe("a record that fails again and again", () => {
  it("counts as often as it failed", () => {
    const entry = { exceptionName: "E", stacktrace: "ValueError: x", timestamp: NOW - 1000, count: 7 };
    const exceptions = { exceptionHistory: { entries: [entry], truncated: false } };
    expect(failures(exceptions, NOW).detail).toContain("7 in all");
    expect(health(job([]), exceptions).detail).toContain("7 failures before");
  });
});
