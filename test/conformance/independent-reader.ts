/**
 * A reader of session files, written from the description of format 3 alone: it imports nothing of the product, so that what it makes of a file says
 * whether others can read it too.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: unknown;
}

export interface ReadMessage {
  readonly role: string;
  readonly content: string | readonly Block[];
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly isError?: boolean;
  readonly stopReason?: string;
  readonly model?: string;
}

export interface Line {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
  readonly message?: ReadMessage;
  readonly summary?: string;
  readonly firstKeptEntryId?: string;
  readonly content?: string | readonly Block[];
}

export interface SessionFile {
  readonly header: Readonly<Record<string, unknown>>;
  readonly lines: readonly Line[];
  /** From the root to the leaf, which is the last line. */
  readonly branch: readonly Line[];
}

/** One JSON object a line; headers may come again; the rest is a tree by `parentId`. */
export function readSessionFile(path: string): SessionFile {
  const all = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Line & Readonly<Record<string, unknown>>);
  const [header] = all;
  if (header?.type !== "session") throw new Error(`${path} does not begin with a header`);
  const lines = all.filter(({ type }) => type !== "session");
  const byId = new Map(lines.map((line) => [line.id, line]));
  const branch: Line[] = [];
  for (let line: Line | undefined = lines.at(-1); line; line = line.parentId === null ? undefined : byId.get(line.parentId)) branch.unshift(line);
  return { header, lines, branch };
}

/** What is in a model's context: the last summary, what it kept, and what came after it. */
export function contextOf({ branch }: SessionFile): readonly Line[] {
  const cut = branch.findLastIndex(({ type }) => type === "compaction");
  if (cut < 0) return branch;
  const from = branch.findIndex(({ id }) => id === branch[cut]!.firstKeptEntryId);
  return [branch[cut]!, ...(from < 0 ? [] : branch.slice(from, cut)), ...branch.slice(cut + 1)];
}

const blocksOf = (content: string | readonly Block[]): readonly Block[] => (typeof content === "string" ? [{ type: "text", text: content }] : content);

/** A line in words: who says what, which calls are made, which result belongs to which call. Lines that no model sees say nothing. */
export function spoken(line: Line): readonly string[] {
  if (line.type === "compaction" || line.type === "branch_summary") return [`summary: ${line.summary}`];
  if (line.type === "custom_message") return blocksOf(line.content!).map(({ text }) => `user: ${text}`);
  if (line.type !== "message") return [];
  const { role, content, toolCallId } = line.message!;
  const who = role === "toolResult" ? `result of ${toolCallId}` : role;
  return blocksOf(content).flatMap((block) => {
    if (block.type === "toolCall") return [`call ${block.id}: ${block.name} ${JSON.stringify(block.arguments)}`];
    return block.type === "text" ? [`${who}: ${block.text}`] : [];
  });
}

/** The file of a session in use; undefined when there is none. */
export function fileOf(folder: string, sessionId: string): string | undefined {
  const path = join(folder, `${sessionId}.jsonl`);
  return existsSync(path) ? path : undefined;
}

/** Files that were put away by a reset. */
export function resetFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => /\.jsonl\.reset\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/.test(name))
    .map((name) => join(folder, name));
}
