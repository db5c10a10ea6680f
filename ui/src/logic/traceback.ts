/** A traceback in parts: the user's own lines first, what belongs to the engine folded away. */

export interface Part {
  kind: "text" | "user" | "engine";
  lines: string[];
}

const ENGINE = /[\\/](site-packages|src)[\\/]headrace[\\/]|[\\/](pyspark|py4j|cloudpickle)[\\/]/;

export function partsOf(traceback: string): Part[] {
  const parts: Part[] = [];
  let kind: Part["kind"] = "text";
  for (const line of traceback.split(/\r?\n/)) {
    if (/^\s+File "/.test(line)) kind = ENGINE.test(line) ? "engine" : "user";
    else if (!/^\s/.test(line)) kind = "text";
    const last = parts[parts.length - 1];
    if (last?.kind === kind) last.lines.push(line);
    else parts.push({ kind, lines: [line] });
  }
  return parts;
}

/** What was raised first, as Python says it: "ValueError: no". Empty if the text is no traceback. */
export function raised(traceback: string): string {
  const lines = traceback.split(/\r?\n/);
  return lines.find((line, index) => /^\S/.test(line) && /^\s+\S/.test(lines[index - 1] ?? "")) ?? "";
}
