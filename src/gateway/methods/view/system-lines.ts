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

/** Inputs that the gateway itself gave a session. */
const OWN_KINDS: ReadonlySet<string> = new Set(["exec", "heartbeat", "cron", "announce"]);
/** Inputs that other programs and agents wrote, and who is named for them. */
const WRITERS: Readonly<Record<string, string>> = { webhook: "A webhook", subagent: "The agent that started this", session: "Another session" };

export const isOwnKind = (kind: string | null): boolean => kind !== null && OWN_KINDS.has(kind);

/** A prompt in the words that people are shown: without marks that are for the agent. */
const SHORTER: readonly (readonly [RegExp, string])[] = [
  [/^\[System Message\] \[sessionId: [^\]\n]*\] /, ""],
  [/^A scheduled reminder (?:is|was) due[^:\n]*:\s+/, "Reminder: "],
  [/^\[cron:[^\s\]]+ ([^\]\n]*)\] /, "$1: "],
];

function promptOf({ content }: ChatEntry): readonly string[] {
  const text = content.flatMap((part) => (isRecord(part) && typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
  return text === "" ? [] : [SHORTER.reduce((shown, [pattern, by]) => shown.replace(pattern, by), text)];
}

/** What began a turn of the gateway's own is no message: where lines of the system led to it these are shown, else what the agent was asked to do. */
export function asNote(entry: ChatEntry, { kind }: Pick<TurnSpan, "kind">): ChatEntry {
  if (entry.kind !== "user" || kind === null) return entry;
  if (isOwnKind(kind)) return { ...entry, kind: "note", content: [], told: [...(entry.told ?? promptOf(entry))] };
  const from = entry.from ?? WRITERS[kind];
  return from === undefined ? entry : { ...entry, from };
}
