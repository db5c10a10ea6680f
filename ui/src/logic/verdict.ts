/** The five questions that the head of a job page answers: healthy, slow, late, checkpoints, failures. */

import type { Checkpoints, ExceptionEntry, Exceptions, JobDetail, JobSummary } from "../api/types";
import { ago, bytes, count, dateTime, duration, percent, plural } from "./format";
import { raised } from "./traceback";
import type { VertexNumbers } from "./vertices";

export type Mood = "good" | "watch" | "bad" | "neutral";

export interface Verdict {
  question: "Health" | "Bottleneck" | "Lateness" | "Checkpoints" | "Failures";
  mood: Mood;
  answer: string;
  detail: string;
}

const ENDED = new Set(["FINISHED", "CANCELED", "FAILED", "SUSPENDED"]);
const SLOW = 0.8;
const LATE_MS = 60_000;
const PATIENCE_MS = 20_000;

export function hasEnded(state: string): boolean {
  return ENDED.has(state);
}

export function moodOfState(state: string): Mood {
  switch (state) {
    case "RUNNING":
    case "FINISHED":
    case "COMPLETED":
      return "good";
    case "FAILED":
    case "FAILING":
      return "bad";
    case "RESTARTING":
    case "CANCELLING":
    case "RECONCILING":
      return "watch";
    default:
      return "neutral";
  }
}

export function health(job: JobDetail, exceptions: Exceptions | null): Verdict {
  const since = job.timestamps[job.state] ?? job["start-time"];
  const waits = waiting(job.state, job["waiting-since"], job.now);
  if (waits !== null) return { question: "Health", ...waits };
  const restarts = happened(exceptions?.exceptionHistory?.entries ?? []);
  const ended = hasEnded(job.state);
  const lived = duration(ended ? job.duration : job.now - job["start-time"]);
  const detail = ended
    ? `after ${lived}`
    : restarts > 0 && job.state === "RUNNING"
      ? `for ${duration(job.now - since)}, ${plural(restarts, "failure")} before`
      : `for ${duration(job.now - since)}`;
  const mood = moodOfState(job.state);
  return { question: "Health", mood, answer: titled(job.state), detail };
}

/** A job that runs but has no executor: nothing happens until one comes. */
function waiting(state: string, since: number | undefined, now: number): { mood: Mood; answer: string; detail: string } | null {
  if (state !== "RUNNING" || since === undefined || since < 0) return null;
  const mood = now - since > PATIENCE_MS ? "watch" : "neutral";
  return { mood, answer: "Waiting for executors", detail: `since ${dateTime(since)}, ${ago(since, now)}` };
}

/** How many failures these entries stand for. */
function happened(entries: readonly ExceptionEntry[]): number {
  return entries.reduce((sum, entry) => sum + (entry.count ?? 1), 0);
}

function titled(state: string): string {
  return state.charAt(0) + state.slice(1).toLowerCase();
}

/** The vertex that slows the others down: what the service says, else the busiest one. */
export function bottleneck(job: JobDetail, vertices: readonly VertexNumbers[]): Verdict & { vertex: string | null } {
  const question = "Bottleneck";
  if (hasEnded(job.state)) return { question, mood: "neutral", answer: "Ended", detail: "nothing runs", vertex: null };
  if (job.bottleneck) {
    const name = vertices.find((one) => one.vertex.id === job.bottleneck?.vertex_id)?.vertex.name ?? "a vertex";
    return { question, mood: "watch", answer: name, detail: job.bottleneck.reason, vertex: job.bottleneck.vertex_id };
  }
  const measured = vertices.filter((one) => one.load !== null);
  if (measured.length === 0) return { question, mood: "neutral", answer: "Unknown", detail: "not measured yet", vertex: null };
  const busiest = measured.reduce((left, right) => ((right.load?.busy ?? 0) > (left.load?.busy ?? 0) ? right : left));
  const busy = busiest.load?.busy ?? 0;
  if (busy >= SLOW) {
    return { question, mood: "watch", answer: busiest.vertex.name, detail: `${percent(busy)} busy`, vertex: busiest.vertex.id };
  }
  return { question, mood: "good", answer: "None", detail: `busiest vertex ${percent(busy)} busy`, vertex: null };
}

