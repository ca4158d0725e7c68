import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CALL = /\.run(?:Bounded)?\(\s*"([a-z_]+)"/g;
/** The runner itself, what plugins are tested with, and what new plugins are made of. */
const NOT_THE_PATH = ["src/hooks/", "src/plugin-testing/", "src/plugins/create/templates.ts"];

/** Where `src` calls hooks: their names, each with its files. */
export function hookCallSites(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const entry of readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })) {
    const file = relative(ROOT, join(entry.parentPath, entry.name)).replaceAll("\\", "/");
    if (!entry.isFile() || !file.endsWith(".ts") || /\.(?:test|fixture)\.ts$/.test(file) || NOT_THE_PATH.some((folder) => file.startsWith(folder))) continue;
    for (const [, name] of readFileSync(join(ROOT, file), "utf8").matchAll(CALL)) found.set(name!, [...new Set([...(found.get(name!) ?? []), file])]);
  }
  return found;
}

/** What is wrong with the list of hooks and their callers, one line each. */
export function hookProblems(
  names: readonly string[],
  sites: ReadonlyMap<string, readonly string[]>,
  uncalled: Readonly<Record<string, string>>,
): readonly string[] {
  return [
    ...names
      .filter((name) => !sites.has(name) && !Object.hasOwn(uncalled, name))
      .map((name) => `${name} is called nowhere in src: add the hooks.run where it happens`),
    ...Object.keys(uncalled)
      .filter((name) => sites.has(name))
      .map((name) => `${name} is called in ${sites.get(name)!.join(", ")}: take it out of scripts/hooks/uncalled.ts`),
    ...Object.keys(uncalled)
      .filter((name) => !names.includes(name))
      .map((name) => `${name} in scripts/hooks/uncalled.ts is no hook`),
  ];
}
