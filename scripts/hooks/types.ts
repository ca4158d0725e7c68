import { readdirSync, readFileSync } from "node:fs";

const EVENTS = new URL("../../src/hooks/events/", import.meta.url);

/** The names of the types of one hook. */
export interface HookTypes {
  readonly event: string;
  readonly ctx: string;
  readonly result: string;
}

/** Declarations in `src/hooks/events` as they are written there. */
export interface Declarations {
  readonly hooks: ReadonlyMap<string, HookTypes>;
  /** Exported interfaces and types, by name. */
  readonly texts: ReadonlyMap<string, string>;
}

const HOOK = /^ {2}(\w+): \{ event: ([^;]+); ctx: ([^;]+); result: (.+) \};$/gm;
/** An interface up to its closing line, or a type with the indented lines that follow. */
const DECLARATION = /^export (?:interface (\w+)[^\n]*\{\}|interface (\w+)[^\n]*\{\n(?:[ \n][^\n]*\n?)*\}|type (\w+) =[^\n]*(?:\n [^\n]*)*)$/gm;

export function readDeclarations(): Declarations {
  const hooks = new Map<string, HookTypes>();
  const texts = new Map<string, string>();
  for (const file of readdirSync(EVENTS).filter((name) => name.endsWith(".ts") && name !== "index.ts")) {
    const source = readFileSync(new URL(file, EVENTS), "utf8");
    for (const [, name, event, ctx, result] of source.matchAll(HOOK)) hooks.set(name!, { event: event!, ctx: ctx!, result: result! });
    for (const [text, one, two, three] of source.matchAll(DECLARATION)) texts.set((one ?? two ?? three)!, text.replace(/^export /, ""));
  }
  return { hooks, texts };
}
