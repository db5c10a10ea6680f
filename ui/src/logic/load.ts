/** How busy a vertex is, and the colour for it: blue is idle, red is busy, black is back-pressured. */

export interface Load {
  busy: number;
  idle: number;
  backPressured: number;
}

type Rgb = readonly [number, number, number];

// White text on each of the three, and on every mixture, has a contrast of at least 4.5.
export const IDLE: Rgb = [47, 104, 196];
export const BUSY: Rgb = [196, 43, 56];
export const BACK_PRESSURED: Rgb = [16, 18, 22];
export const UNKNOWN: Rgb = [92, 101, 114];

/** From ms per second (Flink's metrics) to ratios that add to one at most; null when nothing was measured. */
export function loadOf(busy?: number | null, idle?: number | null, backPressured?: number | null): Load | null {
  const parts = [busy, idle, backPressured].map((value) =>
    value === null || value === undefined || !Number.isFinite(value) ? null : Math.max(0, value) / 1000,
  );
  if (parts.every((part) => part === null)) return null;
  const sum = parts.reduce<number>((total, part) => total + (part ?? 0), 0);
  const scale = sum > 1 ? 1 / sum : 1;
  return { busy: (parts[0] ?? 0) * scale, idle: (parts[1] ?? 0) * scale, backPressured: (parts[2] ?? 0) * scale };
}

export function colourOf(load: Load | null): string {
  if (load === null) return css(UNKNOWN);
  const sum = load.busy + load.idle + load.backPressured;
  if (sum <= 0) return css(IDLE);
  // Busy and back-pressured time count a little more than idle time, so that trouble is seen early.
  const weights = [load.idle, load.busy * 1.4, load.backPressured * 1.6];
  const total = weights.reduce((left, right) => left + right, 0);
  const mixed = [0, 1, 2].map((channel) =>
    Math.round(
      ((weights[0] ?? 0) * (IDLE[channel] ?? 0) +
        (weights[1] ?? 0) * (BUSY[channel] ?? 0) +
        (weights[2] ?? 0) * (BACK_PRESSURED[channel] ?? 0)) /
        total,
    ),
  );
  return css(mixed as unknown as Rgb);
}

function css(colour: Rgb): string {
  return `rgb(${colour[0]}, ${colour[1]}, ${colour[2]})`;
}

/** In one word, for those who do not see the colour. */
export function loadWord(load: Load | null): "unknown" | "idle" | "busy" | "back-pressured" {
  if (load === null) return "unknown";
  const most = Math.max(load.busy, load.idle, load.backPressured);
  return load.idle === most ? "idle" : load.busy === most ? "busy" : "back-pressured";
}

/** Flink's thresholds. */
export function backPressureLevel(ratio: number): "OK" | "LOW" | "HIGH" {
  return ratio <= 0.1 ? "OK" : ratio <= 0.5 ? "LOW" : "HIGH";
}
