import type { Ids } from "../base/ids.ts";
import { isRecord } from "../base/records.ts";
import {
  parseTranscriptLine,
  type AssistantMessage,
  type ModelMessage,
  type ThinkingLevel,
  type TranscriptEntry,
  type TranscriptHeader,
  type Usage,
} from "../protocol/index.ts";
import type { EntryInput, EntryRow } from "../store/index.ts";

/** Where a line hangs and when it was made. */
export interface EntryPosition {
  readonly ids: Pick<Ids, "hex">;
  /** Null: a root. */
  readonly parentId: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A line ready for `transcripts.append`; its id is what the next one hangs below. */
export interface NewEntry extends EntryInput {
  readonly id: string;
  readonly parentId: string | null;
  readonly at: number;
}

const FORMAT = 3;

function entry(type: string, { ids, parentId, at }: EntryPosition, fields: object): NewEntry {
  const id = ids.hex(4);
  return { id, parentId, type, at, line: JSON.stringify({ type, id, parentId, timestamp: new Date(at).toISOString(), ...fields }) };
}

export interface HeaderFields {
  readonly sessionId: string;
  readonly at: number;
  readonly cwd?: string | undefined;
  /** Path of the transcript this one was forked from. */
  readonly parentSession?: string | undefined;
}

/** The first line of a transcript. */
export function headerLine({ sessionId, at, cwd, parentSession }: HeaderFields): string {
  return JSON.stringify({ type: "session", version: FORMAT, id: sessionId, timestamp: new Date(at).toISOString(), cwd, parentSession });
}

/** What a message may carry besides what a model sees. */
export interface MessageExtras {
  /** Set on prompts that another session sent. */
  readonly provenance?: Provenance | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly openclawAbort?: { readonly aborted: true; readonly origin: string; readonly runId: string } | undefined;
  /** On an answer that plugins changed or cancelled before a client was shown it: what the client was shown; empty when that is nothing. */
  readonly openclawShown?: string | undefined;
  /** On a user's message that looks as if parts of it were not theirs: people are shown all of it. */
  readonly openclawVerbatim?: true | undefined;
}

export interface Provenance {
  readonly kind: "inter_session";
  readonly sourceSessionKey?: string | undefined;
  readonly sourceChannel?: string | undefined;
  readonly sourceTool?: string | undefined;
}

/** Longest text of a tool result that is stored. */
export const STORED_RESULT_CHARS = 400_000;

/** A message of a person, the model or a tool. A tool's result is cut to what is stored at most. */
export function messageEntry(position: EntryPosition, message: ModelMessage & MessageExtras): NewEntry {
  return entry("message", position, { message: message.role === "toolResult" ? { ...message, content: cutContent(message.content) } : message });
}

type ResultContent = Extract<ModelMessage, { role: "toolResult" }>["content"];

function cutContent(content: ResultContent): ResultContent {
  const total = content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
  if (total <= STORED_RESULT_CHARS) return content;
  let left = STORED_RESULT_CHARS;
  const shortened = content.map((part) => {
    if (part.type !== "text") return part;
    const text = part.text.slice(0, left).toWellFormed();
    left -= text.length;
    return { ...part, text };
  });
  return [...shortened.filter((part) => part.type !== "text" || part.text !== ""), { type: "text", text: `[cut when stored: ${total} characters in total]` }];
}

export function modelChangeEntry(position: EntryPosition, provider: string, modelId: string): NewEntry {
  return entry("model_change", position, { provider, modelId });
}

export function thinkingLevelEntry(position: EntryPosition, thinkingLevel: ThinkingLevel): NewEntry {
  return entry("thinking_level_change", position, { thinkingLevel });
}

export interface CompactionFields {
  readonly summary: string;
  /** The first entry that the model still sees word for word. */
  readonly firstKeptEntryId: string;
  readonly tokensBefore: number;
  /** By default `{readFiles, modifiedFiles}`. */
  readonly details?: unknown;
  /** A hook made the summary. */
  readonly fromHook?: boolean | undefined;
}

export function compactionEntry(position: EntryPosition, { summary, firstKeptEntryId, tokensBefore, details, fromHook }: CompactionFields): NewEntry {
  return entry("compaction", position, { summary, firstKeptEntryId, tokensBefore, details, fromHook });
}

export function branchSummaryEntry(
  position: EntryPosition,
  { fromId, summary, details, fromHook }: { readonly fromId: string; readonly summary: string; readonly details?: unknown; readonly fromHook?: boolean },
): NewEntry {
  return entry("branch_summary", position, { fromId, summary, details, fromHook });
}

/** A fact for programs; a model never sees it. */
export function customEntry(position: EntryPosition, customType: string, data?: unknown): NewEntry {
  return entry("custom", position, { customType, data });
}

/** Text for the model that no one wrote; it reads it as the user's. */
export function customMessageEntry(
  position: EntryPosition,
  fields: {
    readonly customType: string;
    readonly content: Extract<ModelMessage, { role: "user" }>["content"];
    readonly display: boolean;
    readonly details?: unknown;
  },
): NewEntry {
  const { customType, content, display, details } = fields;
  return entry("custom_message", position, { customType, content, display, details });
}

export function labelEntry(position: EntryPosition, targetId: string, label: string | undefined): NewEntry {
  return entry("label", position, { targetId, label });
}

export function sessionInfoEntry(position: EntryPosition, name: string | undefined): NewEntry {
  return entry("session_info", position, { name });
}

/** `customType`s that programs read. */
export const CUSTOM = {
  modelSnapshot: "model-snapshot",
  cacheTouch: "openclaw.cache-ttl",
  googleBootstrap: "google-turn-ordering-bootstrap",
  promptError: "openclaw:prompt-error",
  resultsCut: "openclaw:results-cut",
  imagesLeftOut: "openclaw:images-left-out",
  branch: "openclaw:branch",
} as const;

/** The model of a run; written at the first one and whenever it differs from the last snapshot. */
export function modelSnapshotEntry(position: EntryPosition, model: { readonly provider: string; readonly api: string; readonly id: string }): NewEntry {
  return customEntry(position, CUSTOM.modelSnapshot, { timestamp: position.at, provider: model.provider, modelApi: model.api, modelId: model.id });
}

/** The provider's prompt cache was used now: pruning counts its time from here. */
export function cacheTouchEntry(position: EntryPosition, model: { readonly provider: string; readonly id: string }): NewEntry {
  return customEntry(position, CUSTOM.cacheTouch, { timestamp: position.at, provider: model.provider, modelId: model.id });
}

/** From here on a model sees at most so many characters of each tool result above. The results themselves stay as they are. */
export function resultsCutEntry(position: EntryPosition, maxChars: number): NewEntry {
  return customEntry(position, CUSTOM.resultsCut, { timestamp: position.at, maxChars });
}

/** From here on a model sees no image of the messages above: the provider refused them. The messages themselves stay as they are. */
export function imagesLeftOutEntry(position: EntryPosition): NewEntry {
  return customEntry(position, CUSTOM.imagesLeftOut, { timestamp: position.at });
}

/**
 * The conversation goes on from the entry that this one hangs below. Programs that take the last line of the file as the leaf continue there, too. `runId`:
 * the run that begins there, if one does.
 */
export function branchEntry(position: EntryPosition, runId?: string): NewEntry {
  return customEntry(position, CUSTOM.branch, { timestamp: position.at, ...(runId === undefined ? {} : { runId }) });
}

export interface PromptError {
  readonly runId: string;
  readonly sessionId: string;
  readonly provider: string;
  readonly model: string;
  readonly api: string;
  readonly error: string;
}

/** A prompt failed or was aborted. */
export function promptErrorEntry(position: EntryPosition, { runId, sessionId, provider, model, api, error }: PromptError): NewEntry {
  return customEntry(position, CUSTOM.promptError, { timestamp: position.at, runId, sessionId, provider, model, api, error });
}

export const ZERO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** A message of the gateway in place of the model's: a command's reply, an injected note, the partial text of an aborted run, or what was sent to the chat by other means. */
export function gatewayMessage(
  model: "gateway-injected" | "delivery-mirror",
  text: string,
  at: number,
  extras: { readonly label?: string | undefined; readonly abort?: { readonly runId: string; readonly origin: string } | undefined } = {},
): AssistantMessage & MessageExtras {
  const { label, abort } = extras;
  return {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text: label === undefined ? text : `[${label}]\n\n${text}` }],
    api: "openai-responses",
    provider: "openclaw",
    model,
    usage: ZERO_USAGE,
    stopReason: abort ? "aborted" : "stop",
    timestamp: at,
    ...(abort ? { idempotencyKey: `${abort.runId}:assistant`, openclawAbort: { aborted: true, ...abort } } : {}),
  };
}

