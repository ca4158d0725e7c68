/**
 * `npm run check` runs this: every text that readers of the page see goes through `t` of `ui/src/words`, and every language has all of them.
 * `--write` brings the files up to date: `en.json` has every text, and texts that are no longer used go from the others.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pageTexts } from "./words/find-texts.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TABLES = join(ROOT, "ui/src/words");
/** Not read by people: keywords for colours, drawings, the language of diagrams; and the canvas, whose texts are the agent's. */
const PASSED_OVER =
  /\.(?:test|fixture)\.ts$|^ui\/src\/(?:canvas|words)\/|^ui\/src\/pages\/chat\/(?:diagram\/thread\/|markdown\/colours\.ts$)|^ui\/src\/look\/(?:icons|style-map)\.ts$/;

type Table = Readonly<Record<string, string>>;

const sources = (): readonly string[] =>
  readdirSync(join(ROOT, "ui/src"), { recursive: true, encoding: "utf8" })
    .map((path) => `ui/src/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !PASSED_OVER.test(path))
    .toSorted();

const valuesIn = (text: string): string =>
  [...text.matchAll(/\{\d\}/g)]
    .map(([value]) => value)
    .toSorted()
    .join(" ");

/** What is wrong with a language's file. */
export function tableFindings(table: Table, keys: ReadonlySet<string>): readonly string[] {
  const missing = [...keys].filter((key) => !Object.hasOwn(table, key)).map((key) => `has no ${JSON.stringify(key)}`);
  const stale = Object.keys(table)
    .filter((key) => !keys.has(key))
    .map((key) => `has ${JSON.stringify(key)}, which the page does not use`);
  const unlike = Object.entries(table)
    .filter(([key, text]) => keys.has(key) && (text === "" || valuesIn(text) !== valuesIn(key)))
    .map(([key, text]) => `has ${JSON.stringify(text)} for ${JSON.stringify(key)}: the values differ`);
  return [...missing, ...stale, ...unlike];
}

function main(): void {
  const found = sources().map((path) => ({ path, code: readFileSync(join(ROOT, path), "utf8") }));
  const read = found.map(({ path, code }) => ({ path, code, ...pageTexts(code) }));
  const keys = new Set(read.flatMap((file) => file.keys).toSorted());
  const english = `${JSON.stringify(Object.fromEntries([...keys].map((key) => [key, key])), null, 2)}\n`;
  const problems = read.flatMap(({ path, code, untranslated }) =>
    untranslated.map(
      ({ start, text }) => `${path}:${code.slice(0, start).split("\n").length}: ${JSON.stringify(text.replaceAll("\uFFFC", "${…}"))} does not go through t()`,
    ),
  );
  const isWriting = process.argv.includes("--write");
  if (isWriting) writeFileSync(join(TABLES, "en.json"), english);
  else if (readFileSync(join(TABLES, "en.json"), "utf8") !== english)
    problems.push("ui/src/words/en.json is not up to date: run node scripts/page-texts.ts --write");
  for (const name of readdirSync(TABLES).filter((file) => file.endsWith(".json") && file !== "en.json")) {
    const path = join(TABLES, name);
    const table = JSON.parse(readFileSync(path, "utf8")) as Table;
    const kept = Object.fromEntries([...keys].flatMap((key) => (Object.hasOwn(table, key) ? [[key, table[key]]] : [])));
    if (isWriting) writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`);
    problems.push(...tableFindings(isWriting ? (kept as Table) : table, keys).map((problem) => `ui/src/words/${name} ${problem}`));
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
