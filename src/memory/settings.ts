import { resolve, join } from "node:path";
import { expandHome, type OpenClawConfig } from "../config/index.ts";
import type { RankingSettings, Source } from "./types.ts";

type Written = NonNullable<NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>["memorySearch"]>;

/** `memorySearch` of an agent with the documented defaults. */
export interface MemorySettings {
  readonly enabled: boolean;
  readonly sources: readonly Source[];
  readonly extraPaths: readonly string[];
  /** The index. */
  readonly file: string;
  readonly driver: "sqlite";
  readonly chunking: { readonly tokens: number; readonly overlap: number };
  readonly sync: {
    readonly onSessionStart: boolean;
    readonly onSearch: boolean;
    readonly watch: boolean;
    readonly watchDebounceMs: number;
    readonly intervalMinutes: number;
    /** A session that grew by this much is indexed without waiting for a search. */
    readonly sessions: { readonly deltaBytes: number; readonly deltaMessages: number };
  };
  readonly maxResults: number;
  readonly minScore: number;
  readonly ranking: RankingSettings;
  /** Our own: what a turn is given of it before the model is asked. */
  readonly recall: "off" | "hint" | "inject";
  /** Our own: what a group may recall. */
  readonly inGroups: "own" | "all";
  readonly citations: "auto" | "on" | "off";
  /** Everything else, for the embedding providers. */
  readonly written: Written;
}

export interface SettingsContext {
  readonly stateDir: string;
  readonly home: string;
  readonly workspace: string;
}

/** An agent's value over the defaults, field by field; `extraPaths` are united. */
function merged(config: OpenClawConfig, agentId: string): Written {
  const defaults = config.agents?.defaults?.memorySearch ?? {};
  const own = config.agents?.list?.find(({ id }) => id.trim().toLowerCase() === agentId.toLowerCase())?.memorySearch;
  if (!own) return defaults;
  const { hybrid, ...query } = { ...defaults.query, ...own.query };
  return {
    ...defaults,
    ...own,
    extraPaths: [...new Set([...(defaults.extraPaths ?? []), ...(own.extraPaths ?? [])])],
    remote: { ...defaults.remote, ...own.remote, batch: { ...defaults.remote?.batch, ...own.remote?.batch } },
    local: { ...defaults.local, ...own.local },
    store: { ...defaults.store, ...own.store },
    chunking: { ...defaults.chunking, ...own.chunking },
    sync: { ...defaults.sync, ...own.sync, sessions: { ...defaults.sync?.sessions, ...own.sync?.sessions } },
    query: { ...query, ...(hybrid === undefined ? {} : { hybrid: { ...defaults.query?.hybrid, ...own.query?.hybrid } }) },
    cache: { ...defaults.cache, ...own.cache },
  };
}

/** Sessions are a source unless the configuration names others, or says that past sessions are not to be indexed. */
function sourcesOf({ sources, experimental }: Written): readonly Source[] {
  const chosen: readonly Source[] = sources && sources.length > 0 ? sources : ["memory", "sessions"];
  return experimental?.sessionMemory === false ? chosen.filter((source) => source !== "sessions") : chosen;
}

/** Weights scaled to a sum of 1; undefined when the configuration names none. */
function weightsOf(hybrid: NonNullable<Written["query"]>["hybrid"]): RankingSettings["weights"] {
  if (hybrid?.vectorWeight === undefined && hybrid?.textWeight === undefined) return undefined;
  const [vector, text] = [hybrid.vectorWeight ?? 0.7, hybrid.textWeight ?? 0.3];
  const sum = vector + text || 1;
  return { vector: vector / sum, text: text / sum };
}

export function memorySettings(config: OpenClawConfig, agentId: string, { stateDir, home, workspace }: SettingsContext): MemorySettings {
  const written = merged(config, agentId);
  const { sync, query, store, chunking } = written;
  const slot = config.plugins?.slots?.memory ?? "memory-core";
  const file =
    store?.path === undefined ? join(stateDir, "memory", `${agentId}.sqlite`) : resolve(home, expandHome(store.path, home).replaceAll("{agentId}", agentId));
  const { mmr, temporalDecay, candidateMultiplier } = query?.hybrid ?? {};
  const weights = weightsOf(query?.hybrid);
  return {
    enabled: written.enabled !== false && slot === "memory-core" && config.plugins?.enabled !== false,
    sources: sourcesOf(written),
    extraPaths: (written.extraPaths ?? []).map((path) => resolve(workspace, expandHome(path, home))),
    file,
    driver: store?.driver ?? "sqlite",
    chunking: { tokens: chunking?.tokens ?? 400, overlap: Math.min(chunking?.overlap ?? 80, (chunking?.tokens ?? 400) - 1) },
    sync: {
      onSessionStart: sync?.onSessionStart ?? true,
      onSearch: sync?.onSearch ?? true,
      watch: sync?.watch ?? true,
      watchDebounceMs: sync?.watchDebounceMs ?? 1500,
      intervalMinutes: sync?.intervalMinutes ?? 0,
      sessions: { deltaBytes: sync?.sessions?.deltaBytes ?? 100_000, deltaMessages: sync?.sessions?.deltaMessages ?? 50 },
    },
    maxResults: query?.maxResults ?? 6,
    // The reference has 0.35, for sums of cosines and words. Here a score is a chance: a passage with one in ten is worth a look.
    minScore: query?.minScore ?? 0.1,
    ranking: {
      candidateMultiplier: Math.min(20, Math.max(1, candidateMultiplier ?? 4)),
      ...(weights ? { weights } : {}),
      ...(query?.hybrid?.enabled === false ? { vectorsOnly: true } : {}),
      ...(mmr?.enabled === true ? { mmrLambda: mmr.lambda ?? 0.7 } : {}),
      ...(temporalDecay?.enabled === true ? { halfLifeDays: temporalDecay.halfLifeDays ?? 30 } : {}),
    },
    recall: written.recall ?? "off",
    inGroups: written.inGroups ?? "own",
    citations: config.memory?.citations ?? "auto",
    written,
  };
}
