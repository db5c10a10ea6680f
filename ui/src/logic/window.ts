/** Which rows of a long table are drawn. */

export interface Slice {
  first: number;
  last: number;
  before: number;
  after: number;
}

export function visibleRows(total: number, rowHeight: number, scrollTop: number, height: number, spare = 12): Slice {
  const first = Math.min(Math.max(0, Math.floor(scrollTop / rowHeight) - spare), Math.max(0, total - 1));
  const last = Math.min(total, Math.ceil((scrollTop + height) / rowHeight) + spare);
  return { first, last, before: first * rowHeight, after: Math.max(0, (total - last) * rowHeight) };
}
