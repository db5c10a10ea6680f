/** A vertex of the graph with the numbers that the pages show. */

import type { JobDetail, JobVertex, PlanNode } from "../api/types";
import { watermark } from "./format";
import { loadOf, type Load } from "./load";

export interface VertexNumbers {
  vertex: JobVertex;
  /** Of the subtask that is idle least. */
  load: Load | null;
  inPerSecond: number | null;
  outPerSecond: number | null;
  recordsIn: number | null;
  recordsOut: number | null;
  lateDropped: number;
  watermark: number | null;
  /** How far the watermark is behind the clock; null without one, and for made-up time. */
  lag: number | null;
  isSource: boolean;
  isSink: boolean;
}

const REAL_TIME = 1e11;

function numberAt(metrics: Record<string, unknown>, ...names: string[]): number | null {
  for (const name of names) {
    const value = metrics[name];
    if (value === undefined || value === null || value === "" || typeof value === "boolean") continue;
    const number = Number(value);
    if (!Number.isNaN(number)) return number;
  }
  return null;
}

export function verticesOf(job: JobDetail): VertexNumbers[] {
  const fed = new Set<string>();
  const sources = new Set<string>();
  for (const node of job.plan.nodes) {
    if ((node.inputs ?? []).length === 0) sources.add(node.id);
    for (const input of node.inputs ?? []) fed.add(input.id);
  }
  return job.vertices.map((vertex) => numbersOf(vertex, job.now, sources.has(vertex.id), !fed.has(vertex.id)));
}

function numbersOf(vertex: JobVertex, now: number, isSource: boolean, isSink: boolean): VertexNumbers {
  const metrics: Record<string, unknown> = { ...vertex.metrics, ...vertex["vertex-metrics"] };
  // As in Flink, one subtask that works hard makes the vertex red, however idle the others are.
  const times: Record<string, unknown> = { ...metrics, ...vertex["busiest-subtask"] };
  const mark = watermark(numberAt(metrics, "currentInputWatermark") ?? numberAt(metrics, "currentOutputWatermark"));
  return {
    vertex,
    load: loadOf(
      numberAt(times, "busyTimeMsPerSecond"),
      numberAt(times, "idleTimeMsPerSecond"),
      numberAt(times, "backPressuredTimeMsPerSecond"),
    ),
    inPerSecond: numberAt(metrics, "numRecordsInPerSecond"),
    outPerSecond: numberAt(metrics, "numRecordsOutPerSecond"),
    recordsIn: numberAt(metrics, "numRecordsIn", "read-records"),
    recordsOut: numberAt(metrics, "numRecordsOut", "write-records"),
    lateDropped: numberAt(metrics, "numLateRecordsDropped") ?? 0,
    watermark: mark,
    lag: mark !== null && mark > REAL_TIME ? Math.max(0, now - mark) : null,
    isSource,
    isSink,
  };
}

/** Records per second on an edge: what its source sends, shared over several edges only if the target tells. */
export function edgeRate(from: VertexNumbers | undefined, to: VertexNumbers | undefined, inputsOfTarget: number): number | null {
  if (inputsOfTarget === 1 && to?.inPerSecond !== null && to?.inPerSecond !== undefined) return to.inPerSecond;
  return from?.outPerSecond ?? null;
}

/** The operators of a chain, for a title in lines: "Source: numbers -> Map -> Filter" is three. */
export function chainOf(name: string): string[] {
  return name.split(/\s*->\s*/).filter((part) => part !== "");
}

export function plainDescription(node: PlanNode | undefined): string {
  return (node?.description ?? "").replace(/<br\s*\/?>/g, " ").trim();
}
