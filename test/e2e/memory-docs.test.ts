/** The examples of docs/memory, as a user would try them: on a workspace with two notes, without a gateway. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { readPage } from "../harness/docs-page.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";

const PAGES = ["overview", "search", "notes", "eval"].map((name) => readPage(`docs/memory/${name}.md`));

let place: Place;
beforeEach(() => {
  place = makePlace();
  const workspace = join(place.home, "workspace");
  place.configure(JSON.stringify({ agents: { defaults: { workspace } } }));
  mkdirSync(join(workspace, "memory"), { recursive: true });
  writeFileSync(join(workspace, "MEMORY.md"), "# Memory\n\n- The plumber is called Werner Hopp.\n");
  writeFileSync(join(workspace, "memory", "2026-10-02.md"), "- 09:30 The alarm code of the workshop is 4471-B.\n");
  const questions = PAGES.flatMap(({ blocks }) => blocks.filter(({ language }) => language === "json").map(({ text }) => text)).join("");
  expect(questions).toContain("plumber");
  writeFileSync(join(place.home, "questions.jsonl"), questions);
});

const words = (line: string): string[] => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

test("every command of the pages runs as it is written", () => {
  const lines = PAGES.flatMap(({ examples }) => examples.map(({ line }) => line));
  expect(lines.length).toBeGreaterThan(14);
  for (const line of lines) {
    const [program, ...args] = words(line);
    expect(program).toBe("openclaw");
    const { code, stdout, stderr } = place.cli(...args);
    expect([line, code, stderr.replace(/^\d+ passages in .*\n/, "")]).toEqual([line, 0, ""]);
    expect(stdout.length + stderr.length, line).toBeGreaterThan(0);
  }
});

test("the questions of the page are answered from the notes", () => {
  const { stdout } = place.cli("memory", "eval", "questions.jsonl", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ n: 2, recall: { "5": 1, "10": 1 }, ndcg10: 1, misses: [] });
  expect(place.cli("memory", "why", "who is our plumber", "--min-score", "0").stdout).toMatch(/\+ words: plumber/);
  expect(place.cli("memory", "forget", "alarm code", "--yes").code).toBe(0);
  expect(readFileSync(join(place.home, "workspace", "memory", "2026-10-02.md"), "utf8")).toBe("");
});
