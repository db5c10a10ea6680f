/** A line of arguments as a shell would take it apart: spaces separate, quotes hold together, a backslash escapes. */
export function splitArguments(line: string): string[] {
  const result: string[] = [];
  let word = "";
  let started = false;
  let quote = "";
  for (let index = 0; index < line.length; index += 1) {
    const character = line[index] ?? "";
    if (character === "\\" && quote !== "'" && index + 1 < line.length) {
      index += 1;
      word += line[index];
      started = true;
    } else if (quote !== "") {
      if (character === quote) quote = "";
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      started = true;
    } else if (/\s/.test(character)) {
      if (started) result.push(word);
      word = "";
      started = false;
    } else {
      word += character;
      started = true;
    }
  }
  if (quote !== "") throw new Error(`a quote (${quote}) is not closed`);
  if (started) result.push(word);
  return result;
}
