import { existsSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isObject, type OpenClawConfig } from "../../config/index.ts";
import { HOOKS, resolveHookName } from "../../hooks/index.ts";
import type { PluginEntry } from "../record.ts";
import type { Generation } from "./generation.ts";

/** A plugin that guards tool calls, is meant to run, and does not. */
export interface MissingGuard {
  readonly pluginId: string;
  /** What it guards with: names of hooks that fail closed, `tool policy <id>`. */
  readonly guards: readonly string[];
  /** Why it does not run. */
  readonly error: string;
  /** For people: what is missing, what follows from that, what to do. */
  readonly message: string;
}

/** Where the guards that plugins registered are recorded between starts. */
export interface GuardRecords {
  read(): Promise<unknown>;
  write(value: unknown): Promise<unknown>;
}

export interface GuardsDeps {
  /** Without it nothing is remembered between starts: only what manifests declare counts. */
  readonly records?: GuardRecords | undefined;
  readonly slots: ReadonlyMap<string, { readonly entry: PluginEntry; readonly generation: Generation | undefined; readonly error: string | undefined }>;
  readonly config: () => OpenClawConfig;
  readonly log: Logger;
}

/** Which plugins guard tool calls, and which of those do not run. */
export interface Guards {
  /** Reads what earlier starts recorded. Call it before anything asks for `missing`. */
  load(): Promise<void>;
  /** Plugins were loaded, reloaded or taken down: records the guards of those that run. Resolves when that is on disk; never rejects. */
  changed(): Promise<void>;
  /** Cheap: the same list until a plugin or the configuration changes. */
  missing(): readonly MissingGuard[];
}

interface GuardRecord {
  readonly rootDir: string;
  readonly guards: readonly string[];
}

/** True for hooks whose failing blocks: a plugin that registers one is relied on. */
function failsClosed(hook: string): boolean {
  const name = resolveHookName(hook);
  return name !== undefined && HOOKS[name].onThrow === "block";
}

function guardsOf({ ledger }: Generation): readonly string[] {
  const hooks = ledger.names("hook").filter(failsClosed);
  return [...new Set([...ledger.names("tool policy").map((id) => `tool policy ${id}`), ...hooks])];
}

function parseRecords(value: unknown): Map<string, GuardRecord> {
  const found = new Map<string, GuardRecord>();
  for (const [id, row] of Object.entries(isObject(value) ? value : {})) {
    if (!isObject(row) || typeof row["rootDir"] !== "string" || !Array.isArray(row["guards"])) continue;
    found.set(id, { rootDir: row["rootDir"], guards: row["guards"].filter((guard) => typeof guard === "string") });
  }
  return found;
}

/** The operator turned it off: its guards are not expected. */
function isTurnedOff({ plugins }: OpenClawConfig, id: string): boolean {
  if (plugins?.enabled === false || plugins?.entries?.[id]?.enabled === false) return true;
  return [...(plugins?.deny ?? []), ...(plugins?.disabled ?? [])].includes(id);
}

/** The configuration expects the plugin to be there. */
function isExpected({ plugins }: OpenClawConfig, id: string): boolean {
  const entry = plugins?.entries?.[id];
  return entry?.enabled === true || entry?.required === true || (plugins?.allow ?? []).includes(id) || plugins?.installs?.[id] !== undefined;
}

function describe(pluginId: string, guards: readonly string[], error: string): MissingGuard {
  const what = guards.length === 0 ? "is required" : `guards tool calls (${guards.join(", ")})`;
  const advice = `Fix it and run \`openclaw plugins reload ${pluginId}\`, or set plugins.entries.${pluginId}.required to false to run tools without it.`;
  return { pluginId, guards, error, message: `tools are refused: the plugin ${pluginId} ${what} and is not loaded: ${error}. ${advice}` };
}

export function createGuards({ records, slots, config, log }: GuardsDeps): Guards {
  let known = new Map<string, GuardRecord>();
  let cached: { readonly of: OpenClawConfig; readonly missing: readonly MissingGuard[] } | undefined;
  let written: Promise<void> = Promise.resolve();

  function missingGuard(id: string, current: OpenClawConfig): MissingGuard | undefined {
    const slot = slots.get(id);
    const { required } = current.plugins?.entries?.[id] ?? {};
    if (slot?.generation || required === false || isTurnedOff(current, id)) return undefined;
    const record = known.get(id);
    if (!slot) {
      // Neither named nor on disk any more: it was removed.
      const allow = current.plugins?.allow ?? [];
      if (!isExpected(current, id) && (allow.length > 0 || !record || !existsSync(record.rootDir))) return undefined;
      return describe(id, record?.guards ?? [], "it was not found, or its folder may not be used (openclaw plugins doctor names the reason)");
    }
    const { entry } = slot;
    // Off by decision, not by failure.
    if (!entry.enabled && entry.error === undefined) return undefined;
    const declared = (entry.manifest.contracts?.["trustedToolPolicies"] ?? []).map((policy) => `tool policy ${policy}`);
    const guards = [...new Set([...declared, ...(record?.guards ?? [])])];
    return guards.length === 0 && required !== true ? undefined : describe(id, guards, slot.error ?? entry.error ?? "it was not loaded");
  }

  function record(): void {
    const before = JSON.stringify([...known]);
    for (const [id, { entry, generation }] of slots) {
      if (!generation) continue;
      const guards = guardsOf(generation);
      if (guards.length > 0) known.set(id, { rootDir: entry.rootDir, guards });
      else known.delete(id);
    }
    for (const [id, { rootDir }] of known) if (!slots.has(id) && !isExpected(config(), id) && !existsSync(rootDir)) known.delete(id);
    if (!records || JSON.stringify([...known]) === before) return;
    const value = Object.fromEntries(known);
    written = written
      .then(async () => void (await records.write(value)))
      .catch((error: unknown) => log.warn(`which plugins guard tool calls could not be recorded: ${messageOf(error)}`));
  }

  return {
    async load() {
      if (!records) return;
      known = parseRecords(await records.read());
      cached = undefined;
    },
    changed() {
      record();
      cached = undefined;
      return written;
    },
    missing() {
      const current = config();
      if (cached?.of === current) return cached.missing;
      const named = Object.entries(current.plugins?.entries ?? {}).flatMap(([id, entry]) => (entry?.required === true ? [id] : []));
      const ids = new Set([...slots.keys(), ...known.keys(), ...named]);
      cached = { of: current, missing: [...ids].flatMap((id) => missingGuard(id, current) ?? []) };
      return cached.missing;
    },
  };
}
