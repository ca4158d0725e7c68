/** Searching and indexing of memory, against plain FTS5 in the same run. */
import { mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { createMemory } from "../../src/memory/index.ts";
import { createAnalyser } from "../../src/memory/text/analyser.ts";
import { loadConcepts } from "../../src/memory/text/concepts.ts";
import { loadRanker } from "../../src/memory/search/ranker.ts";
import { openLibrary, type Library } from "../../src/memory/thread/library.ts";
import { makeBenchPlace } from "../drivers/gateway-process.ts";
import { residentMb } from "../drivers/process-facts.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";

const PER_SESSION = 50;

/** Numbers that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** Words as common as those of a language: the n-th is n times as rare as the first. */
function createWords(random: () => number): () => string {
  const syllables =
    "ba be bi bo bu da de di do du fa fe ga go ka ke ki ko la le li lo ma me mi mo na ne no pa pe po ra re ri ro sa se si so ta te ti to va ve".split(" ");
  const words = Array.from({ length: 30_000 }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, () => syllables[Math.floor(random() * syllables.length)]!).join(""),
  );
  return () => words[Math.floor(words.length ** random()) - 1] ?? words[0]!;
}

interface Corpus {
  readonly folder: string;
  readonly messages: number;
  readonly queries: readonly string[];
  readonly textBytes: number;
}

async function makeCorpus(context: BenchContext, name: string, messages: number): Promise<Corpus> {
  const folder = join(context.folder, name);
  mkdirSync(folder);
  const { openStore } = await context.loadStore();
  await (await openStore({ stateDir: folder, clock: systemClock }))[Symbol.asyncDispose]();
  const random = seeded(7);
  const word = createWords(random);
  using db = new DatabaseSync(join(folder, "openclaw.db"));
  db.exec("PRAGMA synchronous = OFF; BEGIN");
  const session = db.prepare("INSERT INTO sessions (key, agent_id, session_id, updated_at, version, entry) VALUES (?, 'main', ?, ?, 1, ?)");
  const transcript = db.prepare(
    "INSERT INTO transcripts (tid, agent_id, session_id, file, next_seq, bytes, leaf_id, created_at) VALUES (?, 'main', ?, ?, ?, 0, NULL, 0)",
  );
  const entry = db.prepare("INSERT INTO transcript_entries (tid, seq, entry_id, parent_id, type, ts, line) VALUES (?, ?, ?, ?, 'message', 0, ?)");
  const queries: string[] = [];
  const wanted = context.quick ? 30 : 300;
  let textBytes = 0;
  for (let at = 0, tid = 1; at < messages; tid += 1) {
    const id = `s${tid}`;
    for (let seq = 1; seq <= PER_SESSION && at < messages; seq += 1, at += 1) {
      const words = Array.from({ length: 8 + Math.floor(random() * 30) }, word);
      const text = words.join(" ");
      textBytes += text.length;
      const entryId = seq.toString(16).padStart(8, "0");
      const timestamp = new Date(1_700_000_000_000 + at * 60_000).toISOString();
      const parentId = seq === 1 ? null : (seq - 1).toString(16).padStart(8, "0");
      entry.run(
        tid,
        seq,
        entryId,
        parentId,
        JSON.stringify({
          type: "message",
          id: entryId,
          parentId,
          timestamp,
          message: { role: seq % 2 ? "user" : "assistant", content: [{ type: "text", text }] },
        }),
      );
      if (at % Math.ceil(messages / wanted) === 0)
        queries.push(
          words
            .toSorted(() => random() - 0.5)
            .slice(0, 3 + Math.floor(random() * 3))
            .join(" "),
        );
    }
    transcript.run(tid, id, `agents/main/sessions/${id}.jsonl`, PER_SESSION + 1);
    session.run(`agent:main:bench:direct:${tid}`, id, tid, JSON.stringify({ sessionId: id, updatedAt: tid }));
  }
  db.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  return { folder, messages, queries, textBytes };
}

function open({ folder }: Corpus): Library {
  const analyser = createAnalyser();
  const settings = {
    agentId: "main",
    file: join(folder, "memory", "main.sqlite"),
    stateDir: folder,
    workspace: join(folder, "workspace"),
    extraPaths: [],
    sources: ["memory", "sessions"] as const,
    chunking: { tokens: 400, overlap: 80 },
    watch: false,
    watchDebounceMs: 1500,
  };
  return openLibrary(settings, {
    analyser,
    concepts: loadConcepts(analyser),
    learned: loadRanker(),
    now: () => Date.now(),
    changed: () => {},
    notice: () => {},
  });
}

