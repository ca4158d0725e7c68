import type { Worker } from "node:worker_threads";
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Config } from "../config/index.ts";
import type { Store, Write } from "../store/index.ts";
import { readLines, type ReadLines } from "./read-lines.ts";
import type { ExportedPassage } from "./thread/export.ts";
import type { FindRequest, FoundTexts } from "./thread/find.ts";
import type { Recall } from "./thread/recalls.ts";
import { memorySettings, type MemorySettings } from "./settings.ts";
import type { FromThread, RequestKind, Requests, ThreadStatus, ToThread } from "./thread/messages.ts";
import type { LibrarySettings } from "./thread/library.ts";
import { startThread } from "./thread/start-thread.ts";
import type { Scope, SearchAnswer, SyncReport } from "./types.ts";

export interface MemoryDeps {
  readonly config: Config;
  /** Grown transcripts are followed from here; a command without a gateway has none. */
  readonly store?: Pick<Store, "onCommit"> | undefined;
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
}

export interface MemoryStatus extends ThreadStatus {
  readonly settings: MemorySettings;
}

/** What an agent knows: its notes and what was said in its sessions, searched without any model. */
export interface Memory extends AsyncDisposable {
  settings(agentId: string): MemorySettings;
  search(agentId: string, search: Search): Promise<SearchAnswer>;
  /** Lines of a note, as `memory_get` gives them. */
  read(agentId: string, lines: ReadLines): Promise<{ readonly path: string; readonly text: string }>;
  status(agentId: string, options?: { readonly deep?: boolean }): Promise<MemoryStatus>;
  /** Follows the sources now. `rebuild`: into a new index that then replaces the old one. */
  sync(agentId: string, options?: { readonly rebuild?: boolean }): Promise<SyncReport>;
  /** Notes were written or removed: the next search looks at them. */
  notesChanged(agentId: string): void;
  /** Nothing of text that is gone is left in the files of the index. `files`: transcripts whose lines were overwritten. */
  purge(agentId: string, files?: readonly string[]): Promise<void>;
  /** Every line of a note and every entry of a transcript that contains a text: in the files and the store, not in the index. */
  find(agentId: string, request: FindRequest): Promise<FoundTexts>;
  /** What models were given by `memory_search`, newest first. */
  recalls(agentId: string, limit: number): Promise<readonly Recall[]>;
  /** All passages in pages, from `after: 0` on. */
  export(agentId: string, page: { readonly after: number; readonly limit: number }): Promise<{ readonly passages: readonly ExportedPassage[]; readonly next?: number }>;
}

/** The thread ends after this long without a question; opening an index again takes some milliseconds. */
const IDLE_MS = 10 * 60_000;

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

export function createMemory(deps: MemoryDeps): Memory {
  const { config, clock, log, home, workspaceOf } = deps;
  let worker: Worker | undefined;
  let idle: Disposable | undefined;
  let closed = false;
  let lastId = 0;
  const pending = new Map<number, Pending>();
  /** Transcripts that grew since the thread was last notified; undefined when any may have changed. */
  const grown = new Map<string, Set<string> | undefined>();

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
    // A command that waits for nothing else must not end before the index is closed.
    ending.ref();
    ending.once("exit", () => resolve());
    ending.postMessage({ type: "close" } satisfies ToThread);
    await promise;
  }

  function ask<K extends RequestKind>(kind: K, agentId: string, input: Requests[K]["input"]): Promise<Requests[K]["result"]> {
    if (closed) return Promise.reject(new AppError("UNAVAILABLE", "the memory is closed"));
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
      worker?.postMessage({ type: "request", id, kind, settings: librarySettings(agentId), input } satisfies ToThread);
    });
  }

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
      } else if (kind === "transcripts.archive" || kind === "transcripts.remove") {
        const agentId = agentOfFile(input.file);
        if (agentId !== undefined) grown.set(agentId, undefined);
      }
    }
  }
  const following = deps.store?.onCommit(follow);

  return {
    settings,
    search(agentId, { query, maxResults, minScore, scope, explain, fixed, now = clock.now() }) {
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
    read: (agentId, lines) => readLines({ workspace: workspaceOf(agentId), extraPaths: settings(agentId).extraPaths }, lines),
    async status(agentId, { deep } = {}) {
      return { ...(await ask("status", agentId, { deep })), settings: settings(agentId) };
    },
    sync: (agentId, { rebuild } = {}) => ask("sync", agentId, { rebuild }),
    notesChanged(agentId) {
      worker?.postMessage({ type: "notesChanged", agentId } satisfies ToThread);
    },
    async purge(agentId, files) {
      await ask("purge", agentId, { files });
    },
    find: (agentId, request) => ask("find", agentId, request),
    recalls: (agentId, limit) => ask("recalls", agentId, { limit }),
    export: (agentId, page) => ask("export", agentId, page),
    async [Symbol.asyncDispose]() {
      closed = true;
      following?.[Symbol.dispose]();
      await stop();
    },
  };
}
