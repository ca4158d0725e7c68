import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Config } from "../../config/index.ts";
import { sendPolicy } from "../../sessions/index.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import { readLines, type ReadLines } from "../read-lines.ts";
import { citedPath } from "../thread/note-files.ts";
import type { Scope, SearchHit } from "../types.ts";
import { createAgentQmd, type AgentQmd, type QmdStatus } from "./agent-qmd.ts";
import { QMD_PREFIX } from "./results.ts";
import { qmdSettings } from "./settings.ts";

/** The conversation in which something is looked up. */
export interface AskingSession {
  readonly key: string;
  readonly channel?: string | undefined;
}

export interface QmdSearch {
  readonly query: string;
  readonly maxResults: number;
  readonly minScore: number;
  readonly scope: Scope;
  readonly session?: AskingSession | undefined;
}

/** Memory in the program qmd, for all agents. */
export interface Qmd extends AsyncDisposable {
  start(agentId: string): Promise<void>;
  /** Undefined when the program does not work: then the built-in index answers. */
  search(agentId: string, search: QmdSearch): Promise<readonly SearchHit[] | undefined>;
  /** Undefined when the path is no note of qmd's. */
  read(agentId: string, lines: ReadLines): Promise<{ readonly path: string; readonly text: string } | undefined>;
  update(agentId: string): Promise<void>;
  status(agentId: string): QmdStatus & { readonly usesBuiltin: boolean };
}

export interface QmdDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly home: string;
  readonly workspaceOf: (agentId: string) => string;
  readonly store?: Pick<Store, "read"> | undefined;
}

/** `agent:<id>:<channel>:<kind>:…`: conversations with one person or several that a channel brought. */
const CHANNEL_OF_KEY = /^agent:[^:]+:([^:]+)(?::[^:]+)?:(?:direct|dm|group|channel|thread|topic):/i;

/** After a failure the built-in index answers for this long before the program is tried again. */
const REST_MS = 30_000;

export function createQmd({ config, clock, log, home, workspaceOf, store }: QmdDeps): Qmd {
  const agents = new Map<string, { readonly key: string; readonly qmd: AgentQmd }>();
  const restsUntil = new Map<string, number>();
  /** Those of an earlier configuration, until they have ended. */
  const closing = new Set<Promise<void>>();

  function close(qmd: AgentQmd): void {
    const closed = Promise.resolve(qmd[Symbol.asyncDispose]()).finally(() => closing.delete(closed));
    closing.add(closed);
  }

  /** Begins again when the configuration changed. */
  function of(agentId: string): { readonly qmd: AgentQmd; readonly isNew: boolean } {
    const settings = qmdSettings(config.current, agentId, { stateDir: config.paths.state, home, workspace: workspaceOf(agentId) });
    const key = JSON.stringify(settings);
    const known = agents.get(agentId);
    if (known?.key === key) return { qmd: known.qmd, isNew: false };
    if (known) close(known.qmd);
    const qmd = createAgentQmd(settings, { agentId, workspace: workspaceOf(agentId), env: config.env, clock, log, store });
    agents.set(agentId, { key, qmd });
    restsUntil.delete(agentId);
    return { qmd, isNew: true };
  }

  /** The agent's memory, being updated from its first use on. */
  function started(agentId: string): AgentQmd {
    const { qmd, isNew } = of(agentId);
    if (isNew) void qmd.start();
    return qmd;
  }

  const isResting = (agentId: string): boolean => clock.monotonic() < (restsUntil.get(agentId) ?? Number.NEGATIVE_INFINITY);

  /** Where a conversation takes place: as its record says, else as its key does. */
  async function locate({ key, channel }: AskingSession): Promise<{ readonly entry: SessionEntry | undefined; readonly channel: string | undefined }> {
    const entry = (await store?.read("sessions.get", { key: key.toLowerCase() }))?.entry;
    const known = [channel, entry?.channel, entry?.["lastChannel"], CHANNEL_OF_KEY.exec(key)?.[1]];
    // Its own `sendPolicy` is about sending to it, not about searching from it.
    return { entry: entry && { ...entry, sendPolicy: undefined }, channel: known.find((name) => typeof name === "string" && name !== "") };
  }

  return {
    async start(agentId) {
      const { qmd, isNew } = of(agentId);
      if (!isNew) return;
      const first = qmd.start();
      if (qmd.settings.update.waitForBootSync) await first;
    },
    async search(agentId, { query, maxResults, minScore, scope, session }) {
      const qmd = started(agentId);
      if (session) {
        const { entry, channel } = await locate(session);
        const { allowed } = sendPolicy({ session: { sendPolicy: qmd.settings.scope } }, session.key.toLowerCase(), entry, channel);
        if (!allowed) {
          log.warn(`memory.qmd.scope does not allow a search in ${session.key} (channel ${channel ?? "unknown"})`);
          return [];
        }
      }
      if (isResting(agentId)) return undefined;
      try {
        return await qmd.search(query, { maxResults, minScore, scope });
      } catch (error) {
        // One that another configuration ended did not fail.
        if (agents.get(agentId)?.qmd === qmd) restsUntil.set(agentId, clock.monotonic() + REST_MS);
        log.warn(`qmd did not respond, using the built-in index: ${messageOf(error)}`);
        return undefined;
      }
    },
    async read(agentId, { path, ...lines }) {
      const [, name = "", below = ""] = new RegExp(`^${QMD_PREFIX}([^/]+)/(.+)$`).exec(path.trim()) ?? [];
      const collection = of(agentId).qmd.settings.collections.find((other) => other.name === name);
      const file = collection && join(collection.root, below);
      // Which conversations may be seen is decided where they are searched.
      if (!collection || collection.kind === "sessions" || file === undefined || !isInside(collection.root, file)) return undefined;
      const { text } = await readLines({ workspace: workspaceOf(agentId), extraPaths: [collection.root] }, { path: file, ...lines });
      return { path: `${QMD_PREFIX}${name}/${citedPath(collection.root, file)}`, text };
    },
    update: (agentId) => started(agentId).update(),
    status: (agentId) => ({ ...of(agentId).qmd.status(), usesBuiltin: isResting(agentId) }),
    async [Symbol.asyncDispose]() {
      for (const { qmd } of agents.values()) close(qmd);
      await Promise.all(closing);
    },
  };
}
