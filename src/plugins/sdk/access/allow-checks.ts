/** Allow lists that hold what anybody can take, such as names; and what of a conversation the model may see. */
import type { ConfigSection, HostConfig } from "../../../protocol/index.ts";
import { channelSection, mergedAccount, normalizeAccountId, recordOf } from "../account-ids.ts";
import { normalizeStringEntries } from "../values/coerce.ts";
import { isDangerousNameMatchingEnabled } from "../values/small.ts";

/** Whether another user could take over an entry: true for everything that is not a stable id. */
export function buildMutableAllowEntryDetector(params: {
  readonly prefixes?: readonly string[] | undefined;
  readonly stableIdPattern: RegExp;
}): (entry: string) => boolean {
  return (raw) => {
    const text = raw.trim();
    const prefix = params.prefixes?.find((known) => text.toLowerCase().startsWith(known.toLowerCase())) ?? "";
    const id = text.slice(prefix.length).trim();
    return id !== "" && id !== "*" && !params.stableIdPattern.test(id);
  };
}

export interface AllowlistScope {
  readonly prefix: string;
  readonly account: ConfigSection;
}

/** The lists that a section usually has, with their paths. */
export const collectStandardAllowlistLists = ({ prefix, account }: AllowlistScope): { pathLabel: string; list: unknown }[] =>
  ["allowFrom", "groupAllowFrom"].map((key) => ({ pathLabel: `${prefix}.${key}`, list: account[key] }));

/** Warns of such entries, unless the operator wants names to count. */
export function createDangerousNameMatchingMutableAllowlistWarningCollector(params: {
  readonly channel: string;
  detector(entry: string): boolean;
  collectLists(scope: AllowlistScope): { pathLabel: string; list: unknown }[];
}): (given: { cfg: HostConfig }) => string[] {
  return ({ cfg }) => {
    const section = channelSection(cfg, params.channel);
    if (!section) return [];
    const prefix = `channels.${params.channel}`;
    const accounts = Object.entries(recordOf(section["accounts"]) ?? {}).map(([id, account]) => ({
      prefix: `${prefix}.accounts.${id}`,
      account: recordOf(account) ?? {},
    }));
    const scopes = [{ prefix, account: section }, ...accounts].filter(({ account }) => !isDangerousNameMatchingEnabled(account));
    return scopes.flatMap((scope) =>
      params.collectLists(scope).flatMap(({ pathLabel, list }) => {
        const names = normalizeStringEntries(Array.isArray(list) ? list : []).filter((entry) => params.detector(entry));
        return names.length > 0 ? [`- ${pathLabel} lists ${names.join(", ")}: names can be reused by others; list ids instead.`] : [];
      }),
    );
  };
}

/** One key for a place in a tree of policies. */
export const scopeKey = (...parts: readonly (readonly [kind: string, id: string])[]): string =>
  parts.map(([kind, id]) => `${kind}:${encodeURIComponent(id)}`).join("/");

export type ContextVisibility = "all" | "allowlist" | "allowlist_quote";

/** What others wrote, as far as the model may see it: the account's setting, the channel's, the general one, all. */
export function resolveChannelContextVisibilityMode(params: {
  readonly cfg: HostConfig;
  readonly channel: string;
  readonly accountId?: string | null | undefined;
}): ContextVisibility {
  const own = mergedAccount(params.cfg, params.channel, normalizeAccountId(params.accountId))["contextVisibility"];
  return ((own ?? channelSection(params.cfg, "defaults")?.["contextVisibility"]) as ContextVisibility | undefined) ?? "all";
}

/** Leaves out what senders wrote who are not allowed; a quote may stay where the mode says so. */
export function filterSupplementalContextItems<T>(params: {
  readonly items: readonly T[];
  readonly mode: ContextVisibility;
  readonly kind: string;
  isSenderAllowed(item: T): boolean;
}): { items: T[]; omitted: number } {
  const all = params.mode === "all" || (params.mode === "allowlist_quote" && params.kind === "quote");
  const items = all ? [...params.items] : params.items.filter((item) => params.isSenderAllowed(item));
  return { items, omitted: params.items.length - items.length };
}