/** What SQLite takes by itself for the same words. */
function plainFts(corpus: Corpus): readonly number[] {
  using source = new DatabaseSync(join(corpus.folder, "openclaw.db"), { readOnly: true });
  using db = new DatabaseSync(join(corpus.folder, "plain.sqlite"));
  db.exec("PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE plain USING fts5(text, content = '', tokenize = 'porter unicode61'); BEGIN");
  const insert = db.prepare("INSERT INTO plain (rowid, text) VALUES (?, ?)");
  let n = 0;
  for (const { line } of source.prepare("SELECT line FROM transcript_entries WHERE type = 'message'").iterate()) {
    const { message }: { message: { content: readonly { text: string }[] } } = JSON.parse(String(line));
    insert.run((n += 1), message.content[0]!.text);
  }
  db.exec("COMMIT");
  const find = db.prepare("SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 10");
  return corpus.queries.map((query) => {
    const started = performance.now();
    find.all(
      query
        .split(" ")
        .map((word) => `"${word}"`)
        .join(" OR "),
    );
    return performance.now() - started;
  });
}

const REQUEST = {
  maxResults: 10,
  minScore: 0,
  sources: ["memory", "sessions"],
  scope: { notes: true, sessions: "all" },
  now: Date.now(),
  zoneSeconds: 0,
  ranking: { candidateMultiplier: 4 },
} as const;

async function smallRows(context: BenchContext): Promise<readonly Row[]> {
  const corpus = await makeCorpus(context, "memory-small", context.quick ? 2000 : 20_000);
  const config = { current: {}, paths: { state: corpus.folder, home: corpus.folder, file: join(corpus.folder, "openclaw.json") } };
  await using memory = createMemory({
    config: config as never,
    clock: systemClock,
    log: silentLogger,
    home: corpus.folder,
    workspaceOf: () => join(corpus.folder, "workspace"),
  });
  const scope = { notes: true, sessions: "all" } as const;
  const synced = await memory.sync("main");
  for (const query of corpus.queries.slice(0, 50)) await memory.search("main", { query, scope, minScore: 0 });
  const [took, cpu]: [number[], number[]] = [[], []];
  for (const query of corpus.queries) {
    const [started, used] = [performance.now(), process.threadCpuUsage()];
    await memory.search("main", { query, scope, minScore: 0, maxResults: 10 });
    took.push(performance.now() - started);
    const { user, system } = process.threadCpuUsage(used);
    cpu.push((user + system) / 1000);
  }
  const facts = { messages: corpus.messages, queries: corpus.queries.length };
  const plain = plainFts(corpus);
  return [
    {
      name: "memory: search, median",
      value: round(median(took)),
      unit: "ms",
      bar: 5,
      better: "lower",
      facts: { ...facts, "plain FTS5 ms": round(median(plain)) },
    },
    {
      name: "memory: search, p99",
      value: round(quantile(took, 0.99)),
      unit: "ms",
      bar: 20,
      better: "lower",
      facts: { ...facts, "plain FTS5 ms": round(quantile(plain, 0.99)) },
    },
    {
      name: "memory: main thread for a search",
      value: round(median(cpu), 3),
      unit: "ms",
      bar: 1,
      better: "lower",
      facts: { ...facts, "synced messages": synced.messages },
    },
  ];
}

/** Pairs of starts that are timed, and those of them that are left to rest and weighed, which takes longer. */
const START_PAIRS = 21;
const WEIGHED_PAIRS = 5;

/**
 * What a gateway takes for its start with the index of a state, beyond what it takes for the same state without one. Starts vary by more than the bar, so
 * each is compared with the one beside it, in turns which of the two comes first.
 */
