import { AppError } from "../base/errors.ts";
import { nearest } from "../base/text.ts";
import { parseArguments } from "./arguments.ts";
import { isGroup, type Entry, type Group } from "./command.ts";
import { commandHelp, rootHelp } from "./help.ts";
import type { Io } from "./io.ts";

/** Commands that plugins bring. Built-in ones of the same name hide them. */
export interface PluginCommands {
  /** Those that are known without loading a plugin. */
  listed(): Promise<readonly Pick<Entry, "name" | "summary">[]>;
  /** The exit code; nothing when no plugin has the command. */
  run(args: readonly string[]): Promise<number | undefined>;
}

const NO_PLUGINS: PluginCommands = { listed: async () => [], run: async () => undefined };

function find(entries: readonly Entry[], name: string, path: string, others: readonly string[] = []): Entry {
  const found = entries.find((entry) => entry.name === name);
  if (found) return found;
  const names = [...entries.filter(({ isAlias }) => !isAlias).map((entry) => entry.name), ...others];
  const close = nearest(name, names);
  throw new AppError(
    "INVALID_INPUT",
    `unknown command "${[path, name].filter(Boolean).join(" ")}"; ${close ? `did you mean "${close}"?` : `one of ${names.join(", ")}`}`,
  );
}

/** How many arguments before the name of a command are flags of its group, with their values. */
function countFlags({ leadingFlags = {} }: Group, args: readonly string[]): number {
  let at = 0;
  for (;;) {
    const [, flag = "", value] = /^--([^=]+)(=.*)?$/s.exec(args[at] ?? "") ?? [];
    if (!Object.hasOwn(leadingFlags, flag)) return at;
    at += leadingFlags[flag] === true && value === undefined ? 2 : 1;
  }
}

/** Picks the next command below a group, or nothing when its help is wanted. */
function step(group: Group, args: readonly string[], path: string): { readonly entry: Entry; readonly rest: readonly string[] } | undefined {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h") return undefined;
  if (name !== undefined && !name.startsWith("-")) return { entry: find(group.entries, name, path), rest };
  if (group.fallback === undefined) return undefined;
  return { entry: find(group.entries, group.fallback, path), rest: args };
}

/** Finds the command that `args` name, loads it and nothing else, and runs it. Gives the exit code. */
export async function dispatch(entries: readonly Entry[], args: readonly string[], io: Io, plugins = NO_PLUGINS): Promise<number> {
  const [name] = args;
  if (name === undefined || name === "help") {
    io.out(rootHelp(entries, io, await plugins.listed()));
    return 0;
  }
  const known = entries.some((one) => one.name === name);
  const code = known || name.startsWith("-") ? undefined : await plugins.run(args);
  if (code !== undefined) return code;
  let entry = find(entries, name, "", known ? [] : (await plugins.listed()).map((command) => command.name));
  let rest: readonly string[] = args.slice(1);
  let path = entry.name;
  const flags: string[] = [];
  let loaded = await entry.load();
  while (isGroup(loaded)) {
    const count = countFlags(loaded, rest);
    flags.push(...rest.slice(0, count));
    const next = step(loaded, rest.slice(count), path);
    if (!next) {
      io.out(commandHelp(path, entry.summary, loaded, io));
      return 0;
    }
    ({ entry, rest } = next);
    path = `${path} ${entry.name}`;
    loaded = await entry.load();
  }
  const { values, positionals, help } = parseArguments([...flags, ...rest], loaded.options);
  if (help) {
    io.out(commandHelp(path, entry.summary, loaded, io, await loaded.listedOptions?.(io)));
    return 0;
  }
  return (await loaded.run({ io, values, positionals })) ?? 0;
}
