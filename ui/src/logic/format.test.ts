import { describe, expect, it } from "vitest";
import { ago, bytes, count, duration, percent, plural, watermark, watermarkText } from "./format";

describe("numbers", () => {
  it("are short", () => {
    expect([0, 9999, 12_345, 1_234_567, 5e9, 2e12, 0.12345].map(count)).toEqual(["0", "9999", "12.3 k", "1.23 M", "5 G", "2 T", "0.123"]);
    expect([0, 1023, 1024, 1_048_575, 5 * 2 ** 30].map(bytes)).toEqual(["0 B", "1023 B", "1 KiB", "1 MiB", "5 GiB"]);
    expect(plural(1, "subtask")).toBe("1 subtask");
    expect(plural(2, "vertex", "vertices")).toBe("2 vertices");
  });

  it("say nothing where nothing is known", () => {
    expect([count(null), bytes(undefined), bytes(-1), duration(undefined), percent(NaN)]).toEqual(["–", "–", "–", "–", "–"]);
  });
});

describe("durations", () => {
  it("have one or two units", () => {
    expect([12, 1500, 59_900, 61_000, 3_660_000, 90_000_000].map(duration)).toEqual(["12 ms", "1.5 s", "59.9 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]);
    expect(duration(59_960)).toBe("1 min 0 s");
  });

  it("ago moves in whole seconds, and never lies in the future", () => {
    expect([ago(1000, 1400), ago(1000, 3900), ago(5000, 1000)]).toEqual(["just now", "2 s ago", "just now"]);
  });
});

describe("watermarks", () => {
  it("at both ends of time are words", () => {
    expect(watermark("-9223372036854775808")).toBeNull();
    expect(watermark("9223372036854775807")).toBeNull();
    expect(watermarkText("-9223372036854775808")).toBe("none yet");
    expect(watermarkText("9223372036854775807")).toBe("end of input");
  });

  it("of made-up time stay numbers", () => {
    expect(watermarkText(4200)).toBe("4200");
    expect(watermark(4200)).toBe(4200);
    expect(watermarkText(1_790_000_000_123)).toMatch(/^2026-\d\d-\d\d \d\d:\d\d:\d\d\.123$/);
  });
});
