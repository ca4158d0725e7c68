/**
 * Fills a state folder with many sessions and entries, by bulk inserts into the tables that the store itself made.
 * `node bench/growth/large-state.ts <folder> [--sessions 1000] [--entries 50000] [--agents 1] [--long 0] [--compact-every 0] [--turns 0]`
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/base/clock.ts";
import type * as StoreModule from "../../src/store/index.ts";

export interface LargeState {
  readonly sessions: number;
  /** Transcript entries of all sessions together, without those of the long one. */
  readonly entries: number;
  /** Agents that the sessions are spread over. Default 1. */
  readonly agents?: number | undefined;
  /** Entries of one more session, `agent:main:long`. Default none. */
  readonly long?: number | undefined;
  /** In the long session, a compaction after each so many entries. Default none. */
  readonly compactEvery?: number | undefined;
  /** Entries of one more session, `agent:main:heavy`, each with the output of a tool of so many bytes. Default none. */
  readonly heavy?: { readonly entries: number; readonly bytes: number } | undefined;
  /** Entries of one more session, `agent:main:forked`, that answer the same message. Default none. */
  readonly forked?: number | undefined;
  /** Bytes of a session's entry that change rarely: the report of its prompt and the like. Default 3,500. */
  readonly entryBytes?: number | undefined;
  /** Ended turns with their input, steps, delivery and usage, one a minute until now, spread over the sessions. Default none. */
  readonly turns?: number | undefined;
  /** Milliseconds between two of those turns. Default a minute. */
  readonly turnEveryMs?: number | undefined;
  /** When the newest session was used. Default now. */
  readonly now?: number | undefined;
}

const NOUNS =
  "apple river window garden engine letter mountain kitchen violin harbour lantern meadow planet ribbon saddle timber valley winter yellow zebra".split(" ");
const VERBS = "paints repairs collects borrows delivers measures explains forgets imagines orders questions returns sketches translates visits".split(" ");
const SENTENCES = 5;
const HOUR_MS = 3_600_000;

/** The same words for the same number, spread widely. */
function sentence(n: number): string {
  const mixed = Math.imul(n + 1, 2_654_435_761) >>> 0;
  const noun = (shift: number): string => NOUNS[(mixed >>> shift) % NOUNS.length]!;
  return `The ${noun(3)} ${VERBS[(mixed >>> 9) % VERBS.length]!} a ${noun(14)} near the ${noun(20)} ${(mixed % 1_000_000).toString(36)}.`;
}

const paragraph = (n: number): string => Array.from({ length: SENTENCES }, (_, at) => sentence(n * SENTENCES + at)).join(" ");
const entryId = (seq: number): string => seq.toString(16).padStart(8, "0");

interface StoredLine {
  readonly type: string;
  readonly line: string;
  readonly id: string;
  readonly parentId: string | null;
}

