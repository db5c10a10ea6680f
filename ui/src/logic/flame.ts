/** A flame graph as rectangles: x and width are shares of the whole, row 0 is the root. */

import type { FlameNode } from "../api/types";

export interface Bar {
  key: string;
  name: string;
  row: number;
  x: number;
  width: number;
  value: number;
  node: FlameNode;
}

export function bars(root: FlameNode, narrowest = 0.0008): Bar[] {
  const result: Bar[] = [];
  const whole = Math.max(root.value, 1e-9);
  const visit = (node: FlameNode, row: number, x: number, key: string): void => {
    const width = node.value / whole;
    if (width < narrowest) return;
    result.push({ key, name: node.name, row, x, width, value: node.value, node });
    let next = x;
    (node.children ?? []).forEach((child, index) => {
      visit(child, row + 1, next, `${key}.${index}`);
      next += child.value / whole;
    });
  };
  visit(root, 0, 0, "0");
  return result;
}

/** The way from the root to a node: what a zoomed graph shows above it. */
export function pathTo(root: FlameNode, target: FlameNode): FlameNode[] {
  if (root === target) return [root];
  for (const child of root.children ?? []) {
    const rest = pathTo(child, target);
    if (rest.length > 0) return [root, ...rest];
  }
  return [];
}

/** A warm colour that depends only on the file in "function (file:line)", so that one file has one colour. */
export function flameColour(name: string): string {
  const file = /\(([^:)]+)/.exec(name)?.[1] ?? name;
  let hash = 7;
  for (const character of file) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return `hsl(${8 + (hash % 44)}, ${62 + (hash % 17)}%, ${68 + (hash % 9)}%)`;
}
