import type { Worker } from "node:worker_threads";
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import { defaultAgentId, type Config } from "../config/index.ts";
import type { Store, Write } from "../store/index.ts";
import { createGrowth } from "./growth.ts";
import type { AskingSession, Qmd } from "./qmd/create-qmd.ts";
import { readLines, type ReadLines } from "./read-lines.ts";
import { memorySettings, type MemorySettings } from "./settings.ts";
import { createEmbeddingChoice, type EmbeddingChoiceDeps } from "./embeddings/choice.ts";
import type { FromThread, RequestKind, Requests, ThreadStatus, ToThread } from "./thread/messages.ts";
import type { LibrarySettings } from "./thread/library.ts";
import { startThread } from "./thread/start-thread.ts";
import type { Scope, SearchAnswer, SyncReport } from "./types.ts";

export interface MemoryDeps extends EmbeddingChoiceDeps {
  readonly config: Config;
  /** Grown transcripts are followed from here; a command without a gateway has none. */
  readonly store?: Pick<Store, "onCommit" | "read" | "write"> | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly home: string;
  readonly workspaceOf: (agentId: string) => string;
}

export interface Search {
  readonly query: string;
  readonly maxResults?: number | undefined;
  readonly minScore?: number | undefined;
  readonly scope: Scope;
  readonly explain?: boolean | undefined;
  /** With the weights set by hand, to compare. */
  readonly fixed?: boolean | undefined;
  /** When it is asked, if not now: milliseconds since the epoch. */
  readonly now?: number | undefined;
  /** The conversation in which it is asked; none for a command. */
  readonly session?: AskingSession | undefined;
}

export interface MemoryStatus extends ThreadStatus {
  readonly backend: "builtin" | "qmd";
  readonly settings: MemorySettings;
  /** Of `memory.backend: "qmd"`. */
  readonly qmd?: ReturnType<Qmd["status"]> | undefined;
}

/** What an agent knows: its notes and what was said in its sessions, searched without any model. */
export interface Memory extends AsyncDisposable {
  settings(agentId: string): MemorySettings;
  /** Begins what a backend does by itself, for all agents. Resolves at once unless the configuration wants to wait for it. */
  start(): Promise<void>;
  search(agentId: string, search: Search): Promise<SearchAnswer>;
  /** Lines of a note, as `memory_get` gives them. */
  read(agentId: string, lines: ReadLines): Promise<{ readonly path: string; readonly text: string }>;
  status(agentId: string, options?: { readonly deep?: boolean }): Promise<MemoryStatus>;
  /** Follows the sources now. `rebuild`: into a new index that then replaces the old one. */
  sync(agentId: string, options?: { readonly rebuild?: boolean }): Promise<SyncReport>;
  /** Notes were written or removed: the next search looks at them. */
  notesChanged(agentId: string): void;
  /** Nothing of text that is gone is left in the files of the index. */
  purge(agentId: string): Promise<void>;
}

/** The thread ends after this long without a question; opening an index again takes some milliseconds. */
const IDLE_MS = 10 * 60_000;

const QMD_MODES = { search: "fts-only", vsearch: "vector", query: "hybrid" } as const;

/** Seconds east of UTC in a zone at a time. */
export function zoneSeconds(timeZone: string | undefined, at: number): number {
  try {
    const shown = new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", dateStyle: "short", timeStyle: "medium" }).format(at);
    return Math.round((Date.parse(`${shown} UTC`) - at) / 1000 / 900) * 900;
  } catch {
    return 0;
  }
}

/** The agent that a transcript belongs to, by its file. */
const agentOfFile = (file: string): string | undefined => /^agents\/([^/]+)\/sessions\//.exec(file)?.[1];

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** What embeddings cost, in the usage report of the agent under a name of its own. */
function recordUsage({ store, log }: MemoryDeps, { agentId, usage }: Extract<FromThread, { type: "usage" }>): void {
  const { provider, model, tokens, cost, ms, failed } = usage;
  const row = {
    sessionKey: `agent:${agentId}:memory`,
    agentId,
    provider,
    model,
    input: tokens,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    cost,
    durationMs: Math.round(ms),
    failed,
  };
  store?.write("usage.add", row).catch((error: unknown) => log.warn(`the cost of embeddings could not be stored: ${messageOf(error)}`));
}

