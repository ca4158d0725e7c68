/** Cuts text into messages: so many characters and so many lines, code blocks closed and opened again at a cut. */

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;

interface Fence {
  /** The line that opens it again. */
  readonly line: string;
  readonly marker: string;
}

/** The block that is open behind this line. */
function fenceAfter(line: string, open: Fence | undefined): Fence | undefined {
  const [, indent = "", marker = "", info = ""] = FENCE.exec(line) ?? [];
  if (marker === "" || (marker.startsWith("`") && info.includes("`"))) return open;
  if (!open) return { line, marker: indent + marker };
  return marker.startsWith(open.marker.trim()) && info.trim() === "" ? undefined : open;
}

/** Where a line that is too long is cut: at a blank, else anywhere but inside of a character. */
function cutAt(line: string, space: number): number {
  const blank = line.lastIndexOf(" ", space);
  if (blank > space / 2) return blank;
  const [before, after] = [line.charCodeAt(space - 1), line.charCodeAt(space)];
  const isPair = before >= 0xd8_00 && before <= 0xdb_ff && after >= 0xdc_00 && after <= 0xdf_ff;
  return Math.max(1, isPair ? space - 1 : space);
}

/** Lines of at most `space` characters. In code no blank is lost. */
function piecesOf(line: string, space: number, isCode: boolean): string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length > space) {
    const at = cutAt(rest, space);
    pieces.push(rest.slice(0, at));
    rest = isCode ? rest.slice(at) : rest.slice(at).trimStart();
  }
  return [...pieces, rest];
}

/** Messages of at most `maxChars` characters and `maxLines` lines, cut at line breaks where that is possible. */
export function chunk(text: string, maxChars: number, maxLines: number): string[] {
  const chunks: string[] = [];
  let fence: Fence | undefined;
  let lines: string[] = [];
  let size = 0;

  function add(line: string): void {
    lines.push(line);
    size += line.length + 1;
  }

  /** Ends the message; a block that is open goes on in the next one. */
  function flush(): void {
    const isEmpty = lines.join("").trim() === "" || (fence !== undefined && lines.length === 1 && lines[0] === fence.line);
    const body = [...lines, ...(fence ? [fence.marker] : [])].join("\n").replace(/^\n+/, "").trimEnd();
    if (!isEmpty) chunks.push(body);
    lines = [];
    size = 0;
    if (fence) add(fence.line);
  }

  for (const written of text.split("\n")) {
    const next = fenceAfter(written, fence);
    const isClosing = fence !== undefined && next === undefined;
    const around = fence ?? next;
    const closing = around && !isClosing ? around.marker.length + 1 : 0;
    const space = maxChars - closing - (fence ? fence.line.length + 1 : 0);
    // The space for a closing line was left free, so that one always fits.
    for (const piece of isClosing ? [fence!.marker] : piecesOf(written, Math.max(1, space), fence !== undefined)) {
      const isFull = size + piece.length + closing > maxChars || lines.length + 1 + (closing > 0 ? 1 : 0) > Math.max(maxLines, 3);
      if (!isClosing && isFull && lines.length > (fence ? 1 : 0)) flush();
      add(piece);
    }
    fence = next;
  }
  const last = lines;
  if (last.join("").trim() !== "") chunks.push([...last, ...(fence ? [fence.marker] : [])].join("\n").replace(/^\n+/, "").trimEnd());
  return chunks;
}
