import { AppError } from "../../../base/errors.ts";
import { filesOf, ownText, splitSystemLines } from "../../../base/message-text.ts";
import { storedName } from "../../../base/user-text.ts";
import { shownAnswer, type ImageContent, type MethodParams, type MethodResult } from "../../../protocol/index.ts";
import type { EntryRow } from "../../../store/index.ts";
import type { MethodDeps } from "../deps.ts";
import { findSession } from "../sessions/keys.ts";
import { entryOf, messageOfRow, rowAt, type Message } from "../sessions/transcripts.ts";

/** Characters of one part: far below what a connection takes at once, whatever they are. */
const PART_CHARS = 1_000_000;

const isText = (block: unknown): block is { readonly text: string } =>
  typeof block === "object" && block !== null && "type" in block && block.type === "text" && "text" in block && typeof block.text === "string";

/** The texts of a message as a page shows them: in blocks, the first one of a user without its envelope and the lines of the system. */
function saidIn(message: Message): string {
  const { role, content } = message;
  const blocks: readonly unknown[] = typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
  const texts = blocks.flatMap((block, at) =>
    isText(block) ? [role === "user" && at === 0 ? ownText(splitSystemLines(block.text).text, message) : block.text] : [],
  );
  return texts.join("\n\n");
}

function textOf(row: EntryRow): string | undefined {
  const message = messageOfRow(row);
  if (message) return saidIn(message);
  const entry = entryOf(row);
  if (entry?.["type"] === "custom_message" && entry["display"] !== false) return saidIn({ role: "system", content: entry["content"] });
  const summary = entry?.["summary"];
  return typeof summary === "string" ? summary : undefined;
}

/** Cuts between characters: a pair of surrogates stays together. */
function endOf(text: string, from: number): number {
  const end = Math.min(text.length, from + PART_CHARS);
  const last = text.charCodeAt(end - 1);
  return end < text.length && last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}

/** All that an entry says, in parts. */
export async function chatEntry(
  { sessionKey, seq, from = 0 }: MethodParams<"chat.entry">,
  deps: Pick<MethodDeps, "config" | "store">,
): Promise<MethodResult<"chat.entry">> {
  const { row } = await rowAt({ sessionKey, seq }, deps);
  const text = row && textOf(row);
  if (text === undefined) throw new AppError("INVALID_INPUT", `no entry with text at position ${seq}; use a position from chat.page`);
  const end = endOf(text, from);
  return { text: text.slice(from, end), ...(end < text.length ? { next: end } : {}) };
}

/** Reads a file as a channel would get it: all of it, or its beginning. */
export type SentFilePort = (
  agentId: string,
  target: string,
  maxBytes?: number,
) => Promise<{ readonly name: string; readonly mimeType: string; readonly bytes: number; readonly data: Buffer }>;

type FileDeps = Pick<MethodDeps, "config" | "store"> & { readonly sentFile: SentFilePort };

/** A file of a message or an answer: what the transcript does not name cannot be asked for. */
export async function chatFile({ sessionKey, seq, index, maxBytes }: MethodParams<"chat.file">, deps: FileDeps): Promise<MethodResult<"chat.file">> {
  const { row, session } = await rowAt({ sessionKey, seq }, deps);
  const message = row && messageOfRow(row);
  const stored = message && filesOf(message)[index];
  const target = stored?.path ?? (message?.role === "assistant" ? shownAnswer(saidIn(message)).files[index] : undefined);
  if (!session || target === undefined || /^https?:/i.test(target))
    throw new AppError("INVALID_INPUT", `no file at line ${index} of entry ${seq}; use values from chat.page`);
  const { name, mimeType, bytes, data } = await deps.sentFile(session.agentId, target, maxBytes).catch((error: unknown) => {
    if (!stored || !(error instanceof AppError) || error.code !== "NOT_FOUND") throw error;
    throw new AppError("NOT_FOUND", `${stored.name} is no longer stored on the gateway`, { cause: error });
  });
  return { name: stored?.name ?? name, mimeType, bytes, data: data.toString("base64") };
}

/** What a client's message holds, as it is stored. */
interface StoredRequest {
  readonly images?: readonly ImageContent[];
  readonly files?: readonly { readonly path: string; readonly mimeType: string }[];
}

const ENDINGS: Readonly<Record<string, string>> = { "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp" };

/** A message that is queued, with its files. */
export async function chatQueued({ sessionKey, runId }: MethodParams<"chat.queued">, deps: FileDeps): Promise<MethodResult<"chat.queued">> {
  const { key, session } = await findSession(sessionKey, deps);
  const rows = await deps.store.read("inbox.find", { messageId: runId, channel: "gateway" });
  const row = rows.find((one) => one.sessionKey === key && one.state !== "settled");
  if (!row) throw new AppError("NOT_FOUND", "this message is no longer queued; reload the conversation");
  const { images = [], files = [] } = (row.payload ?? {}) as StoredRequest;
  const agentId = row.agentId ?? session?.agentId ?? "main";
  const read = await Promise.all(files.map(async ({ path }) => ({ ...(await deps.sentFile(agentId, path)), name: storedName(path) })));
  return {
    text: row.text,
    attachments: [
      ...images.map(({ mimeType, data }, at) => ({
        type: "image" as const,
        mimeType,
        fileName: `picture-${at + 1}.${ENDINGS[mimeType] ?? "img"}`,
        content: data,
      })),
      ...read.map(({ name, mimeType, data }) => ({ type: "file" as const, mimeType, fileName: name, content: data.toString("base64") })),
    ],
  };
}