/** The line at a position of a transcript. */
export function lineAt(session: number, seq: number, at: number, compactEvery = 0): StoredLine {
  const timestamp = new Date(at).toISOString();
  const place = { id: entryId(seq), parentId: seq === 1 ? null : entryId(seq - 1) };
  const tree = { ...place, timestamp };
  if (compactEvery > 0 && seq % compactEvery === 0) {
    const compaction = {
      type: "compaction",
      ...tree,
      summary: paragraph(seq),
      firstKeptEntryId: entryId(seq - Math.min(20, compactEvery - 1)),
      tokensBefore: 1000,
    };
    return { type: "compaction", line: JSON.stringify(compaction), ...place };
  }
  const isUser = seq % 2 === 1;
  const usage = {
    input: 1000,
    output: 100,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 1100,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  const message = isUser
    ? { role: "user", content: [{ type: "text", text: paragraph(session * 1000 + seq) }], timestamp: at }
    : {
        role: "assistant",
        content: [{ type: "text", text: paragraph(session * 1000 + seq) }],
        api: "openai-completions",
        provider: "mock",
        model: "bench",
        usage,
        stopReason: "stop",
        timestamp: at,
      };
  return { type: "message", line: JSON.stringify({ type: "message", ...tree, message }), ...place };
}

/** A message of the user, then answers to it, each on a branch of its own. */
function forkedLine(seq: number, at: number): StoredLine {
  const { type, line, id } = lineAt(0, seq === 1 ? 1 : 2, at);
  if (seq <= 2) return { type, line, id, parentId: seq === 1 ? null : entryId(1) };
  const own = { ...(JSON.parse(line) as object), id: entryId(seq), parentId: entryId(1) };
  return { type, line: JSON.stringify(own), id: entryId(seq), parentId: entryId(1) };
}

/** A message of the user, and then what a tool printed, again and again. */
function heavyLine(seq: number, at: number, bytes: number): StoredLine {
  const plain = lineAt(0, seq, at);
  if (seq % 2 === 1) return plain;
  const text = `${paragraph(seq)}\n`.repeat(Math.ceil(bytes / 200)).slice(0, bytes);
  const message = { role: "toolResult", toolCallId: `call-${seq}`, toolName: "exec", isError: false, content: [{ type: "text", text }], timestamp: at };
  return { ...plain, line: JSON.stringify({ ...(JSON.parse(plain.line) as object), message }) };
}

/** How a session's entry looks after some turns. */
function sessionEntry(sessionId: string, updatedAt: number, n: number, bytes: number): string {
  return JSON.stringify({
    sessionId,
    updatedAt,
    sessionFile: `${sessionId}.jsonl`,
    chatType: "direct",
    channel: "webchat",
    displayName: n % 3 === 0 ? `Person ${n}` : undefined,
    inputTokens: 1000,
    outputTokens: 100,
    totalTokens: 1100,
    model: "bench",
    modelProvider: "mock",
    contextTokens: 200_000,
    systemPromptReport: {
      source: "run",
      generatedAt: updatedAt,
      systemPrompt: { chars: bytes },
      injectedWorkspaceFiles: [],
      skills: { promptChars: 0 },
      tools: { listChars: 0, schemaChars: 0 },
      text: "x".repeat(bytes),
    },
  });
}

/** What ended turns have left. */
function addTurns(db: DatabaseSync, { turns = 0, turnEveryMs = 60_000, sessions, now = Date.now() }: LargeState): void {
  const inbox =
    db.prepare(`INSERT INTO inbox (channel, account, conversation, message_id, session_key, agent_id, sender, kind, text, state, outcome, turn_id, received_at,
    claimed_at, settled_at) VALUES ('gateway', 'default', ?, ?, ?, 'main', 'someone', 'message', ?, 'settled', 'answered', ?, ?, ?, ?)`);
  const turn = db.prepare(`INSERT INTO turns (id, session_key, agent_id, state, outcome, resumptions, next_step, started_at, touched_at, ended_at, detail)
    VALUES (?, ?, 'main', 'ended', 'answered', 0, 1, ?, ?, ?, ?)`);
  const step = db.prepare("INSERT INTO journal (turn_id, step, kind, data, at) VALUES (?, 0, 'model.result', ?, ?)");
  const outbox =
    db.prepare(`INSERT INTO outbox (nonce, turn_id, session_key, channel, account, target, payload, state, attempts, repeats, expires_at, created_at, settled_at)
    VALUES (?, ?, ?, 'telegram', 'default', 'someone', '{"text":"hello"}', 'sent', 1, 0, ?, ?, ?)`);
  const usage =
    db.prepare(`INSERT INTO usage (at, day, session_key, agent_id, channel, provider, model, turn_id, input, output, cache_read, cache_write, cost, duration_ms, failed)
    VALUES (?, ?, ?, 'main', 'webchat', 'mock', 'bench', ?, 1000, 100, 0, 0, 0.001, 900, 0)`);
  for (let n = 0; n < turns; n += 1) {
    const id = `${(Math.imul(n + 1, 2_654_435_761) >>> 0).toString(16).padStart(8, "0")}-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;
    const at = now - (turns - n) * turnEveryMs;
    const key = `agent:main:webchat:direct:${n % Math.max(1, sessions)}`;
    inbox.run(key, id, key, sentence(n), id, at, at, at + 900);
    turn.run(id, key, at, at + 900, at + 900, JSON.stringify({ status: "ok", text: paragraph(n), usage: [], provider: "mock", model: "bench" }));
    step.run(id, JSON.stringify({ stopReason: "stop", ms: 900, text: sentence(n) }), at);
    outbox.run(id, id, key, at + 86_400_000, at, at + 900);
    usage.run(at, new Date(at).toISOString().slice(0, 10), key, id);
    if (n % 20_000 === 19_999) db.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE); BEGIN");
  }
}

/** Writes the sessions into a database that the store has made. Nobody else may have it open. */
export function fillLargeState(file: string, given: LargeState): void {
  const { sessions, entries, agents = 1, long = 0, compactEvery = 0, heavy, forked = 0, entryBytes = 3500, now = Date.now() } = given;
  const db = new DatabaseSync(file);
  db.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -64000");
  const session = db.prepare(
    "INSERT INTO sessions (key, agent_id, session_id, updated_at, channel, chat_type, version, entry) VALUES (?, ?, ?, ?, 'webchat', 'direct', 1, ?)",
  );
  const transcript = db.prepare(
    "INSERT INTO transcripts (agent_id, session_id, file, next_seq, bytes, leaf_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING tid",
  );
  const entry = db.prepare("INSERT INTO transcript_entries (tid, seq, entry_id, parent_id, type, ts, line) VALUES (?, ?, ?, ?, ?, ?, ?)");
  const measured = db.prepare("UPDATE transcripts SET bytes = ? WHERE tid = ?");

  function add(n: number, agent: string, key: string, count: number, lineOf = (seq: number, at: number): StoredLine => lineAt(n, seq, at)): void {
    const id = `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;
    const updatedAt = now - n * 1000;
    const from = updatedAt - HOUR_MS;
    const header = JSON.stringify({ type: "session", version: 3, id, timestamp: new Date(from).toISOString(), cwd: "/" });
    const leaf = count === 0 ? null : entryId(count);
    const { tid } = transcript.get(agent, id, `agents/${agent}/sessions/${id}.jsonl`, count + 1, 0, leaf, from) as { tid: number };
    let bytes = Buffer.byteLength(header) + 1;
    entry.run(tid, 0, null, null, "session", from, header);
    for (let seq = 1; seq <= count; seq += 1) {
      const at = from + Math.floor((seq / count) * HOUR_MS);
      const { type, line, id: ownId, parentId } = lineOf(seq, at);
      bytes += Buffer.byteLength(line) + 1;
      entry.run(tid, seq, ownId, parentId, type, at, line);
    }
    measured.run(bytes, tid);
    session.run(key, agent, id, updatedAt, sessionEntry(id, updatedAt, n, entryBytes));
  }

  const each = sessions === 0 ? 0 : Math.floor(entries / sessions);
  db.exec("BEGIN");
  for (let n = 0; n < sessions; n += 1) {
    const agent = n % agents === 0 ? "main" : `agent-${n % agents}`;
    add(n, agent, `agent:${agent}:webchat:direct:${n}`, each);
    // The log would grow to the size of it all otherwise.
    if (n % 2000 === 1999) db.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE); BEGIN");
  }
  if (long > 0) add(sessions + 1, "main", "agent:main:long", long, (seq, at) => lineAt(sessions + 1, seq, at, compactEvery));
  if (heavy) add(sessions + 2, "main", "agent:main:heavy", heavy.entries, (seq, at) => heavyLine(seq, at, heavy.bytes));
  if (forked > 0) add(sessions + 3, "main", "agent:main:forked", forked, forkedLine);
  addTurns(db, given);
  db.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

/** Makes a state folder with a large database in it. */
export async function makeLargeState(stateDir: string, given: LargeState, { openStore }: Pick<typeof StoreModule, "openStore">): Promise<void> {
  mkdirSync(stateDir, { recursive: true });
  await (await openStore({ stateDir, clock: systemClock }))[Symbol.asyncDispose]();
  fillLargeState(join(stateDir, "openclaw.db"), given);
}

if (import.meta.main) {
  const number = { type: "string" } as const;
  const options = { sessions: number, entries: number, agents: number, long: number, "compact-every": number, turns: number };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [folder] = positionals;
  if (folder === undefined) throw new Error("expected a folder: node bench/growth/large-state.ts <folder> [--sessions 1000] [--entries 50000]");
  const numberOf = (text: string | undefined, otherwise: number): number => (text === undefined ? otherwise : Number(text));
  const given: LargeState = {
    sessions: numberOf(values.sessions, 1000),
    entries: numberOf(values.entries, 50_000),
    agents: numberOf(values.agents, 1),
    long: numberOf(values.long, 0),
    compactEvery: numberOf(values["compact-every"], 0),
    turns: numberOf(values.turns, 0),
  };
  await makeLargeState(folder, given, await import("../../src/store/index.ts"));
}
