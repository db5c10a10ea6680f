import { describe, expect, it } from "vitest";
import { BACK_PRESSURED, backPressureLevel, BUSY, colourOf, IDLE, loadOf, loadWord, UNKNOWN } from "./load";

type Rgb = readonly [number, number, number];
const rgb = (colour: string): Rgb => colour.match(/\d+/g)!.map(Number) as unknown as Rgb;

/** WCAG's contrast of white text. */
function contrastWithWhite(colour: Rgb): number {
  const [red, green, blue] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}

describe("the colour of a vertex", () => {
  it("is blue, red or black where the load is plain", () => {
    expect(rgb(colourOf({ busy: 0, idle: 1, backPressured: 0 }))).toEqual([...IDLE]);
    expect(rgb(colourOf({ busy: 1, idle: 0, backPressured: 0 }))).toEqual([...BUSY]);
    expect(rgb(colourOf({ busy: 0, idle: 0, backPressured: 1 }))).toEqual([...BACK_PRESSURED]);
    expect(rgb(colourOf(null))).toEqual([...UNKNOWN]);
  });

  it("lets white text be read on every mixture", () => {
    for (let busy = 0; busy <= 10; busy += 1) {
      for (let pressed = 0; busy + pressed <= 10; pressed += 1) {
        const load = { busy: busy / 10, backPressured: pressed / 10, idle: (10 - busy - pressed) / 10 };
        expect(contrastWithWhite(rgb(colourOf(load))), JSON.stringify(load)).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
});

describe("a load", () => {
  it("comes from ms per second, of one subtask or of the sum of many", () => {
    expect(loadOf(700, 300, 0)).toEqual({ busy: 0.7, idle: 0.3, backPressured: 0 });
    expect(loadOf(3000, 1000, 0)).toEqual({ busy: 0.75, idle: 0.25, backPressured: 0 });
    expect(loadOf(undefined, null, NaN)).toBeNull();
  });

  it("has a word", () => {
    expect(loadWord(loadOf(900, 100, 0))).toBe("busy");
    expect(loadWord(loadOf(100, 900, 0))).toBe("idle");
    expect(loadWord(loadOf(300, 100, 600))).toBe("back-pressured");
    expect(loadWord(null)).toBe("unknown");
  });

  it("has Flink's levels of back pressure", () => {
    expect([0.1, 0.11, 0.5, 0.51].map(backPressureLevel)).toEqual(["OK", "LOW", "LOW", "HIGH"]);
  });
});
