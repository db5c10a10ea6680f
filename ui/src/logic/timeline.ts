/** A job's life as bars on a common scale of time. */

export interface Span {
  state: string;
  start: number;
  end: number;
}

/** States with the time each was entered (0: never) as spans; the last one ends at `end`. */
export function spansOf(timestamps: Readonly<Record<string, number>>, end: number): Span[] {
  const entered = Object.entries(timestamps)
    .filter(([, time]) => time > 0)
    .sort((left, right) => left[1] - right[1]);
  return entered
    .map(([state, start], index) => ({ state, start, end: Math.max(start, entered[index + 1]?.[1] ?? end) }))
    .filter((span, index, all) => span.end > span.start || index === all.length - 1);
}

/** Round steps of time for the scale: at most `most` of them. */
export function ticks(start: number, end: number, most = 8): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400].map((seconds) => seconds * 1000);
  const span = Math.max(1, end - start);
  let step = steps.find((one) => span / one <= most) ?? 86_400_000;
  while (span / step > most) step *= 2;
  const result: number[] = [];
  for (let at = Math.ceil(start / step) * step; at <= end; at += step) result.push(at);
  return result;
}
