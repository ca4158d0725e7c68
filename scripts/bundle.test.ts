import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));

/** The files that a file of the bundle loads before anything of it runs. */
function neededBy(file: string): string[] {
  const statements = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => /^(?:const |let |require\()/.test(line));
  return statements.flatMap((line) => [...line.matchAll(/(?<!=> )require\("(\.[^"]+)"\)/g)].map(([, target]) => join(dirname(file), target!)));
}

/** Everything that is loaded with a file of the bundle before anything runs, with its length. */
function loadedWith(file: string, seen = new Map<string, number>()): Map<string, number> {
  if (seen.has(file)) return seen;
  seen.set(file, readFileSync(file, "utf8").length);
  for (const needed of neededBy(file)) loadedWith(needed, seen);
  return seen;
}

const names = (files: ReadonlyMap<string, unknown>): string[] => [...files.keys()].map((file) => file.replace(/^.*\//, "").replace(/-[\w-]{8}\.js$/, ""));

test("no chunk needs itself: which of a circle is loaded first would decide what is missing in the others", () => {
  const all = readdirSync(join(DIST, "chunks")).filter((file) => file.endsWith(".js"));
  let left = new Map(all.map((chunk) => [join(DIST, "chunks", chunk), neededBy(join(DIST, "chunks", chunk))]));
  // What needs none of the rest can be loaded first. A circle, and what needs it, stays.
  for (let size = Infinity; left.size < size;) {
    size = left.size;
    left = new Map([...left].filter(([, needed]) => needed.some((file) => left.has(file))));
  }
  expect(names(left)).toEqual([]);
});

test("the store's thread loads the store and nothing of the gateway or the configuration", () => {
  const loaded = names(loadedWith(join(DIST, "store-worker.js")));
  expect(loaded).not.toContain("hub");
  expect(loaded).not.toContain("app");
  expect(loaded).not.toContain("config");
});

test("the command line itself is small: commands bring their own code", () => {
  const loaded = loadedWith(join(DIST, "cli.js"));
  expect([...loaded.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(110_000);
});

test.each([
  { what: "what is said about the configuration", chunk: "config", expected: ["base", "config", "frame", "rolldown-runtime"] },
  { what: "the list of plugins", chunk: "inventory", expected: ["base", "config", "frame", "inventory", "rolldown-runtime"] },
  { what: "configuration and store of a gateway", chunk: "app", expected: ["app", "base", "config", "frame", "rolldown-runtime", "thread"] },
])("$what needs nothing of the gateway's hub", ({ chunk, expected }) => {
  const all = readdirSync(join(DIST, "chunks")).filter((file) => file.replace(/-[\w-]{8}\.js$/, "") === chunk);
  const largest = all.toSorted((a, b) => statSync(join(DIST, "chunks", b)).size - statSync(join(DIST, "chunks", a)).size)[0]!;
  expect(names(loadedWith(join(DIST, "chunks", largest))).toSorted()).toEqual(expected);
});

test("a gateway without plugins starts without the code that runs them, and without that of rich text", () => {
  const hub = readdirSync(join(DIST, "chunks")).find((file) => file.startsWith("hub-"));
  const loaded = names(loadedWith(join(DIST, "chunks", hub!)));
  expect(loaded.toSorted()).toEqual(["app", "base", "config", "frame", "hub", "rolldown-runtime", "thread"]);
});

test("the parts that channels are made of load with a channel that uses them, and WebSockets with one that opens some", () => {
  const chunkOf = (name: string): string[] => readdirSync(join(DIST, "chunks")).filter((file) => file.replace(/-[\w-]{8}\.js$/, "") === name);
  const [kit] = chunkOf("channel-kit");
  for (const file of ["cli.js", "plugin-sdk/index.js", "plugin-sdk/plugin-entry.js", "plugin-sdk/account-helpers.js"])
    expect(names(loadedWith(join(DIST, file))), file).not.toContain("channel-kit");
  const loaded = loadedWith(join(DIST, "plugin-sdk/channel-kit.js"));
  expect(names(loaded)).toContain("channel-kit");
  for (const heavy of ["zod", "wrapper"]) expect(names(loaded)).not.toContain(heavy);
  expect(readFileSync(join(DIST, "chunks", kit!), "utf8")).toMatch(/=> require\("\.\/wrapper-[^"]+"\)|then\(.*wrapper-/);
});
