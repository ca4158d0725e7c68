import type { Io } from "./io.ts";

/** One flag of a command. */
export interface OptionSpec {
  readonly type: "boolean" | "string";
  readonly help: string;
  readonly short?: string;
  /** What stands for the value in the help text, for `string` options. */
  readonly value?: string;
  readonly multiple?: boolean;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

type ValueOf<S extends OptionSpec> = S extends { type: "boolean" } ? boolean : S extends { multiple: true } ? readonly string[] : string;

/** Values of flags, typed by the command's own option table. */
export type Values<O extends OptionSpecs> = { readonly [K in keyof O]?: ValueOf<O[K]> };

export interface Invocation<O extends OptionSpecs> {
  readonly io: Io;
  readonly values: Values<O>;
  readonly positionals: readonly string[];
}

export interface Command<O extends OptionSpecs = OptionSpecs> {
  /** Arguments after the command's name, as the usage line shows them: `<path> <value>`. */
  readonly positionals?: string;
  readonly options: O;
  /** What `--help` lists, where that depends on what is installed; the others are still read. */
  readonly listedOptions?: (io: Io) => Promise<OptionSpecs>;
  /** Shown by `--help`; every one of them is run by a test. */
  readonly examples: readonly Example[];
  /** The exit code; nothing means 0. */
  run(invocation: Invocation<O>): Promise<number | void>;
}

export interface Example {
  readonly line: string;
  readonly does: string;
}

/** A command in the table: enough to list it without loading it. */
export interface Entry {
  readonly name: string;
  readonly summary: string;
  /** Another name of a command, for habits of older versions: it works and is not listed. */
  readonly isAlias?: boolean;
  readonly load: () => Promise<Command | Group>;
}

/** A command with commands below it. */
export interface Group {
  readonly entries: readonly Entry[];
  /** The one that runs when none is named; without it the help is shown. */
  readonly fallback?: string;
  /** Flags of every command below it, which may stand before the command's name as well; true: followed by a value. */
  readonly leadingFlags?: Readonly<Record<string, boolean>>;
  readonly examples: readonly Example[];
}

export function isGroup(loaded: Command | Group): loaded is Group {
  return "entries" in loaded;
}

/** Declares a command with its option types inferred. */
export function defineCommand<const O extends OptionSpecs>(command: Command<O>): Command {
  // The table holds commands of every option type; `run` only ever gets values parsed from its own options.
  return command;
}

export const JSON_OPTION = { type: "boolean", help: "Print JSON only" } as const;
