/** What takes its time: the service gives an id at once, and the result when it is there. */

import { getJson } from "./client";
import type { AsyncStatus } from "./types";

export async function resultOf(path: string, requestId: string): Promise<NonNullable<AsyncStatus["operation"]>> {
  for (let wait = 200; ; wait = Math.min(2000, wait * 1.5)) {
    const answer = await getJson<AsyncStatus>(`${path}/${encodeURIComponent(requestId)}`);
    if (answer.status.id === "COMPLETED") {
      const failure = answer.operation?.["failure-cause"];
      if (failure) throw new Error(failure["stack-trace"] ?? failure.class ?? "the service gave no reason");
      return answer.operation ?? {};
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
