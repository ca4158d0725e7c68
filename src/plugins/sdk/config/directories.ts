/** People and groups that a channel knows of. */
import type { ChannelDirectoryEntry, HostConfig } from "../../../protocol/index.ts";
import { normalizeStringEntries } from "../values/coerce.ts";
import type { AllowEntries } from "./config-adapters.ts";

type Loose = Readonly<Record<string, unknown>>;
type List = (params: never) => Promise<ChannelDirectoryEntry[]>;

/** The given parts; nobody and nothing for those that are missing. */
export function createChannelDirectoryAdapter<P extends Loose>(parts: P): P & { self: unknown; listPeers: List; listGroups: List } {
  return { self: async () => null, listPeers: async () => [], listGroups: async () => [], ...parts };
}

interface Query {
  readonly query?: string | null | undefined;
  readonly limit?: number | null | undefined;
}

/** Ids as entries: those that hold the words, at most so many. */
export function toDirectoryEntries(kind: "user" | "group", ids: readonly string[], { query, limit }: Query): ChannelDirectoryEntry[] {
  const words = query?.trim().toLowerCase() ?? "";
  const found = [...new Set(ids)].filter((id) => id !== "*" && id.toLowerCase().includes(words));
  return (limit && limit > 0 ? found.slice(0, limit) : found).map((id) => ({ kind, id }));
}

/** Everybody on the allow list of an account. */
export function listResolvedDirectoryUserEntriesFromAllowFrom<A>(
  params: Query & {
    readonly cfg: HostConfig;
    readonly accountId?: string | null | undefined;
    resolveAccount(cfg: HostConfig, accountId?: string | null): A;
    resolveAllowFrom(account: A): AllowEntries;
    normalizeId?(entry: string): string | null | undefined;
  },
): ChannelDirectoryEntry[] {
  const entries = normalizeStringEntries(params.resolveAllowFrom(params.resolveAccount(params.cfg, params.accountId)) ?? []);
  return toDirectoryEntries(
    "user",
    entries.flatMap((entry) => params.normalizeId?.(entry) ?? (params.normalizeId ? [] : entry)),
    params,
  );
}

/** The same from several lists. */
export function listDirectoryEntriesFromSources(
  params: Query & { readonly kind: "user" | "group"; readonly sources: readonly Iterable<unknown>[]; normalizeId?(entry: string): string | null | undefined },
): ChannelDirectoryEntry[] {
  const entries = normalizeStringEntries(params.sources.flatMap((source) => [...source]));
  return toDirectoryEntries(
    params.kind,
    entries.flatMap((entry) => params.normalizeId?.(entry) ?? (params.normalizeId ? [] : entry)),
    params,
  );
}

/** Live lists whose code is loaded when they are asked for. */
export function createRuntimeDirectoryLiveAdapter<R>(params: {
  getRuntime(): Promise<R>;
  listPeersLive?(runtime: R): List;
  listGroupsLive?(runtime: R): List;
}): Record<string, unknown> {
  const { getRuntime, listPeersLive, listGroupsLive } = params;
  const live = (pick: (runtime: R) => List) => async (given: never) => pick(await getRuntime())(given);
  return { ...(listPeersLive ? { listPeersLive: live(listPeersLive) } : {}), ...(listGroupsLive ? { listGroupsLive: live(listGroupsLive) } : {}) };
}
