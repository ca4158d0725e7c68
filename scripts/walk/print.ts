import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { relative } from "node:path";
import type { Visited } from "./observe.ts";

/** Functions of one file that ran one after the other. */
interface Step {
  readonly file: string;
  readonly functions: { readonly name: string; readonly line: number }[];
}

export interface Walk {
  readonly steps: readonly Step[];
  readonly files: readonly string[];
  readonly count: number;
}

/** Turns what was recorded into steps with files relative to `root`. Functions of the walk itself are left out. */
export function summarise(visited: readonly Visited[], root: string): Walk {
  const texts = new Map<string, string>();
  const steps: Step[] = [];
  const files = new Set<string>();
  let count = 0;
  for (const { url, name, offset } of visited) {
    const path = fileURLToPath(url);
    const file = relative(root, path);
    if (!/^(?:src|plugins)\//.test(file)) continue;
    let text = texts.get(path);
    if (text === undefined) texts.set(path, (text = readFileSync(path, "utf8")));
    const line = text.slice(0, offset).split("\n").length;
    files.add(file);
    count += 1;
    const last = steps.at(-1);
    if (last?.file === file) last.functions.push({ name, line });
    else steps.push({ file, functions: [{ name, line }] });
  }
  return { steps, files: [...files], count };
}

const shown = ({ name, line }: Step["functions"][number]): string => (name === "" ? `:${line}` : `${name}:${line}`);

export function printWalk(name: string, { steps, files, count }: Walk): void {
  for (const { file, functions } of steps) console.log(`${file}\n    ${functions.map(shown).join(", ")}`);
  const modules = new Map<string, number>();
  for (const file of files) {
    const module = file.split("/").slice(0, 2).join("/");
    modules.set(module, (modules.get(module) ?? 0) + 1);
  }
  console.log(
    `\nfiles by module: ${[...modules]
      .sort((a, b) => b[1] - a[1])
      .map(([module, n]) => `${module} ${n}`)
      .join(", ")}`,
  );
  console.log(`${name}: ${files.length} files, ${count} functions`);
}