export function gatewayMessageEntry(
  position: EntryPosition,
  ...[model, text, extras]: [Parameters<typeof gatewayMessage>[0], string, Parameters<typeof gatewayMessage>[3]?]
): NewEntry {
  return messageEntry(position, gatewayMessage(model, text, position.at, extras));
}

/** A transcript file taken apart. */
export interface ReadTranscript {
  /** All of them: a file may have several, or none. */
  readonly headers: readonly TranscriptHeader[];
  readonly entries: readonly TranscriptEntry[];
  /** Lines that are no JSON object with a type. */
  readonly unreadable: number;
}

/** Reads whatever a transcript file holds, of any format so far. Never throws. */
export function readTranscript(text: string): ReadTranscript {
  const headers: TranscriptHeader[] = [];
  const entries: TranscriptEntry[] = [];
  let unreadable = 0;
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const read = parseTranscriptLine(line);
    if (!read) unreadable += 1;
    else if (read.kind === "header") headers.push(read.header);
    else entries.push(read.entry);
  }
  return { headers, entries, unreadable };
}

/** An entry of a stored row; undefined for a header and for what cannot be read. */
export function entryOfRow(row: Pick<EntryRow, "line">): TranscriptEntry | undefined {
  const read = parseTranscriptLine(row.line);
  return read?.kind === "entry" ? read.entry : undefined;
}

