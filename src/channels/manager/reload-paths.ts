import type { ChannelPlugin } from "../../protocol/index.ts";

const covers = (prefix: string, path: string): boolean => path === prefix || path.startsWith(`${prefix}.`);
/** A section that went or came as a whole, above what a prefix names. */
const isAbove = (path: string, prefix: string): boolean => prefix.startsWith(`${path}.`);

/** Whether a changed path restarts a channel. The longest prefix that fits decides; of two that are the same, the one that restarts. */
function restarts(path: string, configPrefixes: readonly string[], noopPrefixes: readonly string[]): boolean {
  const longest = (prefixes: readonly string[]): number => Math.max(-1, ...prefixes.filter((prefix) => covers(prefix, path)).map((prefix) => prefix.length));
  const found = longest(configPrefixes);
  return found >= 0 ? found >= longest(noopPrefixes) : configPrefixes.some((prefix) => isAbove(path, prefix));
}

/** Which accounts a change restarts: all, some, or none. What stands under one account is about that one only. */
export function affectedAccounts({ id, reload }: Pick<ChannelPlugin, "id" | "reload">, changed: readonly string[]): "all" | ReadonlySet<string> {
  const { configPrefixes, noopPrefixes = [] } = reload ?? { configPrefixes: [`channels.${id}`] };
  const paths = changed.filter((path) => restarts(path, configPrefixes, noopPrefixes));
  const section = `channels.${id}.accounts.`;
  const own = paths.flatMap((path) => (path.startsWith(section) ? [path.slice(section.length)] : []));
  if (own.length < paths.length) return "all";
  return new Set(own.map((path) => path.split(".", 1)[0]!));
}
