/** The latest values of some series, for plots that grow while one looks. */

export class History {
  readonly times: number[] = [];
  readonly values = new Map<string, (number | null)[]>();

  constructor(private readonly limit = 600) {}

  /** A point of time (ms) with one value for each name; a new name had no values before. */
  add(time: number, point: Readonly<Record<string, number | null>>): void {
    const last = this.times[this.times.length - 1];
    if (last !== undefined && time <= last) return;
    for (const name of Object.keys(point)) {
      if (!this.values.has(name)) this.values.set(name, this.times.map(() => null));
    }
    this.times.push(time);
    for (const [name, series] of this.values) series.push(point[name] ?? null);
    if (this.times.length > this.limit) {
      this.times.shift();
      for (const series of this.values.values()) series.shift();
    }
  }

  forget(name: string): void {
    this.values.delete(name);
  }

  series(name: string): (number | null)[] {
    return this.values.get(name) ?? [];
  }
}
