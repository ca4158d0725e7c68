import { hash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { PreparedSource } from "./source.ts";

/** Changes whenever the same text would be prepared differently. */
const VERSION = 2;
/** Entries beyond which the older half is thrown away. */
const MAX_ENTRIES = 4_000;

/** JavaScript of TypeScript files from earlier starts: the compiler costs some 100 ms and 30 MB, so it is not loaded for what is known. */
export interface SourceCache {
  read(file: string, source: string): PreparedSource | undefined;
  /** Never fails: what cannot be kept is made again next time. */
  write(file: string, source: string, prepared: PreparedSource): void;
}

export function createSourceCache(folder: string): SourceCache {
  let made = false;
  const pathOf = (file: string, source: string): string => join(folder, `${hash("sha256", `${VERSION}\n${process.version}\n${extname(file)}\n${source}`)}.js`);

  function makeFolder(): void {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const names = readdirSync(folder);
    if (names.length <= MAX_ENTRIES) return;
    const byAge = names.map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs })).sort((a, b) => a.at - b.at);
    for (const { name } of byAge.slice(0, names.length / 2)) rmSync(join(folder, name), { force: true });
  }

  return {
    read(file, source) {
      try {
        const text = readFileSync(pathOf(file, source), "utf8");
        const end = text.indexOf("\n");
        const facts = JSON.parse(text.slice(2, end)) as Omit<PreparedSource, "code">;
        return { ...facts, code: text.slice(end + 1) };
      } catch {
        return undefined;
      }
    },
    write(file, source, { code, ...facts }) {
      try {
        if (!made) makeFolder();
        made = true;
        const path = pathOf(file, source);
        const beside = `${path}.${process.pid}`;
        writeFileSync(beside, `//${JSON.stringify(facts)}\n${code}`, { mode: 0o600 });
        renameSync(beside, path);
      } catch {
        // A folder that cannot be written costs time at the next start and nothing else.
      }
    },
  };
}