async function startRows(context: BenchContext, corpus: Corpus): Promise<readonly Row[]> {
  const place = await makeBenchPlace(context, "memory-start", { env: { OPENCLAW_STATE_DIR: corpus.folder }, pollMs: 2 });
  const file = join(corpus.folder, "memory", "main.sqlite");
  const restMs = context.quick ? 300 : 3000;
  const measured = { with: { ms: [] as number[], mb: [] as number[] }, without: { ms: [] as number[], mb: [] as number[] } };
  // The first start makes what a state has once; it is not counted.
  await (await place.start())[Symbol.asyncDispose]();
  for (let at = 0; at < (context.quick ? 1 : START_PAIRS); at += 1) {
    for (const which of at % 2 === 0 ? (["with", "without"] as const) : (["without", "with"] as const)) {
      if (which === "without") renameSync(file, `${file}.aside`);
      try {
        await using gateway = await place.start();
        measured[which].ms.push(gateway.ready.readyMs);
        if (at >= WEIGHED_PAIRS) continue;
        await wait(restMs);
        measured[which].mb.push(residentMb(gateway.pid));
      } finally {
        if (which === "without") renameSync(`${file}.aside`, file);
      }
    }
  }
  const [on, off] = [measured.with, measured.without];
  const more = (unit: "ms" | "mb"): number[] => on[unit].map((value, at) => value - off[unit][at]!);
  const { messages } = corpus;
  return [
    {
      name: "memory: gateway start with an index of 1,000,000 messages",
      value: round(median(more("ms")), 1),
      unit: "ms",
      bar: 5,
      better: "lower",
      facts: {
        messages,
        pairs: on.ms.length,
        "with ms": round(median(on.ms), 1),
        "without ms": round(median(off.ms), 1),
        "middle half of the differences ms": [0.25, 0.75].map((part) => round(quantile(more("ms"), part), 1)).join(" to "),
      },
    },
    {
      name: "memory: resident memory with an index of 1,000,000 messages",
      value: round(median(more("mb")), 1),
      unit: "MB",
      bar: 3,
      better: "lower",
      facts: { messages, "with MB": round(median(on.mb), 1), "without MB": round(median(off.mb), 1), "after ms": restMs },
    },
  ];
}

async function largeRows(context: BenchContext): Promise<readonly Row[]> {
  const messages = context.quick ? 3000 : 1_000_000;
  context.say(`  making a state with ${messages} messages …`);
  const corpus = await makeCorpus(context, "memory-large", messages);
  return [...(await searchRows(corpus)), ...(await startRows(context, corpus))];
}

/** What the first page of found messages takes, for words as they are typed: one, two, and the beginning of one; the most common ones, too. */
function pagesOf(library: Library, { queries }: Corpus): readonly number[] {
  const words = queries.flatMap((query) => {
    const [one = "", two = ""] = query.split(" ");
    return [one, `${one} ${two}`, one.slice(0, 3)];
  });
  return words.map((typed) => {
    const started = performance.now();
    library.messages({ words: typed, limit: 20 });
    return performance.now() - started;
  });
}

async function searchRows(corpus: Corpus): Promise<readonly Row[]> {
  const { messages } = corpus;
  using library = open(corpus);
  const started = performance.now();
  const steps = library.sync();
  while (!steps.next().done);
  const indexedMs = performance.now() - started;
  library.open.index.compact();
  const took = corpus.queries.map((query) => library.search({ ...REQUEST, query }).ms);
  const pages = pagesOf(library, corpus);
  const plain = plainFts(corpus);
  const [ours, theirs] = [median(took), median(plain)];
  const bytes = statSync(join(corpus.folder, "memory", "main.sqlite")).size;
  return [
    {
      name: "memory: messages indexed per second",
      value: Math.round((messages / indexedMs) * 1000),
      unit: "/s",
      bar: 20_000,
      better: "higher",
      facts: { messages, s: round(indexedMs / 1000, 1) },
    },
    {
      name: "memory: search in many messages / plain FTS5",
      value: round(ours / theirs),
      unit: "×",
      bar: 1.2,
      better: "lower",
      facts: {
        messages,
        ms: round(ours, 1),
        "p99 ms": round(quantile(took, 0.99), 1),
        "plain ms": round(theirs, 1),
        "plain p99 ms": round(quantile(plain, 0.99), 1),
      },
    },
    { name: "memory: search in many messages, median", value: round(ours, 1), unit: "ms", bar: 150, better: "lower", facts: { messages } },
    {
      name: "chat: first results of a search in all messages, p99",
      value: round(quantile(pages, 0.99), 1),
      unit: "ms",
      bar: 150,
      better: "lower",
      facts: { messages, "median ms": round(median(pages), 1), "max ms": round(Math.max(...pages), 1) },
    },
    {
      name: "memory: size of the index / the text",
      value: round(bytes / corpus.textBytes),
      unit: "×",
      bar: 2.5,
      better: "lower",
      facts: { "index MB": round(bytes / 1e6, 1), "text MB": round(corpus.textBytes / 1e6, 1) },
    },
  ];
}

export const memory: Measure = {
  name: "memory",
  run: async (context) => [...(await smallRows(context)), ...(await largeRows(context))],
};
