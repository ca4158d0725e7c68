/** Server-sent events, as far as signal-cli uses them. */
import { StringDecoder } from "node:string_decoder";

export interface ServerEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/** Longer events are left out. */
const MAX_EVENT_CHARS = 32 * 1024 * 1024;

/** Takes bytes as they come and hands over whole events. */
export function createEventReader(put: (event: ServerEvent) => void, skipped: () => void, most = MAX_EVENT_CHARS): (chunk: Uint8Array) => void {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  let data: string[] = [];
  let id: string | undefined;
  let size = 0;

  function end(): void {
    if (size > most) skipped();
    else if (data.length > 0) put({ id, data: data.join("\n") });
    [data, id, size] = [[], undefined, 0];
  }
  function take(line: string): void {
    if (line === "") return end();
    const colon = line.indexOf(":");
    if (colon === 0 || size > most) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "data") data.push(value);
    else if (name === "id" && !value.includes("\0")) id = value;
  }

  return (chunk) => {
    const lines = decoder.write(Buffer.from(chunk)).split("\n");
    for (const [index, part] of lines.entries()) {
      size += part.length;
      if (size <= most) parts.push(part);
      if (index === lines.length - 1) break;
      const line = parts.join("").replace(/\r$/, "");
      parts = [];
      take(line);
    }
  };
}
