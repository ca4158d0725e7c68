import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Env } from "../../config/index.ts";
import type { Store } from "../../store/index.ts";
import type { Scope, SearchHit } from "../types.ts";
import { askQmd, createQmdProgram, type RunQmd } from "./command.ts";
import { createSessionExport, type SessionExport } from "./export-sessions.ts";
import { locate, parseResults, withinLimits, type Located } from "./results.ts";
import type { Collection, QmdSettings } from "./settings.ts";
import { writeAtomic } from "../../base/files.ts";

/** The memory of one agent in the program qmd. Its end cancels what the program is doing and waits for it: nothing writes to the agent's folder afterwards. */
export interface AgentQmd extends AsyncDisposable {
  readonly settings: QmdSettings;
  /** Brings its index up to date in the background, now and at intervals. Resolves when the first time is over. */
  start(): Promise<void>;
  search(query: string, options: { readonly maxResults: number; readonly minScore: number; readonly scope: Scope }): Promise<readonly SearchHit[]>;
  update(): Promise<void>;
  status(): QmdStatus;
}

export interface QmdStatus {
  readonly command: string;
  readonly searchMode: string;
  readonly collections: readonly string[];
  /** Milliseconds since the epoch. */
  readonly lastUpdateAt?: number | undefined;
  readonly lastEmbedAt?: number | undefined;
  readonly lastError?: string | undefined;
}

export interface AgentQmdDeps {
  readonly agentId: string;
  readonly workspace: string;
  readonly env: () => Env;
  readonly clock: Clock;
  readonly log: Logger;
  /** Without it, conversations are not exported. */
  readonly store?: Pick<Store, "read"> | undefined;
}

/** More are asked for than wanted: those that a conversation may not see are dropped. */
const EXTRA = 4;

function mayBeSeen(scope: Scope, { kind }: Collection, sessionKey: string | null | undefined): boolean {
  if (kind !== "sessions") return scope.notes;
  if (scope.sessions === "all") return true;
  return scope.sessions !== "none" && sessionKey != null && scope.sessions.includes(sessionKey);
}

/** The hits that a conversation may see. */
function visibleHits(located: readonly Located[], scope: Scope, sessions: SessionExport | undefined): readonly SearchHit[] {
  return located.flatMap(({ hit, collection, file }) => {
    const sessionKey = collection.kind === "sessions" ? sessions?.sessionOf(file)?.sessionKey : undefined;
    if (!mayBeSeen(scope, collection, sessionKey)) return [];
    return [sessionKey == null ? hit : { ...hit, sessionKey }];
  });
}

const ADDED = "collections.json";

/** Collections as they were added last time, by name. */
function added(home: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(join(home, ADDED), "utf8")) as Record<string, string>;
  } catch {
    return {};
  }
}

/** Makes the collections that the configuration names known to the program, and removes others that it got from here. */
async function addCollections({ home, collections, update }: QmdSettings, workspace: string, run: RunQmd): Promise<void> {
  for (const folder of [home, join(home, "xdg-config"), join(home, "xdg-cache")]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  mkdirSync(workspace, { recursive: true });
  const before = added(home);
  const now = Object.fromEntries(collections.map(({ name, root, pattern }) => [name, `${root}\n${pattern}`]));
  for (const name of Object.keys(before))
    if (before[name] !== now[name]) await run(["collection", "remove", name], update.commandTimeoutMs).catch(() => undefined);
  for (const { name, root, pattern } of collections) {
    if (before[name] === now[name]) continue;
    mkdirSync(root, { recursive: true });
    await run(["collection", "add", root, "--name", name, "--mask", pattern], update.commandTimeoutMs).catch((error: unknown) => {
      if (!/already exists|duplicate/i.test(messageOf(error))) throw error;
    });
  }
  const file = join(home, ADDED);
  writeAtomic(file, JSON.stringify(now), { mode: 0o600, temporary: `${file}.tmp` });
}

export function createAgentQmd(settings: QmdSettings, deps: AgentQmdDeps): AgentQmd {
  const { agentId, workspace, clock, log, store } = deps;
  const { collections, update: when, limits, searchMode } = settings;
  const program = createQmdProgram(settings, deps.env, workspace);
  const { run } = program;
  const sessions: SessionExport | undefined =
    settings.sessions && store
      ? createSessionExport({ store, agentId, clock, folder: settings.sessions.folder, retentionDays: settings.sessions.retentionDays })
      : undefined;
  let [lastUpdateAt, lastEmbedAt, lastError]: [number?, number?, string?] = [];
  let [updating, prepared]: [Promise<void>?, Promise<void>?] = [];
  let timer: Disposable | undefined;

  /** Once; after a failure again. */
  function prepare(): Promise<void> {
    prepared ??= addCollections(settings, workspace, run).catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  }

  async function updateNow(): Promise<void> {
    try {
      await prepare();
      await sessions?.run();
      await run(["update"], when.updateTimeoutMs);
      lastUpdateAt = clock.now();
      // Searching by words needs no vectors, and the first ones cost a download of gigabytes.
      const isDue = searchMode !== "search" && when.embedIntervalMs > 0 && clock.now() - (lastEmbedAt ?? Number.NEGATIVE_INFINITY) >= when.embedIntervalMs;
      if (isDue) {
        await run(["embed"], when.embedTimeoutMs);
        lastEmbedAt = clock.now();
      }
      lastError = undefined;
    } catch (error) {
      lastError = messageOf(error);
      throw error;
    }
  }

  /** One at a time. Shortly after the last one there is nothing to do. */
  function update(): Promise<void> {
    if (lastUpdateAt !== undefined && clock.now() - lastUpdateAt < when.debounceMs) return Promise.resolve();
    updating ??= updateNow().finally(() => (updating = undefined));
    return updating;
  }

  const report = (error: unknown): void => {
    if (!program.isClosed) log.warn(`the memory of agent ${agentId} in qmd could not be updated: ${messageOf(error)}`);
  };
  function arm(): void {
    if (program.isClosed || when.intervalMs <= 0) return;
    timer = clock.after(when.intervalMs, () => {
      update().catch(report).finally(arm);
    });
  }

  return {
    settings,
    async start() {
      arm();
      if (when.onBoot) await update().catch(report);
    },
    async search(query, { maxResults, minScore, scope }) {
      // The query is an argument of a program: what begins with a dash is text all the same.
      const text = query.replace(/^[-\s]+/, "").trim();
      if (text === "") return [];
      try {
        await prepare();
        const most = Math.min(maxResults, limits.maxResults);
        const located = parseResults(await askQmd(settings, run, text, most * EXTRA)).flatMap((printed) => locate(printed, settings, workspace) ?? []);
        lastError = undefined;
        const good = located.filter(({ hit }) => hit.score >= minScore);
        return withinLimits(visibleHits(good, scope, sessions), most, limits);
      } catch (error) {
        lastError = messageOf(error);
        throw error instanceof AppError ? error : new AppError("UNAVAILABLE", `qmd: ${lastError}`);
      }
    },
    update,
    status: () => ({ command: settings.command, searchMode, collections: collections.map(({ name }) => name), lastUpdateAt, lastEmbedAt, lastError }),
    async [Symbol.asyncDispose]() {
      timer?.[Symbol.dispose]();
      await program[Symbol.asyncDispose]();
      await Promise.allSettled([updating, prepared]);
    },
  };
}
