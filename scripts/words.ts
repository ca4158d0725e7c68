/**
 * `npm run check` runs this: prints where a word is used that the code base avoids, and what to write instead.
 * Folders in `scripts/words/unfinished.json` are passed over. That list only shrinks: one without findings has to go (`--shrink` removes it).
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXCEPTIONS, PLACE_OF, WORDS } from "./words/rules.ts";

export interface Finding {
  readonly path: string;
  /** 0 for the file's own name. */
  readonly line: number;
  readonly word: string;
  readonly instead: string;
}

const SEARCHED = ["src", "ui", "plugins", "scripts", "bench", "test", "docs", "README.md", "AGENTS.md", "CONTRIBUTING.md", "GLOSSARY.md"];
const TEXT = /\.(?:ts|mjs|cjs|js|md|json|css|html)$/;
/** Data of others, and what programs write. */
const PASSED_OVER = /(?:^|\/)(?:node_modules|dist[\w-]*|fixtures|goldens?)(?:\/|$)|package-lock\.json$|CHANGELOG\.md$/;

const isIn = (path: string, folder: string): boolean => folder === "" || path === folder || path.startsWith(`${folder}/`);

/** The words of an identifier: `toldLine` and `told_line` have "told" and "line". */
const partsOf = (name: string): string[] => name.replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, "$1$3 $2$4").split(/[ _$]+/);

function isAllowed(path: string, word: string, line: string): boolean {
  return EXCEPTIONS.some((exception) => isIn(path, exception.path) && exception.words.test(word) && (exception.line?.test(line) ?? true));
}

function* wordsIn(line: string): Generator<{ word: string; instead: string }> {
  for (const [name] of line.matchAll(/[A-Za-z_$][\w$]*/g)) {
    if (/place_?of/i.test(name)) yield PLACE_OF;
    for (const part of partsOf(name)) {
      const word = part.toLowerCase();
      const rule = WORDS.find((one) => one.word.test(word));
      if (rule) yield { word, instead: rule.instead };
    }
  }
}

/** What is found in one file's name and text: each word once a line. */
export function findingsIn(path: string, text: string): readonly Finding[] {
  return [path, ...text.split("\n")].flatMap((content, line) => {
    const found = new Map([...wordsIn(content)].filter(({ word }) => !isAllowed(path, word, content)).map(({ word, instead }) => [word, instead]));
    return [...found].map(([word, instead]) => ({ path, line, word, instead }));
  });
}

function filesBelow(root: string, path: string): readonly string[] {
  if (PASSED_OVER.test(path)) return [];
  if (TEXT.test(path)) return [path];
  const entries = readdirSync(join(root, path), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() || TEXT.test(entry.name)).flatMap(({ name }) => filesBelow(root, `${path}/${name}`));
}

/** Everything that is found, split into what has to be changed and the unfinished folders that have nothing left. */
export function judge(
  findings: readonly Finding[],
  unfinished: readonly string[],
): { readonly rejected: readonly Finding[]; readonly finished: readonly string[] } {
  return {
    rejected: findings.filter(({ path }) => !unfinished.some((folder) => isIn(path, folder))),
    finished: unfinished.filter((folder) => !findings.some(({ path }) => isIn(path, folder))),
  };
}

function main(args: readonly string[]): number {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const listFile = join(root, "scripts/words/unfinished.json");
  const unfinished = JSON.parse(readFileSync(listFile, "utf8")) as string[];
  const files = SEARCHED.filter((path) => existsSync(join(root, path))).flatMap((path) => filesBelow(root, path));
  const { rejected, finished } = judge(
    files.flatMap((path) => findingsIn(path, readFileSync(join(root, path), "utf8"))),
    unfinished,
  );
  for (const { path, line, word, instead } of rejected) console.log(`${path}${line === 0 ? "" : `:${line}`}: "${word}"; write: ${instead}`);
  if (finished.length > 0 && args.includes("--shrink")) {
    writeFileSync(
      listFile,
      `${JSON.stringify(
        unfinished.filter((folder) => !finished.includes(folder)),
        null,
        2,
      )}\n`,
    );
  } else if (finished.length > 0) {
    console.log(`Nothing left in ${finished.join(", ")}: run node scripts/words.ts --shrink, which removes them from scripts/words/unfinished.json.`);
    return 1;
  }
  return rejected.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2));
