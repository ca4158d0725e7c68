import { AppError } from "../../../base/errors.ts";
import { splitSystemLines } from "../../../base/message-text.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import type { EntryRow } from "../../../store/index.ts";
import type { MethodDeps } from "../deps.ts";
import { findSession } from "../sessions/keys.ts";
import { entryOf, liveFile, messageOfRow, withoutEnvelope, type Message } from "../sessions/transcripts.ts";

/** Characters of one part: far below what a connection takes at once, whatever they are. */
const PART_CHARS = 1_000_000;

const isText = (block: unknown): block is { readonly text: string } =>
  typeof block === "object" && block !== null && "type" in block && block.type === "text" && "text" in block && typeof block.text === "string";

/** The texts of a message as a page shows them: in blocks, the first one of a user without its envelope and the lines of the system. */
function saidIn({ role, content }: Message): string {
  const blocks: readonly unknown[] = typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
  const texts = blocks.flatMap((block, at) =>
    isText(block) ? [role === "user" && at === 0 ? withoutEnvelope(splitSystemLines(block.text).text) : block.text] : [],
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
  { config, store }: Pick<MethodDeps, "config" | "store">,
): Promise<MethodResult<"chat.entry">> {
  const { session } = await findSession(sessionKey, { config, store });
  const file = session && (await liveFile(store, session));
  const [row] = file === undefined ? [] : await store.read("transcripts.page", { file, after: seq - 1, before: seq + 1, limit: 1 });
  const text = row && textOf(row);
  if (text === undefined) throw new AppError("INVALID_INPUT", `there is no entry with words at position ${seq}; take it from chat.page`);
  const end = endOf(text, from);
  return { text: text.slice(from, end), ...(end < text.length ? { next: end } : {}) };
}
