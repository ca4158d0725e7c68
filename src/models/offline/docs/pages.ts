import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A heading of the documentation with the text below it. */
export interface DocSection {
  /** `docs/cli.md`. */
  readonly page: string;
  /** The page's title and the headings down to this one. */
  readonly headings: readonly string[];
  readonly text: string;
}

/** Pages for developers, and generated lists. */
const LEFT_OUT = /^(?:design\/|deferred\.md$|plugins\/api-report\.md$)/;
const LANDMARK = "models/offline.md";
const LEVELS_UP = 6;

/** The sections of every page in a folder; default: the one beside the program. Empty when there is none. */
export async function readDocs(folder: string | undefined): Promise<readonly DocSection[]> {
  const place = folder ?? (await besideProgram());
  if (place === undefined) return [];
  const names = (await readdir(place, { recursive: true }))
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".md") && !LEFT_OUT.test(name));
  const pages = await Promise.all(names.toSorted().map(async (name) => sectionsOf(`docs/${name}`, await readFile(join(place, name), "utf8"))));
  return pages.flat();
}

async function besideProgram(): Promise<string | undefined> {
  let folder = import.meta.dirname;
  for (let level = 0; level < LEVELS_UP; level += 1) {
    const found = await readFile(join(folder, "docs", LANDMARK)).then(
      () => true,
      () => false,
    );
    if (found) return join(folder, "docs");
    folder = dirname(folder);
  }
  return undefined;
}

/** Splits a page at its headings, ignoring those inside code fences. */
export function sectionsOf(page: string, markdown: string): readonly DocSection[] {
  const sections: DocSection[] = [];
  let headings: string[] = [];
  let lines: string[] = [];
  let isFenced = false;
  const close = (): void => {
    const text = lines.join("\n").trim();
    if (text !== "") sections.push({ page, headings, text });
    lines = [];
  };
  for (const line of markdown.split(/\r?\n/)) {
    if (/^\s*```/.test(line)) isFenced = !isFenced;
    const heading = isFenced ? null : /^(#{1,6})\s+(.*)$/.exec(line);
    if (!heading) {
      lines.push(line);
      continue;
    }
    close();
    const [, marks = "", title = ""] = heading;
    headings = [...headings.slice(0, marks.length - 1), title.trim()];
  }
  close();
  return sections;
}
