import { describe, expect, it } from "vitest";
import { EventParser } from "../api/sse";
import { splitArguments } from "./arguments";
import { bars, pathTo } from "./flame";
import { History } from "./history";
import { tail } from "./log";
import { jobLink, parseRoute } from "./route";
import { spansOf, ticks } from "./timeline";
import { partsOf, raised } from "./traceback";
import { visibleRows } from "./window";

describe("routes", () => {
  it("come back from their links", () => {
    expect(parseRoute(jobLink("j1", "graph", "v/1", "metrics"))).toEqual({ page: "job", job: "j1", tab: "graph", vertex: "v/1", vertexTab: "metrics" });
    expect(parseRoute(jobLink("j1", "checkpoints"))).toMatchObject({ tab: "checkpoints", vertex: null });
    expect(parseRoute("")).toEqual({ page: "overview" });
  });

  it("that are broken lead to no crash", () => {
    expect(parseRoute("#/jobs/%E0%A4%A").page).toBe("job");
    expect(parseRoute("#/nonsense/x").page).toBe("unknown");
    expect(parseRoute("#/jobs/j/nonsense")).toMatchObject({ tab: "graph" });
  });
});

describe("server-sent events", () => {
  it("are put together from any pieces", () => {
    const text = "event: job\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n: still here\n\ndata: x\n\n";
    for (let cut = 1; cut < 8; cut += 1) {
      const parser = new EventParser();
      const events = [];
      for (let at = 0; at < text.length; at += cut) events.push(...parser.push(text.slice(at, at + cut)));
      expect(events).toEqual([
        { event: "job", data: '{"a":\n1}' },
        { event: "message", data: "x" },
      ]);
    }
  });
});

describe("arguments", () => {
  it("are taken apart as by a shell", () => {
    expect(splitArguments(`--in /a\\ b --name 'two words' "x \\"y\\"" ''`)).toEqual(["--in", "/a b", "--name", "two words", 'x "y"', ""]);
    expect(splitArguments("   ")).toEqual([]);
    expect(() => splitArguments("'open")).toThrow("not closed");
  });
});

describe("long tables", () => {
  it("draw what is in sight and some more", () => {
    expect(visibleRows(200, 30, 3000, 300, 5)).toEqual({ first: 95, last: 115, before: 2850, after: 2550 });
    expect(visibleRows(3, 30, 0, 300)).toEqual({ first: 0, last: 3, before: 0, after: 0 });
    expect(visibleRows(0, 30, 0, 300)).toEqual({ first: 0, last: 0, before: 0, after: 0 });
  });

  it("that became shorter than they were scrolled still draw a row", () => {
    expect(visibleRows(2, 30, 3000, 300).first).toBeLessThan(2);
  });
});

describe("flame graphs", () => {
  const leaf = { name: "c", value: 5 };
  const root = { name: "root", value: 20, children: [{ name: "a", value: 10, children: [leaf] }, { name: "b", value: 4 }] };

  it("share the width by samples", () => {
    expect(bars(root).map((bar) => [bar.name, bar.row, bar.x, bar.width])).toEqual([
      ["root", 0, 0, 1],
      ["a", 1, 0, 0.5],
      ["c", 2, 0, 0.25],
      ["b", 1, 0.5, 0.2],
    ]);
  });

  it("know the way to a frame", () => {
    expect(pathTo(root, leaf).map((one) => one.name)).toEqual(["root", "a", "c"]);
    expect(pathTo(root, { name: "c", value: 5 })).toEqual([]);
  });
});

it("histories are bounded, keep their series of one length, and know no steps back in time", () => {
  const history = new History(3);
  for (const time of [1, 2, 2, 3, 4]) history.add(time, { a: time, ...(time > 2 ? { b: time } : {}) });
  expect(history.times).toEqual([2, 3, 4]);
  expect(history.series("a")).toEqual([2, 3, 4]);
  expect(history.series("b")).toEqual([null, 3, 4]);
});

it("logs are cut at the front", () => {
  const { lines, left } = tail("INFO a\nWARNING b\nERROR c\n", "", 2);
  expect(left).toBe(1);
  expect(lines).toEqual([{ text: "WARNING b", level: "warning" }, { text: "ERROR c", level: "error" }]);
  expect(tail("x\ny\n", "Y").lines).toEqual([{ text: "y", level: "" }]);
  expect(tail("", "").lines).toEqual([]);
});

it("timelines have a span for each state that lasted", () => {
  expect(spansOf({ CREATED: 10, RUNNING: 20, FAILED: 0 }, 50)).toEqual([
    { state: "CREATED", start: 10, end: 20 },
    { state: "RUNNING", start: 20, end: 50 },
  ]);
  expect(ticks(500, 10_500, 5)).toEqual([2000, 4000, 6000, 8000, 10_000]);
});

it("tracebacks are told apart into the user's lines and the engine's", () => {
  const text = [
    "Traceback (most recent call last):",
    '  File "/x/site-packages/headrace/operators/stateless.py", line 4, in process',
    "    f(x)",
    '  File "/home/me/job.py", line 9, in f',
    "    int(x)",
    "ValueError: no",
  ].join("\n");
  expect(partsOf(text).map((part) => [part.kind, part.lines.length])).toEqual([["text", 1], ["engine", 2], ["user", 2], ["text", 1]]);
  expect(raised(text)).toBe("ValueError: no");
  expect(raised("lost connection")).toBe("");
});