/** What the program qmd finds; undefined when it does not work. */
async function searchQmd(qmd: Qmd, agentId: string, search: Search, { clock, config }: MemoryDeps, usual: MemorySettings): Promise<SearchAnswer | undefined> {
  const { query, scope, session, maxResults = usual.maxResults, minScore = usual.minScore } = search;
  const started = clock.monotonic();
  const hits = await qmd.search(agentId, { query, scope, session, maxResults, minScore });
  const mode = QMD_MODES[config.current.memory?.qmd?.searchMode ?? "search"];
  return hits && { hits, mode, provider: "qmd", model: "qmd", ranker: "fixed", indexing: false, ms: clock.monotonic() - started };
}

export function createMemory(deps: MemoryDeps): Memory {
  const { config, clock, log, home, workspaceOf } = deps;
  let worker: Worker | undefined;
  let idle: Disposable | undefined;
  let closed = false;
  let lastId = 0;
  const pending = new Map<number, Pending>();
  /** Transcripts that grew since the thread was last notified; undefined when any may have changed. */
  const grown = new Map<string, Set<string> | undefined>();

  const embeddingsOf = createEmbeddingChoice(deps);

  const settings = (agentId: string): MemorySettings =>
    memorySettings(config.current, agentId, { stateDir: config.paths.state, home, workspace: workspaceOf(agentId) });

  function librarySettings(agentId: string): LibrarySettings {
    const { file, extraPaths, sources, chunking, sync } = settings(agentId);
    return {
      agentId,
      file,
      stateDir: config.paths.state,
      workspace: workspaceOf(agentId),
      extraPaths,
      sources,
      chunking,
      watch: sync.watch,
      watchDebounceMs: sync.watchDebounceMs,
    };
  }

  function lost(which: Worker, why: string): void {
    if (worker !== which) return;
    worker = undefined;
    for (const { reject } of pending.values()) reject(new AppError("UNAVAILABLE", `the memory's thread ended (${why}); ask again`));
    pending.clear();
  }

  function start(): Worker {
    const started = startThread();
    started.unref();
    started.on("message", (message: FromThread) => {
      if (message.type === "notice") return log.warn(message.message);
      if (message.type === "usage") return recordUsage(deps, message);
      const waiting = pending.get(message.id);
      pending.delete(message.id);
      if (message.type === "answer") waiting?.resolve(message.result as never);
      else waiting?.reject(new AppError(message.code, message.message));
      if (pending.size === 0) rest();
    });
    started.on("error", (error) => {
      log.error(`the memory's thread failed: ${messageOf(error)}`);
      lost(started, messageOf(error));
    });
    started.on("exit", (code) => lost(started, `exit code ${code}`));
    return started;
  }

  function rest(): void {
    worker?.unref();
    idle?.[Symbol.dispose]();
    idle = clock.after(IDLE_MS, () => void stop());
  }

  async function stop(): Promise<void> {
    const ending = worker;
    worker = undefined;
    idle?.[Symbol.dispose]();
    if (!ending) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    ending.once("exit", () => resolve());
    ending.postMessage({ type: "close" } satisfies ToThread);
    await promise;
  }

  async function ask<K extends RequestKind>(kind: K, agentId: string, input: Requests[K]["input"]): Promise<Requests[K]["result"]> {
    const embeddings = await embeddingsOf(agentId, settings(agentId));
    if (closed) throw new AppError("UNAVAILABLE", "the memory is closed");
    worker ??= start();
    idle?.[Symbol.dispose]();
    worker.ref();
    if (grown.has(agentId)) {
      const files = grown.get(agentId);
      grown.delete(agentId);
      worker.postMessage({ type: "touched", agentId, ...(files ? { files: [...files] } : {}) } satisfies ToThread);
    }
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject });
      worker?.postMessage({ type: "request", id, kind, settings: librarySettings(agentId), embeddings, input } satisfies ToThread);
    });
  }

  const growth = createGrowth({
    clock,
    limits: (agentId) => settings(agentId).sync.sessions,
    due: (agentId) =>
      void ask("sync", agentId, {}).catch((error: unknown) => log.warn(`the sessions of agent ${agentId} could not be indexed: ${messageOf(error)}`)),
  });

  /** Only what the thread has seen can have become outdated for it. */
  function follow(writes: readonly Write[]): void {
    if (!worker) return;
    for (const [kind, input] of writes) {
      if (kind === "transcripts.append" || kind === "transcripts.ensure") {
        const agentId = agentOfFile(input.file);
        if (agentId === undefined) continue;
        const files = grown.has(agentId) ? grown.get(agentId) : new Set<string>();
        files?.add(input.file);
        grown.set(agentId, files);
        if (kind === "transcripts.append")
          growth.grew(
            agentId,
            input.entries.length,
            input.entries.reduce((sum, { line }) => sum + line.length, 0),
          );
      } else if (kind === "transcripts.archive" || kind === "transcripts.remove") {
        const agentId = agentOfFile(input.file);
        if (agentId !== undefined) grown.set(agentId, undefined);
      }
    }
  }
  const following = deps.store?.onCommit(follow);

  const openQmd = lazy(async () => (await import("./qmd/create-qmd.ts")).createQmd({ config, clock, log, home, workspaceOf, store: deps.store }));
  const qmd = (): Promise<Qmd> | undefined => (config.current.memory?.backend === "qmd" ? openQmd() : undefined);

  return {
    settings,
    async start() {
      const opened = await qmd();
      if (!opened) return;
      const listed = config.current.agents?.list?.map(({ id }) => id.trim().toLowerCase()) ?? [];
      await Promise.all([...new Set([defaultAgentId(config.current), ...listed])].map((agentId) => opened.start(agentId)));
    },
    async search(agentId, search) {
      const other = await qmd();
      const found = other && (await searchQmd(other, agentId, search, deps, settings(agentId)));
      if (found) return found;
      const { query, maxResults, minScore, scope, explain, fixed, now = clock.now() } = search;
      const { maxResults: usual, minScore: least, sources, ranking } = settings(agentId);
      const zone = config.current.agents?.defaults?.userTimezone;
      return ask("search", agentId, {
        query,
        maxResults: maxResults ?? usual,
        minScore: minScore ?? least,
        sources,
        scope,
        now,
        zoneSeconds: zoneSeconds(zone, now),
        ranking,
        ...(explain ? { explain } : {}),
        ...(fixed ? { fixed } : {}),
      });
    },
    async read(agentId, lines) {
      const found = await (await qmd())?.read(agentId, lines);
      return found ?? readLines({ workspace: workspaceOf(agentId), extraPaths: settings(agentId).extraPaths }, lines);
    },
    async status(agentId, { deep } = {}) {
      const about = (await qmd())?.status(agentId);
      const backend = about && !about.usesBuiltin ? "qmd" : "builtin";
      return { ...(await ask("status", agentId, { deep })), settings: settings(agentId), backend, ...(about ? { qmd: about } : {}) };
    },
    async sync(agentId, { rebuild } = {}) {
      const other = qmd();
      if (other)
        await (
          await other
        )
          .update(agentId)
          .catch((error: unknown) => log.warn(`the memory of agent ${agentId} in qmd could not be updated: ${messageOf(error)}`));
      return ask("sync", agentId, { rebuild });
    },
    notesChanged(agentId) {
      worker?.postMessage({ type: "notesChanged", agentId } satisfies ToThread);
    },
    async purge(agentId) {
      await ask("purge", agentId, {});
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      following?.[Symbol.dispose]();
      growth[Symbol.dispose]();
      (await openQmd.started())?.[Symbol.dispose]();
      await stop();
    },
  };
}
