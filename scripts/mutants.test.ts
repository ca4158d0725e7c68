import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { CLASSES, loadDefinitions, MAY_BE_MISSING, type Mutant, type SecurityClass } from "./mutants/definitions.ts";
import { runMutants } from "./mutants/run.ts";
import { buildsFor } from "./mutants/tree.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FILE = "src/base/spawn.ts";
const TESTS = ["test/security/14-environment.test.ts"];
const DEFENCE = "pair[1] !== undefined && !DANGEROUS.test(pair[0])";

const mutant = (removes: string, replace: string, find = DEFENCE): Mutant => ({ removes, file: FILE, find, replace });
const classWith = (number: number, tests: readonly string[], ...mutants: readonly Mutant[]): SecurityClass => ({ number, tests, mutants });

test("every class has a file that parses, names tests that are there, and texts that occur once in the sources", () => {
  const { classes, problems } = loadDefinitions(ROOT);
  expect(problems).toEqual([]);
  expect(classes.map(({ number }) => number)).toEqual(expect.arrayContaining(CLASSES.filter((number) => !MAY_BE_MISSING.includes(number))));
  // The class's own file, and not only that of another.
  for (const { number, tests } of classes) expect(tests.some((file) => file.startsWith(`test/security/${String(number).padStart(2, "0")}-`))).toBe(true);
});

test("what is wrong with a definition is named", () => {
  const root = mkdtempSync(join(tmpdir(), "mutants-"));
  const folder = join(root, "test/security/mutants");
  mkdirSync(folder, { recursive: true });
  cpSync(join(ROOT, FILE), join(root, FILE), { recursive: true });
  const write = (name: string, value: unknown): void => writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
  write("01.json", "{");
  write("02.json", { tests: ["test/security/none.test.ts"], mutants: [mutant("x", "y")] });
  write("03.json", { tests: [FILE], mutants: [mutant("x", "y", "no such text"), mutant("x", "", "e")] });
  write("04.json", { tests: [FILE], mutants: [] });
  write("05.json", { tests: [FILE], mutants: [{ removes: "x", file: FILE, find: "same", replace: "same" }] });
  write("99.json", {});
  const { problems } = loadDefinitions(root, { expected: [1, 2, 3, 4, 5, 6, 7], mayBeMissing: [7] });
  expect(problems).toEqual([
    expect.stringMatching(/^test\/security\/mutants\/01\.json: /),
    expect.stringMatching(/04\.json: "mutants" must be a list with at least one/),
    expect.stringMatching(/05\.json: mutants\[0\] must have/),
    expect.stringMatching(/99\.json: expected a name like/),
    expect.stringMatching(/^class 2: test\/security\/none\.test\.ts does not exist/),
    expect.stringMatching(/^class 3: "no such text" occurs 0 times/),
    expect.stringMatching(/^class 3: "e" occurs \d+ times/),
    expect.stringMatching(/^class 1 has no mutant/),
    expect.stringMatching(/^class 4 has no mutant/),
    expect.stringMatching(/^class 5 has no mutant/),
    expect.stringMatching(/^class 6 has no mutant/),
  ]);
});

test("what tests start as processes is built first, and only that", () => {
  expect(buildsFor(ROOT, TESTS)).toEqual([]);
  expect(buildsFor(ROOT, ["test/security/02-cross-site-websocket.test.ts"])).toEqual(["dist"]);
});

test("a removed defence is noticed; one that changes nothing survives; one that does not load is broken", { timeout: 120_000 }, async () => {
  const lines: string[] = [];
  const classes = [
    classWith(
      14,
      TESTS,
      mutant("the defence", "pair[1] !== undefined"),
      mutant("nothing", "!DANGEROUS.test(pair[0]) && pair[1] !== undefined"),
      mutant("the end of a line", "pair[1] !== undefined &&"),
    ),
    // A small one of the real list, which needs no build.
    ...loadDefinitions(ROOT).classes.filter(({ number }) => number === 26),
  ];
  const { failing, results } = await runMutants({ root: ROOT, classes, jobs: 2, progress: (line) => lines.push(line) });
  expect(failing).toEqual([]);
  const outcome = (removes: string): unknown => results.find((one) => one.removes === removes)?.outcome;
  expect([outcome("the defence"), outcome("nothing"), outcome("the end of a line")]).toEqual(["killed", "survived", "broken"]);
  for (const { class: number, removes, outcome: how } of results.filter((one) => one.class !== 14))
    expect([number, removes, how]).toEqual([number, removes, "killed"]);
  expect(results.find(({ removes }) => removes === "the defence")?.detail[0]).toBeTypeOf("string");
  expect(lines.at(-1)).toMatch(new RegExp(`^\\[${results.length}/${results.length}\\] `));
});

test("tests that fail by themselves say nothing about a defence", { timeout: 60_000 }, async () => {
  const { failing, results } = await runMutants({
    root: ROOT,
    classes: [classWith(14, ["test/security/none.test.ts"], mutant("x", "y"))],
    jobs: 1,
    progress: () => undefined,
  });
  expect(results).toEqual([]);
  expect(failing).toEqual([expect.stringContaining("test/security/none.test.ts")]);
});
