import { describe, expect, it } from "vitest";
import { fit, layOut, neighbour, NODE_HEIGHT, NODE_WIDTH, pathThrough, zoom } from "./graph";

const node = (id: string, ...inputs: string[]) => ({ id, parallelism: 1, inputs: inputs.map((input, num) => ({ num, id: input, ship_strategy: "HASH" })) });
const diamond = { nodes: [node("a"), node("b", "a"), node("c", "a"), node("d", "b", "c")] };

describe("the layout", () => {
  it("goes from left to right, and no vertex lies on another", () => {
    const placed = new Map(layOut(diamond).nodes.map((one) => [one.id, one]));
    const [a, b, c, d] = ["a", "b", "c", "d"].map((id) => placed.get(id)!);
    expect(a!.x + NODE_WIDTH).toBeLessThan(b!.x);
    expect(b!.x).toBe(c!.x);
    expect(Math.abs(b!.y - c!.y)).toBeGreaterThanOrEqual(NODE_HEIGHT);
    expect(b!.x + NODE_WIDTH).toBeLessThan(d!.x);
  });

  it("keeps two edges between the same vertices apart, and leaves out inputs from nowhere", () => {
    const layout = layOut({ nodes: [node("a"), node("b", "a", "a", "gone")] });
    expect(layout.edges.map((edge) => edge.key)).toEqual(["a>b#0", "a>b#1"]);
    expect(layout.edges[0]!.label).not.toEqual(layout.edges[1]!.label);
  });

  it("is made within a second for a hundred vertices", () => {
    const nodes = Array.from({ length: 100 }, (_, index) => (index < 5 ? node(`v${index}`) : node(`v${index}`, `v${index - 5}`, `v${index - 3}`)));
    const start = performance.now();
    const layout = layOut({ nodes });
    expect(performance.now() - start).toBeLessThan(1000);
    const places = new Set(layout.nodes.map((one) => `${one.x} ${one.y}`));
    expect(places.size).toBe(100);
  });

  it("of nothing is nothing", () => {
    expect(layOut({ nodes: [] }).nodes).toEqual([]);
    expect(pathThrough([])).toBe("");
  });
});

describe("the view", () => {
  it("fits the whole, and is never larger than life", () => {
    const layout = layOut(diamond);
    expect(fit(layout, layout.width / 2, 10_000).scale).toBeCloseTo(0.5);
    expect(fit(layout, 10_000, 10_000).scale).toBe(1);
  });

  it("zooms around the pointer", () => {
    const before = { x: 10, y: 20, scale: 1 };
    const after = zoom(before, 2, { x: 110, y: 120 });
    expect(after).toEqual({ x: -90, y: -80, scale: 2 });
  });
});

it("arrow keys follow the edges", () => {
  const layout = layOut(diamond);
  expect(["b", "c"]).toContain(neighbour(layout, "a", "ArrowRight"));
  expect(neighbour(layout, "b", "ArrowLeft")).toBe("a");
  const [upper, lower] = layout.nodes.filter((one) => one.id === "b" || one.id === "c").sort((left, right) => left.y - right.y);
  expect(neighbour(layout, upper!.id, "ArrowDown")).toBe(lower!.id);
  expect(neighbour(layout, "d", "ArrowRight")).toBeNull();
});
