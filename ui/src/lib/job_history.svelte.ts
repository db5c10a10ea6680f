/** What a job did while the page was open: records per second, load and lag. */

import { untrack } from "svelte";
import { History } from "../logic/history";
import type { VertexNumbers } from "../logic/vertices";

function sum(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((left, right) => left + right, 0);
}

export class JobHistory {
  private readonly history = new History(900);
  /** Grows with every point; what is drawn reads it. */
  version = $state(0);

  take(now: number, vertices: readonly VertexNumbers[]): void {
    const lags = vertices.map((one) => one.lag).filter((lag) => lag !== null);
    this.history.add(now, {
      read: sum(vertices.filter((one) => one.isSource).map((one) => one.outPerSecond)),
      written: sum(vertices.filter((one) => one.isSink && !one.isSource).map((one) => one.inPerSecond)),
      lag: lags.length === 0 ? null : Math.max(...lags),
    });
    // Taken inside an effect, which must not run again because of it.
    untrack(() => (this.version += 1));
  }

  get times(): readonly number[] {
    void this.version;
    return this.history.times;
  }

  series(name: "read" | "written" | "lag"): (number | null)[] {
    void this.version;
    return this.history.series(name);
  }
}
