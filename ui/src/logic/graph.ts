/** Where the vertices of a job graph stand: layers from left to right, by dagre. */

import dagre from "@dagrejs/dagre";
import type { Plan } from "../api/types";

export const NODE_WIDTH = 236;
export const NODE_HEIGHT = 118;

export interface Point {
  x: number;
  y: number;
}

export interface PlacedNode extends Point {
  id: string;
}

export interface PlacedEdge {
  key: string;
  from: string;
  to: string;
  ship: string;
  points: Point[];
  label: Point;
}

export interface Layout {
  width: number;
  height: number;
  nodes: PlacedNode[];
  edges: PlacedEdge[];
}

/** Positions are top left corners. Inputs that are not part of the plan are left out. */
export function layOut(plan: Plan): Layout {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 26, ranksep: 44, edgesep: 18, marginx: 24, marginy: 24 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = new Set(plan.nodes.map((node) => node.id));
  for (const node of plan.nodes) graph.setNode(node.id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  const edges: { key: string; from: string; to: string; ship: string }[] = [];
  for (const node of plan.nodes) {
    (node.inputs ?? []).forEach((input, index) => {
      if (!ids.has(input.id)) return;
      const key = `${input.id}>${node.id}#${index}`;
      edges.push({ key, from: input.id, to: node.id, ship: input.ship_strategy ?? "" });
      graph.setEdge(input.id, node.id, { width: 64, height: 18, labelpos: "c" }, key);
    });
  }
  dagre.layout(graph);
  const size = graph.graph();
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    nodes: plan.nodes.map((node) => {
      const placed = graph.node(node.id);
      return { id: node.id, x: placed.x - NODE_WIDTH / 2, y: placed.y - NODE_HEIGHT / 2 };
    }),
    edges: edges.map((edge) => {
      const placed = graph.edge({ v: edge.from, w: edge.to, name: edge.key });
      const points = (placed.points ?? []).map((point: Point) => ({ x: point.x, y: point.y }));
      const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
      return { ...edge, points, label: { x: placed.x ?? middle.x, y: placed.y ?? middle.y } };
    }),
  };
}

/** A smooth path through the points. */
export function pathThrough(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  let path = `M${round(first.x)} ${round(first.y)}`;
  let previous = first;
  for (const point of rest) {
    const middle = (previous.x + point.x) / 2;
    path += ` C${round(middle)} ${round(previous.y)} ${round(middle)} ${round(point.y)} ${round(point.x)} ${round(point.y)}`;
    previous = point;
  }
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export interface View {
  x: number;
  y: number;
  scale: number;
}

/** The whole graph in the middle of the frame, never larger than life. */
export function fit(layout: Layout, width: number, height: number): View {
  if (layout.width <= 0 || layout.height <= 0 || width <= 0 || height <= 0) return { x: 0, y: 0, scale: 1 };
  const scale = Math.min(1, width / layout.width, height / layout.height);
  return { scale, x: (width - layout.width * scale) / 2, y: (height - layout.height * scale) / 2 };
}

/** Zoom so that the point under the pointer stays where it is. */
export function zoom(view: View, factor: number, at: Point): View {
  const scale = Math.min(2, Math.max(0.08, view.scale * factor));
  const ratio = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio };
}

/** The vertex to go to from another one by an arrow key. */
export function neighbour(layout: Layout, from: string, key: string): string | null {
  const here = layout.nodes.find((node) => node.id === from);
  if (here === undefined) return null;
  const linked =
    key === "ArrowRight"
      ? layout.edges.filter((edge) => edge.from === from).map((edge) => edge.to)
      : key === "ArrowLeft"
        ? layout.edges.filter((edge) => edge.to === from).map((edge) => edge.from)
        : null;
  const candidates = layout.nodes.filter((node) => {
    if (linked !== null) return linked.includes(node.id);
    if (node.id === from || Math.abs(node.x - here.x) > NODE_WIDTH / 2) return false;
    return key === "ArrowDown" ? node.y > here.y : key === "ArrowUp" && node.y < here.y;
  });
  candidates.sort((left, right) => Math.abs(left.y - here.y) - Math.abs(right.y - here.y));
  return candidates[0]?.id ?? null;
}
