/** What uPlot is told about a plot. */

import uPlot from "uplot";
import { clockTime } from "../logic/format";

export interface Line {
  label: string;
  values: readonly (number | null)[];
  /** A token of app.css, such as --busy. */
  colour: string;
  kind?: "line" | "bars" | "points";
  /** Measured on the axis at the right. */
  second?: boolean;
}

/** Steps of the time axis: no fractions of seconds, which the labels do not show. */
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];

type Show = (value: number) => string;

const fromZero = (_: uPlot, __: number, max: number): [number, number] => [0, max > 0 ? max * 1.12 : 1];

export function plotOptions(
  lines: readonly Line[],
  size: { width: number; height: number },
  token: (name: string) => string,
  show: Show,
  showSecond: Show,
): uPlot.Options {
  const rule = { stroke: token("--line"), width: 1 };
  const axis = { stroke: token("--muted"), grid: rule, ticks: rule, font: "11px Inter, sans-serif" };
  const texts = (one: Show) => (_: uPlot, splits: number[]) => splits.map((split) => one(split));
  const axes: uPlot.Axis[] = [
    { ...axis, size: 30, space: 90, incrs: SECONDS, values: texts((seconds) => clockTime(seconds * 1000)) },
    { ...axis, size: 64, values: texts(show) },
  ];
  const second = lines.some((line) => line.second);
  if (second) axes.push({ ...axis, scale: "z", side: 1, size: 68, grid: { show: false }, values: texts(showSecond) });
  return {
    ...size,
    padding: [10, second ? 0 : 14, 0, 0],
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: fromZero }, z: { range: fromZero } },
    axes,
    series: [{ value: (_, time) => (time === null ? "–" : clockTime(time * 1000)) }, ...lines.map(seriesOf)],
  };

  function seriesOf(line: Line): uPlot.Series {
    const colour = token(line.colour);
    const format = line.second ? showSecond : show;
    return {
      label: line.label,
      scale: line.second ? "z" : "y",
      stroke: colour,
      width: line.kind === "points" ? 0 : 1.6,
      spanGaps: true,
      points: { show: line.kind === "bars" ? false : line.kind === "points" ? true : undefined, size: 6, fill: colour },
      ...(line.kind === "bars" ? { fill: colour, paths: uPlot.paths.bars?.({ size: [0.6, 26] }) } : {}),
      value: (_, value: number | null) => (value === null ? "–" : format(value)),
    };
  }
}
