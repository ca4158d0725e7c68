#!/usr/bin/env node
/**
 * Stands in for the program qmd: collections, update, embed and the three searches, with its options and its JSON. State is in $XDG_CONFIG_HOME, calls are
 * listed in $XDG_CACHE_HOME/calls.jsonl, and `fault.json` beside them makes a command fail.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

const { XDG_CONFIG_HOME: config, XDG_CACHE_HOME: cache } = process.env;
const args = process.argv.slice(2);
const [command, ...rest] = args;
const json = (file, otherwise) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : otherwise);
const fail = (text, code = 1) => {
  process.stderr.write(`${text}\n`);
  process.exit(code);
};
if (!config || !cache) fail("XDG_CONFIG_HOME and XDG_CACHE_HOME are not set");
mkdirSync(join(cache, "qmd"), { recursive: true });
appendFileSync(join(cache, "calls.jsonl"), `${JSON.stringify({ args, pid: process.pid, env: Object.keys(process.env) })}\n`);
const fault = json(join(cache, "fault.json"), {})[command];
if (fault?.exit) fail(fault.text ?? "failed", fault.exit);
if (fault?.print !== undefined) {
  process.stdout.write(fault.print);
  process.exit(0);
}
if (fault?.hang) setInterval(() => {}, 1000);
else main();

function option(name) {
  const at = rest.indexOf(name);
  return at === -1 ? undefined : rest[at + 1];
}

function* files(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (entry.isFile()) yield path;
  }
}

function matches(pattern, path) {
  return pattern === "**/*.md" ? path.endsWith(".md") : path === pattern;
}

function main() {
  const list = join(config, "collections.json");
  const collections = json(list, {});
  const index = join(cache, "qmd", "index.json");
  if (command === "collection") {
    const [action, path] = rest;
    if (action === "add") {
      const name = option("--name");
      if (collections[name]) fail(`Collection '${name}' already exists.`);
      collections[name] = { path, mask: option("--mask") ?? "**/*.md" };
    } else if (action === "remove") {
      if (!collections[path]) fail(`Collection not found: ${path}`);
      delete collections[path];
    }
    mkdirSync(config, { recursive: true });
    writeFileSync(list, JSON.stringify(collections));
  } else if (command === "update") {
    const found = [];
    for (const [name, { path, mask }] of Object.entries(collections)) {
      for (const file of files(path)) {
        const below = relative(path, file);
        // Names are written in lower case with dashes, as the program does.
        if (matches(mask, below)) found.push({ file: `qmd://${name}/${below.toLowerCase().replaceAll(" ", "-")}`, text: readFileSync(file, "utf8") });
      }
    }
    writeFileSync(index, JSON.stringify(found));
    console.log("All collections updated.");
  } else if (command === "embed") {
    console.log("Done.");
  } else if (["search", "vsearch", "query"].includes(command)) {
    if (!rest.includes("--json")) fail("the tests ask for JSON");
    const words = rest[0].toLowerCase().split(/\s+/);
    const found = json(index, []).flatMap(({ file, text }) => {
      const lines = text.split("\n");
      const at = lines.findIndex((line) => words.some((word) => line.toLowerCase().includes(word)));
      if (at === -1) return [];
      const score = words.filter((word) => text.toLowerCase().includes(word)).length / words.length;
      const shown = lines.slice(at, at + 3);
      return [{ docid: "#abc123", score, file, title: "t", snippet: `@@ -${at + 1},${shown.length} @@ (${at} before, 0 after)\n${shown.join("\n")}` }];
    });
    if (found.length === 0) console.log("No results found.");
    else console.log(JSON.stringify(found.sort((a, b) => b.score - a.score).slice(0, Number(option("-n") ?? 5)), null, 2));
  } else fail(`Unknown command: ${command}`);
}
