import { isGroup, type Command, type Entry, type Example, type Group, type OptionSpecs } from "./command.ts";
import type { Io } from "./io.ts";
import { createStyle, type Style } from "./output/style.ts";

export const GLOBAL_OPTIONS: OptionSpecs = {
  profile: { type: "string", value: "name", help: "Use the state and configuration in ~/.openclaw-<name>" },
  dev: { type: "boolean", help: "Use the profile dev, on port 19001" },
  "no-color": { type: "boolean", help: "Disable colors (also NO_COLOR)" },
  version: { type: "boolean", short: "V", help: "Print the version" },
  help: { type: "boolean", short: "h", help: "Print this help" },
};

function columns(rows: readonly (readonly [string, string])[]): string {
  const widest = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(widest)}  ${right}\n`).join("");
}

function optionRows(options: OptionSpecs): [string, string][] {
  return Object.entries(options).map(([name, { short, value, type, help }]) => [
    `${short ? `-${short}, ` : ""}--${name}${type === "string" ? ` <${value ?? "value"}>` : ""}`,
    help,
  ]);
}

function exampleText(examples: readonly Example[], style: Style): string {
  if (examples.length === 0) return "";
  return `\n${style.bold("Examples")}\n${columns(examples.map(({ line, does }) => [line, style.dim(does)]))}`;
}

/** The first page: what there is. */
export function rootHelp(
  entries: readonly Entry[],
  { version, color, program }: Pick<Io, "version" | "color" | "program">,
  plugins: readonly Pick<Entry, "name" | "summary">[] = [],
): string {
  const style = createStyle(color);
  const list = columns(entries.filter(({ isAlias }) => !isAlias).map(({ name, summary }) => [name, summary]));
  const brought = plugins.filter(({ name }) => !entries.some((entry) => entry.name === name));
  return [
    `${style.bold("openclaw")} ${version}\n\n`,
    `${style.bold("Usage")}  ${program} [--profile <name> | --dev] <command> [options]\n\n`,
    `${style.bold("Commands")}\n${list}\n`,
    brought.length > 0 ? `${style.bold("Plugin commands")}\n${columns(brought.map(({ name, summary }) => [name, summary]))}\n` : "",
    `${style.bold("Options")}\n${columns(optionRows(GLOBAL_OPTIONS))}\n`,
    `\`${program} <command> --help\` shows a command's options and examples.\n`,
  ].join("");
}

type HelpIo = Pick<Io, "color" | "program" | "runnable">;

/** The page of one command or group. `path` is how it was called, without the program's name; `options` are those to list, where not all that are read. */
export function commandHelp(path: string, summary: string, loaded: Command | Group, { color, program, runnable }: HelpIo, options?: OptionSpecs): string {
  const style = createStyle(color);
  const head = `${style.bold(`openclaw ${path}`)}  ${summary}\n\n`;
  const examples = exampleText(
    loaded.examples.map(({ line, does }) => ({ line: runnable(line), does })),
    style,
  );
  if (isGroup(loaded)) {
    const list = columns(loaded.entries.map((entry) => [entry.name + (entry.name === loaded.fallback ? " (default)" : ""), entry.summary]));
    return `${head}${style.bold("Usage")}  ${program} ${path} <command> [options]\n\n${style.bold("Commands")}\n${list}${examples}`;
  }
  const usage = [program, path, loaded.positionals, "[options]"].filter(Boolean).join(" ");
  const rows = columns([...optionRows(options ?? loaded.options), ["-h, --help", "Print this help"]]);
  return `${head}${style.bold("Usage")}  ${usage}\n\n${style.bold("Options")}\n${runnable(rows)}${examples}`;
}
