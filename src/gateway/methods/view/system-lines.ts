import { splitSystemLines } from "../../../base/message-text.ts";
import { isRecord } from "../../../base/records.ts";
import type { ChatEntry } from "../../../protocol/index.ts";
import type { TurnSpan } from "../../../store/index.ts";

/** An entry without the system lines in front of the user's text. On disk both are one text. */
export function withoutSystemLines<Entry extends Pick<ChatEntry, "kind" | "content" | "told">>(entry: Entry): Entry {
  if (entry.kind !== "user") return entry;
  const at = entry.content.findIndex((part) => isRecord(part) && part["type"] === "text");
  const found = entry.content[at];
  const block = isRecord(found) ? found : {};
  const { systemLines, text } = splitSystemLines(typeof block["text"] === "string" ? block["text"] : "");
  if (systemLines.length === 0) return entry;
  return { ...entry, told: [...systemLines], content: text === "" ? entry.content.toSpliced(at, 1) : entry.content.with(at, { ...block, text }) };
}

/** Inputs that the gateway itself gave a session: what they say beside the lines of the system is for the agent only. */
const OWN_KINDS: ReadonlySet<string> = new Set(["exec"]);

export const isOwnKind = (kind: string | null): boolean => kind !== null && OWN_KINDS.has(kind);

/** What began a turn of the gateway's own is no message. */
export function asNote(entry: ChatEntry, { kind }: Pick<TurnSpan, "kind">): ChatEntry {
  return entry.kind === "user" && entry.told !== undefined && isOwnKind(kind) ? { ...entry, kind: "note", content: [] } : entry;
}