export function lateness(job: JobDetail, vertices: readonly VertexNumbers[]): Verdict {
  const question = "Lateness";
  const dropped = vertices.reduce((sum, one) => sum + one.lateDropped, 0);
  const droppedText = dropped > 0 ? `${count(dropped)} late records dropped` : "no late records dropped";
  const lags = vertices.map((one) => one.lag).filter((lag) => lag !== null);
  if (lags.length === 0 || hasEnded(job.state)) {
    const answer = lags.length === 0 ? "No event time" : "Ended";
    return { question, mood: dropped > 0 ? "watch" : "neutral", answer, detail: droppedText };
  }
  const lag = Math.max(...lags);
  const mood = dropped > 0 || lag > LATE_MS ? "watch" : "good";
  return { question, mood, answer: `${duration(Math.round(lag / 100) * 100)} behind`, detail: droppedText };
}

export function checkpointing(checkpoints: Checkpoints | null, now: number): Verdict {
  const question = "Checkpoints";
  if (checkpoints === null) return { question, mood: "neutral", answer: "Off", detail: "state is not saved" };
  const { completed, failed, in_progress: running } = checkpoints.counts;
  const newest = checkpoints.history.find((entry) => entry.status !== "IN_PROGRESS");
  if (newest?.status === "FAILED") {
    return { question, mood: "bad", answer: `Number ${newest.id} failed`, detail: newest.failure_message ?? "no reason given" };
  }
  const last = checkpoints.history.find((entry) => entry.status === "COMPLETED") ?? checkpoints.latest?.completed ?? null;
  if (last === null) {
    return { question, mood: "neutral", answer: "None yet", detail: running > 0 ? "the first one is running" : "none was triggered" };
  }
  const at = last.latest_ack_timestamp ?? last.trigger_timestamp;
  const parts = [bytes(last.state_size), duration(last.end_to_end_duration), `${count(completed)} complete`];
  if (failed > 0) parts.push(`${count(failed)} failed`);
  return { question, mood: failed > 0 ? "watch" : "good", answer: ago(at, now), detail: parts.join(", ") };
}

export function failures(exceptions: Exceptions | null, now: number): Verdict {
  const question = "Failures";
  const entries = exceptions?.exceptionHistory?.entries ?? [];
  const newest = entries[0];
  if (newest === undefined) return { question, mood: "good", answer: "None", detail: "no exception so far" };
  const all = happened(entries);
  const more = all > 1 ? `, ${count(all)} in all` : "";
  return { question, mood: "bad", answer: titleOf(newest), detail: ago(newest.timestamp, now) + more };
}

/** The user's own exception where there is one, else the name of what the job master caught. */
export function titleOf(entry: ExceptionEntry): string {
  return raised(entry.stacktrace) || shortName(entry.exceptionName);
}

/** "package.module.SomeError" is "SomeError". */
function shortName(exception: string): string {
  return exception.split(".").pop() || exception;
}

/** In a list of jobs: the worst that can be said of one, or null if all is well. */
export function trouble(job: JobSummary, now: number): { mood: Mood; text: string } | null {
  const { bottleneck: slow, checkpoint, exception, "watermark-lag": lag } = job.glance;
  if (hasEnded(job.state)) return exception !== null && job.state === "FAILED" ? { mood: "bad", text: titleOf(exception) } : null;
  if (exception !== null && job.state !== "RUNNING") return { mood: "bad", text: titleOf(exception) };
  const waits = waiting(job.state, job.glance["waiting-since"], now);
  if (waits !== null) return { mood: waits.mood, text: `${waits.answer} ${waits.detail}` };
  if (checkpoint?.status === "FAILED") {
    return { mood: "bad", text: `Checkpoint ${checkpoint.id} failed: ${checkpoint.failure_message ?? "no reason given"}` };
  }
  if (slow !== null) return { mood: "watch", text: `${slow.vertex ?? "a vertex"}: ${slow.reason}` };
  if (lag !== null && lag > LATE_MS) return { mood: "watch", text: `${duration(lag)} behind the clock` };
  if (exception === null) return null;
  const times = (exception.count ?? 1) > 1 ? ` (${count(exception.count ?? 1)} times in a row)` : "";
  return { mood: "watch", text: `Started again after ${titleOf(exception)}${times}` };
}
