/** The end of a log, its lines marked by how bad they are. */

export interface LogLine {
  text: string;
  level: "error" | "warning" | "";
}

export function tail(text: string, filter: string, most = 1500): { lines: LogLine[]; left: number } {
  const wanted = filter.toLowerCase();
  let lines = text.replace(/\n$/, "").split("\n");
  if (text === "") lines = [];
  if (wanted !== "") lines = lines.filter((line) => line.toLowerCase().includes(wanted));
  const kept = lines.slice(-most);
  return { lines: kept.map((line) => ({ text: line, level: levelOf(line) })), left: lines.length - kept.length };
}

function levelOf(line: string): LogLine["level"] {
  if (/\b(ERROR|CRITICAL|FATAL)\b|^Traceback \(/.test(line)) return "error";
  return /\bWARN(ING)?\b/.test(line) ? "warning" : "";
}
