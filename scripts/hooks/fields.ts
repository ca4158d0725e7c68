import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const EVENTS = "src/hooks/events/";
/** Types for plugins, and what plugins are tested with and made of, supply nothing. */
const NO_SUPPLIERS = [EVENTS, "src/plugins/sdk/", "src/plugin-testing/", "src/plugins/create/"];

/** A field of what hook handlers are called with. */
export interface HookField {
  /** `BeforeToolCallEvent.params`. */
  readonly name: string;
  /** Its comment says that the gateway does not supply it. */
  readonly isDeclaredMissing: boolean;
}

const sources = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !/\.(?:test|fixture)\.ts$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));

/** The fields of all interfaces of events and contexts. Results are the plugins' to fill. */
export function hookFields(text: string): readonly HookField[] {
  const fields: HookField[] = [];
  for (const [, owner, body] of text.matchAll(/export interface (\w+(?:Event|Context|Base)) [^{]*\{\n([\s\S]*?)\n\}/g)) {
    let comment = "";
    for (const line of body!.split("\n")) {
      const field = /^ {2}(\w+)\??:/.exec(line)?.[1];
      if (/^ {2}\/?\*/.test(line)) comment += line;
      if (field === undefined) continue;
      fields.push({ name: `${owner}.${field}`, isDeclaredMissing: comment.includes("Not supplied") });
      comment = "";
    }
  }
  return fields;
}

/** What is wrong with fields and those who supply them, one line each. A field counts as supplied when some code writes its name as a key. */
export function fieldProblems(fields: readonly HookField[], suppliers: string): readonly string[] {
  const keys = new Set(Array.from(suppliers.matchAll(/\b(\w+)(?=\??:|,| \}|\n)/g), ([, key]) => key!));
  return fields.flatMap(({ name, isDeclaredMissing }) => {
    const isSupplied = keys.has(name.slice(name.indexOf(".") + 1));
    if (isSupplied === isDeclaredMissing && isSupplied) return [`${name} is supplied: its comment says that it is not`];
    return isSupplied || isDeclaredMissing ? [] : [`${name} is supplied nowhere in src: fill it, or begin its comment with "Not supplied: " and the reason`];
  });
}

export const allHookFields = (): readonly HookField[] => sources(EVENTS).flatMap((file) => hookFields(readFileSync(join(ROOT, file), "utf8")));

/** All code that may supply fields, as one text. */
export const supplyingCode = (): string =>
  sources("src")
    .filter((file) => !NO_SUPPLIERS.some((folder) => file.startsWith(folder)))
    .map((file) => readFileSync(join(ROOT, file), "utf8"))
    .join("\n");
