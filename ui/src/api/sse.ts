/** Server-sent events out of a text stream. (EventSource cannot send the token's header, so the stream is read by fetch.) */

export interface ServerEvent {
  event: string;
  data: string;
}

export class EventParser {
  private rest = "";
  private event = "";
  private data: string[] = [];

  /** Takes the next piece of text, gives the events that it completes. */
  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    // A carriage return at the end may be the first half of a line end.
    const whole = this.rest + text;
    const held = whole.endsWith("\r") ? "\r" : "";
    const lines = (held ? whole.slice(0, -1) : whole).split(/\r\n|\r|\n/);
    this.rest = (lines.pop() ?? "") + held;
    for (const line of lines) {
      if (line === "") {
        if (this.data.length > 0) events.push({ event: this.event || "message", data: this.data.join("\n") });
        this.event = "";
        this.data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") this.event = value;
      else if (field === "data") this.data.push(value);
    }
    return events;
  }
}
