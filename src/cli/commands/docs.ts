import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { AppError } from "../../base/errors.ts";
import { packageFolder } from "../../base/program-name.ts";
import { clip } from "../../base/text.ts";
import { defineCommand, JSON_OPTION } from "../command.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle } from "../output/style.ts";

/** The documents that came with this program: they describe this version, and no network is needed. */
function docsFolder(): string {
  const root = packageFolder(import.meta.dirname);
  const found = root === undefined ? undefined : join(root, "docs");
  if (found === undefined || !existsSync(found))
    throw new AppError("NOT_FOUND", "this installation has no documentation; it is in the docs folder of the source");
  return found;
}

/** A part of a document below one heading. */
interface Section {
  readonly file: string;
  readonly title: string;
  readonly heading: string;
  readonly line: number;
  readonly text: string;
}

/** Notes for those who work on the program itself. */
const INTERNAL = new Set(["design", "images"]);

function* documents(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => a.name.localeCompare(b.name))) {
    if (entry.isDirectory() && !INTERNAL.has(entry.name)) yield* documents(join(folder, entry.name));
    else if (entry.isFile() && entry.name.endsWith(".md")) yield join(folder, entry.name);
  }
}

function sectionsOf(file: string): readonly Section[] {
  const lines = readFileSync(file, "utf8").split("\n");
  const title = lines.find((line) => line.startsWith("# "))?.slice(2) ?? file;
  const sections: { file: string; title: string; heading: string; line: number; text: string }[] = [];
  let fenced = false;
  for (const [index, line] of lines.entries()) {
    if (line.startsWith("```")) fenced = !fenced;
    const heading = fenced ? undefined : /^#{1,4} (.+)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ file, title, heading, line: index + 1, text: "" });
    else {
      const last = sections.at(-1);
      if (last) last.text += `${line}\n`;
    }
  }
  return sections;
}

const plain = (text: string): string => text.toLowerCase().normalize("NFKD").replaceAll(/\p{M}/gu, "");
const countOf = (text: string, word: string): number => text.split(word).length - 1;

/** How well a section fits: words in its headings count most, each further mention less. Every word has to be somewhere in it. */
function fit({ title, heading, text }: Section, words: readonly string[]): number {
  const [inTitle, inHeading, inText] = [plain(title), plain(heading), plain(text)];
  let score = 0;
  for (const word of words) {
    const own = (inTitle.includes(word) ? 4 : 0) + (inHeading.includes(word) ? 6 : 0) + Math.log1p(countOf(inText, word)) * 2;
    if (own === 0) return 0;
    score += own;
  }
  return score / (1 + inText.length / 4000);
}

/** The first line of a section that has one of the words, without the marks of a table or list. */
function excerpt({ text }: Section, words: readonly string[]): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("```") && !/^\|[\s:|-]+$/.test(line));
  const line = lines.find((candidate) => words.some((word) => plain(candidate).includes(word))) ?? lines[0] ?? "";
  return clip(line.replaceAll(/^\s*(?:[-*|>]|\d+\.)\s*|\s*\|\s*$/g, "").replaceAll(/\s*\|\s*/g, " · "), 160);
}

const MOST = 8;

function search(folder: string, query: readonly string[]) {
  const words = query.flatMap((text) => plain(text).split(/[\s,;]+/)).filter(Boolean);
  return [...documents(folder)]
    .flatMap(sectionsOf)
    .map((section) => ({ section, score: fit(section, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map(({ section }) => ({ title: section.title, heading: section.heading, file: section.file, line: section.line, excerpt: excerpt(section, words) }));
}

function listAll(io: Io, folder: string, json: boolean): void {
  const all = [...documents(folder)].map((file) => ({ file, title: sectionsOf(file)[0]?.title ?? file }));
  if (json) return printJson(io, { folder, documents: all });
  const widest = Math.max(...all.map(({ file }) => relative(folder, file).length));
  io.out(all.map(({ file, title }) => `${relative(folder, file).padEnd(widest)}  ${title}\n`).join(""));
  io.err(`In ${folder}. Search with: openclaw docs <words>\n`);
}

export const docs = defineCommand({
  positionals: "[words…]",
  options: { json: JSON_OPTION },
  examples: [
    { line: "openclaw docs", does: "List the documents" },
    { line: "openclaw docs pairing telegram", does: "Search the documents" },
  ],
  async run({ io, values, positionals }) {
    const folder = docsFolder();
    if (positionals.length === 0) {
      listAll(io, folder, values.json === true);
      return 0;
    }
    const found = search(folder, positionals);
    if (values.json) {
      printJson(io, { query: positionals.join(" "), results: found });
      return 0;
    }
    const style = createStyle(io.color);
    if (found.length === 0) {
      io.err(`No results for "${positionals.join(" ")}". Try fewer words, or list all documents with: openclaw docs\n`);
      return 0;
    }
    for (const { title, heading, file, line, excerpt: text } of found) {
      const name = heading === title ? title : `${title} › ${heading}`;
      io.out(`${style.bold(name)}\n  ${text}\n  ${style.dim(`${file}:${line}`)}\n\n`);
    }
    return 0;
  },
});