function isEntry(value: unknown): value is TranscriptEntry {
  return isRecord(value) && typeof value["type"] === "string" && value["type"] !== "session";
}

const idOf = (entry: TranscriptEntry): string | undefined => (typeof entry.id === "string" && entry.id !== "" ? entry.id : undefined);

/** Its parent's position in the file, or -1 at a root. Entries without an id or a parent come from files without a tree: there each follows the one before. */
function parentOf(entry: TranscriptEntry, at: number, positions: ReadonlyMap<string, number>): number {
  const { parentId } = entry;
  if (parentId === null) return -1;
  if (typeof parentId === "string") return positions.get(parentId) ?? -1;
  return at - 1;
}

/**
 * The way from the root to an entry (default: the last one in the file), in order. An id that is there twice means the later line; a circle or
 * an unknown parent ends the walk. Null, or an id that is not there, gives an empty way.
 */
export function readPath(entries: readonly unknown[], leafId?: string | null): readonly TranscriptEntry[] {
  if (leafId === null) return [];
  const known = entries.filter(isEntry);
  const positions = new Map<string, number>();
  for (const [at, entry] of known.entries()) {
    const id = idOf(entry);
    if (id !== undefined) positions.set(id, at);
  }
  const path: TranscriptEntry[] = [];
  const seen = new Set<number>();
  let at = leafId === undefined ? known.length - 1 : (positions.get(leafId) ?? -1);
  while (at >= 0 && !seen.has(at)) {
    seen.add(at);
    const entry = known[at];
    if (!entry) break;
    path.push(entry);
    at = parentOf(entry, at, positions);
  }
  return path.reverse();
}

/** The message of an entry, whatever it holds. */
function messageOf(entry: TranscriptEntry | undefined): Readonly<Record<string, unknown>> {
  const message = entry?.type === "message" ? entry["message"] : undefined;
  return isRecord(message) ? message : {};
}

/**
 * Where a new run hangs its first entry. A user message at the end was never answered, because its run died: the conversation goes on above it
 * and it stays in the file as a dead branch.
 */
export function leafForRun(path: readonly TranscriptEntry[]): string | null {
  const last = path.at(-1);
  return (messageOf(last)["role"] === "user" ? path.at(-2)?.id : last?.id) ?? null;
}

/** What the entries of a path say about how the session runs. */
export interface PathState {
  readonly model?: { readonly provider: string; readonly id: string };
  readonly thinkingLevel?: string;
}

/** The state after one more entry. An answer also names the model, unless the gateway wrote it. */
export function nextState(state: PathState, entry: TranscriptEntry): PathState {
  if (entry.type === "thinking_level_change") {
    const { thinkingLevel } = entry;
    return typeof thinkingLevel !== "string" || thinkingLevel === "" ? state : { ...state, thinkingLevel };
  }
  const message = messageOf(entry);
  const isChange = entry.type === "model_change";
  if (!isChange && message["role"] !== "assistant") return state;
  const provider = isChange ? entry["provider"] : message["provider"];
  const id = isChange ? entry["modelId"] : message["model"];
  if (typeof provider !== "string" || typeof id !== "string" || provider === "" || id === "" || provider === "openclaw") return state;
  return state.model?.provider === provider && state.model.id === id ? state : { ...state, model: { provider, id } };
}

export function pathState(path: readonly TranscriptEntry[]): PathState {
  let state: PathState = {};
  for (const entry of path) state = nextState(state, entry);
  return state;
}
