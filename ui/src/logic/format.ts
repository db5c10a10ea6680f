/** Numbers, times and sizes as short text. Nothing here reads the clock: callers pass "now". */

const NO_WATERMARK = -9223372036854775808;
export const NONE = "–";

export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  const size = Math.abs(value);
  if (size >= 1e12) return trim(value / 1e12) + " T";
  if (size >= 1e9) return trim(value / 1e9) + " G";
  if (size >= 1e6) return trim(value / 1e6) + " M";
  if (size >= 1e4) return trim(value / 1e3) + " k";
  return Number.isInteger(value) ? String(value) : trim(value);
}

export function rate(value: number | null | undefined): string {
  return value === null || value === undefined ? NONE : count(value) + "/s";
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value) || value < 0) return NONE;
  if (value < 1024) return `${Math.round(value)} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
  let size = value;
  let unit = -1;
  do {
    size /= 1024;
    unit += 1;
  } while (size >= 1023.5 && unit < units.length - 1);
  return `${trim(size)} ${units[unit]}`;
}

/** Three significant digits, without needless zeros. */
function trim(value: number): string {
  return String(Number(value.toPrecision(3)));
}

export function duration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined || !Number.isFinite(milliseconds)) return NONE;
  if (milliseconds < 0) return "-" + duration(-milliseconds);
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${trim(milliseconds / 1000)} s`;
  const seconds = Math.round(milliseconds / 1000);
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return `${minutes} min ${seconds % 60} s`;
}

/** How long ago, in steps that do not flicker. */
export function ago(timestamp: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - timestamp) / 1000));
  return seconds < 1 ? "just now" : `${duration(seconds * 1000)} ago`;
}

export function known(timestamp: number | null | undefined): timestamp is number {
  return timestamp !== null && timestamp !== undefined && timestamp > 0;
}

/** A point of time in the reader's own zone: 2026-11-16 04:50:52. */
export function dateTime(timestamp: number | null | undefined): string {
  if (!known(timestamp)) return NONE;
  const date = new Date(timestamp);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clockTime(timestamp)}`;
}

export function clockTime(timestamp: number): string {
  const date = new Date(timestamp);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

export function percent(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return NONE;
  return `${Math.round(ratio * 100)} %`;
}

/** A watermark that says something; null for "none yet" and for "the end of time". */
export function watermark(value: number | string | null | undefined): number | null {
  if (value === null || value === undefined || value === "") return null;
  const number = Number(value);
  return Number.isNaN(number) || number <= NO_WATERMARK / 2 || number >= -NO_WATERMARK / 2 ? null : number;
}

export function watermarkText(value: number | string | null | undefined): string {
  if (value === null || value === undefined || value === "") return NONE;
  const number = Number(value);
  if (Number.isNaN(number)) return NONE;
  if (number <= NO_WATERMARK / 2) return "none yet";
  if (number >= -NO_WATERMARK / 2) return "end of input";
  // A watermark near zero belongs to made-up time (a test, a counter), where a date would mislead.
  return Math.abs(number) < 1e11 ? String(number) : `${dateTime(number)}.${String(Math.abs(number) % 1000).padStart(3, "0")}`;
}

/** "1 failed task", "2 failed tasks". */
export function plural(amount: number, noun: string, many = noun + "s"): string {
  return `${count(amount)} ${amount === 1 ? noun : many}`;
}
