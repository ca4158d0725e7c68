import { AppError } from "../../../base/errors.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import type { EntryRow, SessionRow, Store, TranscriptRow } from "../../../store/index.ts";
import type { MethodDeps } from "../deps.ts";
import { findSession } from "../sessions/keys.ts";
import { liveTranscripts } from "../sessions/transcripts.ts";
import { entryHtml, HTML_END, htmlHead } from "./html.ts";
import { entryMarkdown, titleMarkdown } from "./markdown.ts";
import { openStretch, type Stretch } from "./stretch.ts";

type Deps = Pick<MethodDeps, "config" | "store">;
type Part = MethodResult<"sessions.export">;

/** Bytes of one part. */
const PART_BYTES = 1_000_000;
/** Characters of one piece of a line that is longer than a part: no more bytes than a part has, whatever they are. */
const PIECE_CHARS = 330_000;
/** Pieces that one line may have: `next` counts lines and pieces in one number. */
const MOST_PIECES = 4096;
const MOST_ROWS = 500;
/** Bytes of one read, so that long lines do not all come at once. */
const READ_BYTES = 512 * 1024;

/** Where a part begins: after a line, or within the one that follows it. */
interface Place {
  readonly after: number;
  readonly piece: number;
}

/** `after` is -1 before the header. */
const positionOf = (next: number | undefined): Place =>
  next === undefined ? { after: -1, piece: 0 } : { after: Math.floor(next / MOST_PIECES) - 1, piece: next % MOST_PIECES };
const nextOf = ({ after, piece }: Place): number => (after + 1) * MOST_PIECES + piece;

/** Lines after a place, as many as a read should bring. Calls go on where the one before ended. */
type ReadRows = (after: number, size: number) => Promise<readonly EntryRow[]>;

/** Where a piece of a line begins: never between the halves of a character. */
function startOf(line: string, piece: number): number {
  const at = piece * PIECE_CHARS;
  return at > 0 && (line.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}

/** Texts of lines until a part is full. A line that is longer than a part is cut into pieces. */
async function part(read: ReadRows, text: (row: EntryRow) => string, begin: Place, size: number): Promise<Pick<Part, "text" | "next">> {
  let { after, piece } = begin;
  const texts: string[] = [];
  let bytes = 0;
  for (;;) {
    const rows = await read(after, size);
    if (rows.length === 0) return { text: texts.join("") };
    for (const row of rows) {
      const whole = text(row);
      const rest = whole.slice(startOf(whole, piece));
      const length = Buffer.byteLength(rest);
      if (bytes > 0 && bytes + length > PART_BYTES) return { text: texts.join(""), next: nextOf({ after, piece }) };
      if (length > PART_BYTES) return { text: whole.slice(startOf(whole, piece), startOf(whole, piece + 1)), next: nextOf({ after, piece: piece + 1 }) };
      texts.push(rest);
      bytes += length;
      after = row.seq;
      piece = 0;
    }
  }
}

/** Lines of the branch in use, after a place. */
function branchRows(store: Pick<Store, "read">, transcript: TranscriptRow): ReadRows {
  let stretch: Stretch | undefined;
  return (after, size) => (stretch ??= openStretch(store, transcript, { after: Math.max(after, 0) })).next(size);
}

const nameOf = (key: string, sessionId: string, ending: string): string =>
  `${key.replaceAll(/[^\w.-]+/g, "-").slice(0, 80)}-${sessionId.slice(0, 8)}.${ending}`;

function missing(key: string): AppError {
  return new AppError("NOT_FOUND", `there is nothing to export: ${key} has no transcript`);
}

async function open(written: string, deps: Deps): Promise<{ readonly session: SessionRow; readonly transcript: TranscriptRow }> {
  const { key, session } = await findSession(written, deps);
  const [transcript] = session ? await liveTranscripts(deps.store, session) : [];
  if (!session || !transcript) throw missing(key);
  return { session, transcript };
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** A line as an element of a list. One that is damaged is a text. */
const entryJson = ({ seq, line }: EntryRow): string => `${seq === 0 ? "" : ","}\n${isJson(line) ? line : JSON.stringify(line)}`;

/** A transcript in parts: its lines as they are stored, or the conversation for people. */
export async function exportSession({ key, format = "jsonl", after }: MethodParams<"sessions.export">, deps: Deps): Promise<Part> {
  const { store } = deps;
  const { session, transcript } = await open(key, deps);
  const { file, bytes, lines } = transcript;
  const { sessionId } = session.entry;
  const size = Math.min(MOST_ROWS, Math.max(2, Math.ceil((PART_BYTES * lines) / bytes)));
  const place = positionOf(after);
  const read: ReadRows = (from, limit) => store.read("transcripts.page", { file, after: from, limit, bytes: READ_BYTES });
  if (format === "jsonl") {
    return { name: nameOf(session.key, sessionId, "jsonl"), mimeType: "application/x-ndjson", ...(await part(read, ({ line }) => `${line}\n`, place, size)) };
  }
  if (format === "json") {
    const rows = await part(read, entryJson, place, size);
    const head = after === undefined ? `{"sessionKey":${JSON.stringify(session.key)},"sessionId":${JSON.stringify(sessionId)},"entries":[` : "";
    return {
      name: nameOf(session.key, sessionId, "json"),
      mimeType: "application/json",
      ...rows,
      text: `${head}${rows.text}${rows.next === undefined ? "\n]}\n" : ""}`,
    };
  }
  if (format === "html") {
    const page = await part(branchRows(store, transcript), entryHtml, place, size);
    const text = `${after === undefined ? htmlHead(session) : ""}${page.text}${page.next === undefined ? HTML_END : ""}`;
    return { name: nameOf(session.key, sessionId, "html"), mimeType: "text/html", ...page, text };
  }
  const written = await part(branchRows(store, transcript), entryMarkdown, place, size);
  const title = after === undefined ? titleMarkdown(session) : "";
  return { name: nameOf(session.key, sessionId, "md"), mimeType: "text/markdown", ...written, text: title + written.text };
}
