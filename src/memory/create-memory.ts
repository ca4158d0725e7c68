import { messageOf } from "../base/errors.ts";
import { lazy } from "../base/lazy.ts";
import { defaultAgentId } from "../config/index.ts";
import { createBuiltin } from "./builtin.ts";
import type { MemoryDeps } from "./deps.ts";
import type { AskingSession, Qmd } from "./qmd/create-qmd.ts";
import { readLines, type ReadLines } from "./read-lines.ts";
import type { FoundMessages, MessagesRequest } from "./search/messages.ts";
import { memorySettings, type MemorySettings } from "./settings.ts";
import type { ExportedPassage } from "./thread/export.ts";
import type { FindRequest, FoundTexts } from "./thread/find.ts";
import type { Recall } from "./thread/recalls.ts";
import type { ThreadStatus } from "./thread/messages.ts";
import type { Scope, SearchAnswer, SearchRequest, SyncReport } from "./types.ts";
import { timeZoneOf, zoneSeconds } from "./zone.ts";

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
  /** Id of the session whose last message is being answered: that message is no evidence. */
  readonly answering?: string | undefined;
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
  /** In which times are understood and shown. */
  timeZone(): string;
  /** Begins what a backend does by itself, for all agents. Resolves at once unless the configuration wants to wait for it. */
  start(): Promise<void>;
  search(agentId: string, search: Search): Promise<SearchAnswer>;
  /** Messages of the agent's sessions that have some words, newest first. Undefined when the configuration keeps sessions out of the index. */
  messages(agentId: string, request: MessagesRequest): Promise<(FoundMessages & { readonly indexing: boolean }) | undefined>;
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
  export(
    agentId: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<{ readonly passages: readonly ExportedPassage[]; readonly next?: number }>;
}

const QMD_MODES = { search: "fts-only", vsearch: "vector", query: "hybrid" } as const;

export function createMemory(deps: MemoryDeps): Memory {
  const { config, clock, log, home, workspaceOf } = deps;
  const settings = (agentId: string): MemorySettings =>
    memorySettings(config.current, agentId, { stateDir: config.paths.state, home, workspace: workspaceOf(agentId) });
  const timeZone = (): string => timeZoneOf(config.current.agents?.defaults?.userTimezone);
  const builtin = createBuiltin(deps, settings);
  const openQmd = lazy(async () => (await import("./qmd/create-qmd.ts")).createQmd({ config, clock, log, home, workspaceOf, store: deps.store }));
  const qmd = (): Promise<Qmd> | undefined => (config.current.memory?.backend === "qmd" ? openQmd() : undefined);

  /** What the program qmd finds; undefined when it is not in use or does not work. */
  async function searchQmd(agentId: string, { query, maxResults, minScore, scope, session }: Search): Promise<SearchAnswer | undefined> {
    const started = clock.monotonic();
    const { maxResults: usual, minScore: least } = settings(agentId);
    const hits = await (await qmd())?.search(agentId, { query, scope, session, maxResults: maxResults ?? usual, minScore: minScore ?? least });
    if (!hits) return undefined;
    const mode = QMD_MODES[config.current.memory?.qmd?.searchMode ?? "search"];
    return { hits, mode, provider: "qmd", model: "qmd", ranker: "fixed", indexing: false, ms: clock.monotonic() - started };
  }

  function requestFor(agentId: string, { query, maxResults, minScore, scope, explain, fixed, answering, now = clock.now() }: Search): SearchRequest {
    const { maxResults: usual, minScore: least, sources, ranking } = settings(agentId);
    return {
      query,
      maxResults: maxResults ?? usual,
      minScore: minScore ?? least,
      sources,
      scope,
      now,
      zoneSeconds: zoneSeconds(timeZone(), now),
      ranking,
      ...(explain ? { explain } : {}),
      ...(fixed ? { fixed } : {}),
      ...(answering === undefined ? {} : { answering }),
    };
  }

  async function updateQmd(agentId: string): Promise<void> {
    try {
      await (await qmd())?.update(agentId);
    } catch (error) {
      log.warn(`the memory of agent ${agentId} in qmd could not be updated: ${messageOf(error)}`);
    }
  }

  return {
    settings,
    timeZone,
    async start() {
      const opened = await qmd();
      if (!opened) return;
      const listed = config.current.agents?.list?.map(({ id }) => id.trim().toLowerCase()) ?? [];
      await Promise.all([...new Set([defaultAgentId(config.current), ...listed])].map((agentId) => opened.start(agentId)));
    },
    search: async (agentId, search) => (await searchQmd(agentId, search)) ?? builtin.ask("search", agentId, requestFor(agentId, search)),
    async messages(agentId, request) {
      const { enabled, sources } = settings(agentId);
      return enabled && sources.includes("sessions") ? builtin.ask("messages", agentId, request) : undefined;
    },
    async read(agentId, lines) {
      const found = await (await qmd())?.read(agentId, lines);
      return found ?? readLines({ workspace: workspaceOf(agentId), extraPaths: settings(agentId).extraPaths }, lines);
    },
    async status(agentId, { deep } = {}) {
      const about = (await qmd())?.status(agentId);
      const backend = about && !about.usesBuiltin ? "qmd" : "builtin";
      return { ...(await builtin.ask("status", agentId, { deep })), settings: settings(agentId), backend, ...(about ? { qmd: about } : {}) };
    },
    async sync(agentId, { rebuild } = {}) {
      await updateQmd(agentId);
      return builtin.ask("sync", agentId, { rebuild });
    },
    notesChanged: builtin.notesChanged,
    async purge(agentId, files) {
      await builtin.ask("purge", agentId, { files });
      await updateQmd(agentId);
    },
    find: (agentId, request) => builtin.ask("find", agentId, request),
    recalls: (agentId, limit) => builtin.ask("recalls", agentId, { limit }),
    export: (agentId, page) => builtin.ask("export", agentId, page),
    async [Symbol.asyncDispose]() {
      await (await openQmd.started())?.[Symbol.asyncDispose]();
      await builtin[Symbol.asyncDispose]();
    },
  };
}
