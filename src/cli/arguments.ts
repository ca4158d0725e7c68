import { parseArgs } from "node:util";
import { AppError, messageOf, systemCode } from "../base/errors.ts";
import { nearest } from "../base/text.ts";
import type { OptionSpecs, Values } from "./command.ts";

export interface ParsedArguments<O extends OptionSpecs> {
  readonly values: Values<O>;
  readonly positionals: readonly string[];
  readonly help: boolean;
}

function unknownOption(error: unknown, options: OptionSpecs): AppError | undefined {
  if (systemCode(error) !== "ERR_PARSE_ARGS_UNKNOWN_OPTION") return undefined;
  const option = /'(--?[^'\s]+)/.exec(messageOf(error))?.[1] ?? "";
  const close = nearest(option.replace(/^-+/, ""), Object.keys(options));
  const known = Object.keys(options).map((name) => `--${name}`);
  return new AppError("INVALID_INPUT", `unknown option ${option}; ${close ? `did you mean --${close}?` : `known options: ${[...known, "--help"].join(", ")}`}`);
}

/** Reads a command's own arguments. A value that begins with a dash is written as `--name=value`, or after `--`. */
export function parseArguments<O extends OptionSpecs>(args: readonly string[], options: O): ParsedArguments<O> {
  try {
    const parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      strict: true,
      options: {
        ...Object.fromEntries(
          Object.entries(options).map(([name, { type, short, multiple }]) => [name, { type, ...(short ? { short } : {}), ...(multiple ? { multiple } : {}) }]),
        ),
        help: { type: "boolean", short: "h" },
      },
    });
    const { help, ...values } = parsed.values;
    return { values, positionals: parsed.positionals, help: help === true };
  } catch (error) {
    throw unknownOption(error, options) ?? new AppError("INVALID_INPUT", error instanceof Error ? error.message : String(error), { cause: error });
  }
}

export interface GlobalArguments {
  readonly rest: readonly string[];
  readonly noColor: boolean;
  readonly version: boolean;
  readonly help: boolean;
}

/** Takes `--no-color`, `--version` and `--help` that stand before the command. The configuration module reads profiles. */
export function parseGlobals(args: readonly string[]): GlobalArguments {
  const found = { noColor: false, version: false, help: false };
  let taken = 0;
  for (const arg of args) {
    if (arg === "--no-color") found.noColor = true;
    else if (arg === "--version" || arg === "-V" || arg === "-v") found.version = true;
    else if (arg === "--help" || arg === "-h") found.help = true;
    else break;
    taken += 1;
  }
  return { ...found, rest: args.slice(taken) };
}
