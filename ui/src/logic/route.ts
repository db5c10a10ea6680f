/** The page is in the fragment of the address: it needs no help from the server, and every view can be linked to. */

export const JOB_TABS = ["graph", "checkpoints", "exceptions", "timeline", "configuration", "logs"] as const;
export type JobTab = (typeof JOB_TABS)[number];

export const VERTEX_TABS = [
  "subtasks",
  "watermarks",
  "backpressure",
  "metrics",
  "accumulators",
  "flamegraph",
] as const;
export type VertexTab = (typeof VERTEX_TABS)[number];

export type Route =
  | { page: "overview" }
  | { page: "submit" }
  | { page: "executors"; executor: string | null }
  | { page: "service" }
  | { page: "job"; job: string; tab: JobTab; vertex: string | null; vertexTab: VertexTab }
  | { page: "unknown"; path: string };

export function parseRoute(fragment: string): Route {
  const parts = fragment
    .replace(/^#?\/?/, "")
    .split("/")
    .filter((part) => part !== "")
    .map(decode);
  const [first, second, third, fourth, fifth] = parts;
  // A link that signs in has done so before any page is shown.
  if (first === undefined || first === "overview" || first === "sign-in") return { page: "overview" };
  if (first === "submit") return { page: "submit" };
  if (first === "service") return { page: "service" };
  if (first === "executors") return { page: "executors", executor: second ?? null };
  if (first === "jobs" && second !== undefined) {
    return {
      page: "job",
      job: second,
      tab: member(JOB_TABS, third) ?? "graph",
      vertex: third === "graph" || third === undefined ? (fourth ?? null) : null,
      vertexTab: member(VERTEX_TABS, fifth) ?? "subtasks",
    };
  }
  return { page: "unknown", path: fragment };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function member<T extends string>(all: readonly T[], text: string | undefined): T | undefined {
  return all.find((one) => one === text);
}

export function jobLink(job: string, tab: JobTab = "graph", vertex?: string | null, vertexTab?: VertexTab): string {
  const parts = ["#", "jobs", encodeURIComponent(job), tab];
  if (vertex) parts.push(encodeURIComponent(vertex));
  if (vertex && vertexTab) parts.push(vertexTab);
  return parts.join("/");
}
