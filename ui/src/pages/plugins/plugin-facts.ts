import type { MethodResult } from "openclaw/client";
import { plural } from "../../base/figures.ts";
import { t } from "../../words/words.ts";

export type Plugin = MethodResult<"plugins.list">["plugins"][number];
export type Diagnostic = MethodResult<"plugins.list">["diagnostics"][number];
export type Stats = MethodResult<"plugins.stats">;

/** Names of one kind that a plugin registered. */
export interface Registered {
  readonly kind: string;
  readonly names: readonly string[];
}

/** What a plugin brought, kinds with nothing left out. */
export function registeredBy(plugin: Plugin): readonly Registered[] {
  const kinds: readonly Registered[] = [
    { kind: t("Tools"), names: plugin.toolNames },
    { kind: t("Hooks"), names: plugin.hookNames },
    { kind: t("Channels"), names: plugin.channelIds },
    { kind: t("Model providers"), names: plugin.providerIds },
    { kind: t("Media providers"), names: plugin.mediaProviders ?? [] },
    { kind: t("Chat commands"), names: plugin.commands.map((name) => (name.startsWith("/") ? name : `/${name}`)) },
    { kind: t("Gateway methods"), names: plugin.gatewayMethods },
    { kind: t("Command line"), names: plugin.cliCommands },
    { kind: t("Services"), names: plugin.services },
    { kind: t("HTTP routes"), names: plugin.httpHandlers > 0 ? [plural(plugin.httpHandlers, t("route"), t("routes"))] : [] },
  ];
  return kinds.filter(({ names }) => names.length > 0);
}

export interface Permission {
  readonly text: string;
  readonly allowed: boolean;
  /** Where that is decided. */
  readonly path?: string;
}

type Tree = Readonly<Record<string, unknown>> | undefined;
const below = (tree: unknown, ...path: readonly string[]): unknown => path.reduce<unknown>((at, name) => (at as Tree)?.[name], tree);

/** What a plugin may do, from where it comes and what the configuration says of it. */
export function permissionsOf({ id, origin, toolNames }: Pick<Plugin, "id" | "origin" | "toolNames">, config: unknown): readonly Permission[] {
  const hooks = `plugins.entries.${id}.hooks`;
  const set = (name: string): unknown => below(config, "plugins", "entries", id, "hooks", name);
  const reads = origin === "bundled" ? set("allowConversationAccess") !== false : set("allowConversationAccess") === true;
  return [
    { text: t("Use files, network and programs with the gateway’s permissions"), allowed: true },
    { text: t("Read and change messages in conversations"), allowed: reads, path: `${hooks}.allowConversationAccess` },
    { text: t("Add to the model's prompt"), allowed: set("allowPromptInjection") !== false, path: `${hooks}.allowPromptInjection` },
    ...(toolNames.length > 0 ? [{ text: t("Offer tools to agents, within the tool policy"), allowed: true, path: "tools" }] : []),
  ];
}

export interface HookTiming {
  readonly hook: string;
  readonly calls: number;
  readonly averageMs: number;
  readonly maxMs: number;
  readonly failures: number;
  readonly skipped: number;
  /** Of the slowest average, 0 to 1: for a bar. */
  readonly share: number;
  readonly lastError?: string;
  /** Said when the hook is held back after failures. */
  readonly breaker?: { readonly state: string; readonly retryAt?: number };
}

/** Timings of a plugin's hooks, what takes longest in all first. */
export function timingsOf(stats: Stats | undefined, id: string): readonly HookTiming[] {
  const rows = (stats?.hooks ?? []).filter(({ pluginId }) => pluginId === id).toSorted((a, b) => b.totalMs - a.totalMs);
  const average = ({ totalMs, calls }: Stats["hooks"][number]): number => (calls === 0 ? 0 : totalMs / calls);
  const slowest = Math.max(0, ...rows.map(average));
  return rows.map((row) => {
    const open = stats?.breakers.find(({ pluginId, hook }) => pluginId === id && hook === row.hook);
    return {
      hook: row.hook,
      calls: row.calls,
      averageMs: average(row),
      maxMs: row.maxMs,
      failures: row.failures + row.timeouts,
      skipped: row.skipped,
      share: slowest === 0 ? 0 : average(row) / slowest,
      ...(row.lastError === undefined ? {} : { lastError: row.lastError }),
      ...(open && open.state !== "closed" ? { breaker: { state: open.state, ...(open.retryAt === undefined ? {} : { retryAt: open.retryAt }) } } : {}),
    };
  });
}

const RANK = { error: 0, loaded: 1, disabled: 2 } as const;

/** What is broken first, then what runs, by name. */
export function inOrder(plugins: readonly Plugin[], filter = ""): readonly Plugin[] {
  const wanted = filter.trim().toLowerCase();
  return plugins
    .filter(({ id, name, description = "" }) => `${id} ${name} ${description}`.toLowerCase().includes(wanted))
    .toSorted((a, b) => RANK[a.status] - RANK[b.status] || a.name.localeCompare(b.name));
}
