import { isContext, shownText, type MessageText } from "../../base/message-text.ts";
import { isRecord } from "../../base/records.ts";
import { parseTranscriptLine } from "../../protocol/index.ts";
import type { ConversationRow, Inspection } from "../../store/index.ts";
import { parsePassages } from "../injected.ts";
import type { Steps } from "./sync-notes.ts";

export interface RecalledPassage {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly score: number;
  readonly source: string;
  readonly snippet: string;
}

/** What a model was given in a turn: an answer of `memory_search`, or passages that came with the message. */
export interface Recall {
  readonly at?: string;
  readonly sessionKey?: string;
  readonly sessionId: string;
  readonly entryId: string;
  /** How the message begins that the turn answered. */
  readonly asked?: string;
  readonly query: string;
  /** They came with the message, by `memorySearch.recall: "inject"`. */
  readonly automatic?: boolean;
  readonly results: readonly RecalledPassage[];
}

/** Lines looked at in one conversation, from its end on, and conversations looked at, from the newest on. */
const TAIL = 2000;
const CONVERSATIONS = 500;
const LISTED = 2000;
const TOOL = "memory_search";
const ASKED = 200;
/** A block of quoted text from memory, as the tools mark it. */
const MARKED = /<<<EXTERNAL_UNTRUSTED_CONTENT id="\w+">>>\nSource: Memory Search\n---\n([\s\S]*?)\n<<<END_EXTERNAL_UNTRUSTED_CONTENT/g;

function passagesOf(details: unknown): readonly RecalledPassage[] {
  const results = isRecord(details) ? details["results"] : undefined;
  if (!Array.isArray(results)) return [];
  return results.flatMap((result): RecalledPassage[] => {
    if (!isRecord(result)) return [];
    const { path, startLine, endLine, score, source, snippet } = result;
    if (typeof path !== "string" || typeof startLine !== "number" || typeof endLine !== "number") return [];
    return [
      {
        path,
        startLine,
        endLine,
        score: typeof score === "number" ? score : 0,
        source: typeof source === "string" ? source : "memory",
        snippet: typeof snippet === "string" ? snippet : "",
      },
    ];
  });
}

/** Passages that were added to a person's message for the model. */
function injectedIn(content: unknown): readonly RecalledPassage[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    const text = isContext(part) && isRecord(part) ? part["text"] : undefined;
    return typeof text === "string" ? [...text.matchAll(MARKED)].flatMap(([, block = ""]) => parsePassages(block)) : [];
  });
}

function* recallsIn(store: Inspection, { file, sessionId, sessionKey }: ConversationRow): Generator<Recall> {
  const queries = new Map<string, string>();
  let asked: string | undefined;
  for (const row of store.read("transcripts.tail", { file, limit: TAIL })) {
    const line = row.type === "message" ? parseTranscriptLine(row.line) : undefined;
    const entry = line?.kind === "entry" ? line.entry : undefined;
    const message = entry?.["message"];
    if (!isRecord(message)) continue;
    const facts = { ...(typeof entry?.timestamp === "string" ? { at: entry.timestamp } : {}), ...(sessionKey === null ? {} : { sessionKey }), sessionId };
    if (message["role"] === "user") {
      asked = shownText(message satisfies MessageText)
        .slice(0, ASKED)
        .toWellFormed();
      const results = injectedIn(message["content"]);
      if (results.length > 0 && row.id !== null) yield { ...facts, entryId: row.id, asked, query: asked, automatic: true, results };
    }
    if (Array.isArray(message["content"])) {
      for (const part of message["content"] as readonly unknown[]) {
        if (!isRecord(part) || part["name"] !== TOOL || typeof part["id"] !== "string") continue;
        const query = isRecord(part["arguments"]) ? part["arguments"]["query"] : undefined;
        if (typeof query === "string") queries.set(part["id"], query);
      }
    }
    if (message["toolName"] !== TOOL || row.id === null) continue;
    const results = passagesOf(message["details"]);
    if (results.length === 0) continue;
    yield {
      ...facts,
      entryId: row.id,
      ...(asked === undefined ? {} : { asked }),
      query: queries.get(String(message["toolCallId"])) ?? "",
      results,
    };
  }
}

/** What models were given of the memory, newest first. The transcripts are the record: what is removed from them is gone here, too. */
export function* findRecalls(store: Inspection, agentId: string, limit: number): Steps<readonly Recall[]> {
  const conversations: ConversationRow[] = [];
  for (let after = 0; ;) {
    const page: readonly ConversationRow[] = store.read("transcripts.conversations", { agentId, after, limit: LISTED });
    conversations.push(...page.filter(({ file }) => !file.includes(".deleted.")));
    const last = page.at(-1);
    if (!last || page.length < LISTED) break;
    after = last.n;
    yield;
  }
  const recalls: Recall[] = [];
  for (const conversation of conversations.toReversed().slice(0, CONVERSATIONS)) {
    recalls.push(...recallsIn(store, conversation));
    yield;
  }
  return recalls.toSorted((a, b) => (b.at ?? "").localeCompare(a.at ?? "")).slice(0, limit);
}
