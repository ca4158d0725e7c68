/** A copy of the repository that can be changed, built and tested without touching the original. */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import type { Mutant } from "./definitions.ts";

export interface TestRun {
  /** Names of tests that ran and failed. */
  readonly failed: readonly string[];
  readonly passed: number;
  /** Files that could not be loaded or set up, or a build that failed: nothing was tested. */
  readonly broken: string | undefined;
  /** For each file, whether all of it passed. */
  readonly files: ReadonlyMap<string, boolean>;
}

export interface Tree extends Disposable {
  /** Puts the mutant in; disposing restores the file. */
  mutate(mutant: Mutant): Disposable;
  /** Builds what the tests start as processes of their own, then runs them. */
  test(tests: readonly string[], options?: { readonly stopAtFirst?: boolean; readonly rebuild?: boolean }): Promise<TestRun>;
}

const LEFT_OUT = new Set(["node_modules", ".git", "coverage", "shots"]);
/** Caches that a run writes into; shared, two copies would overwrite each other's. */
const OWN_CACHES = new Set([".cache", ".vite", ".vite-temp", ".vitest-cache"]);
/** Marks of processes that run from a build, and their caches, come and go while it is copied. */
const isLasting = (source: string): boolean => !/[\\/](?:\.running-\d+|\.cache)$/.test(source);

/** Longest time for the tests of one mutant. A removed defence may make a test wait for its own time limit. */
const LIMIT_MS = 600_000;

function copyTree(root: string): string {
  const copy = mkdtempSync(join(realpathSync(tmpdir()), "oc-mutants-"));
  for (const name of readdirSync(root)) {
    if (!LEFT_OUT.has(name) && !name.endsWith(".new") && name !== "dist-bench")
      cpSync(join(root, name), join(copy, name), { recursive: true, filter: isLasting, preserveTimestamps: true, verbatimSymlinks: true });
  }
  mkdirSync(join(copy, "node_modules"));
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (!OWN_CACHES.has(name)) symlinkSync(join(root, "node_modules", name), join(copy, "node_modules", name));
  }
  return copy;
}

/** The test files with everything below `test/` that they import. */
function importsOf(root: string, tests: readonly string[]): Set<string> {
  const found = new Set<string>();
  const visit = (path: string): void => {
    if (found.has(path) || !existsSync(path)) return;
    found.add(path);
    for (const [, target] of readFileSync(path, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+\.ts)"/g)) {
      const next = resolve(dirname(path), target!);
      if (next.startsWith(join(root, "test"))) visit(next);
    }
  };
  for (const test of tests) visit(join(root, test));
  return found;
}

/** Which builds the tests start processes from. */
export function buildsFor(root: string, tests: readonly string[]): ("dist" | "dist-test")[] {
  const program = join(root, "test/harness/program.ts");
  const files = importsOf(root, tests);
  const others = [...files].filter((path) => path !== program).map((path) => readFileSync(path, "utf8"));
  const failpoints = others.some((text) => /dist-test|STORE_URL|openTestStore|killAt/.test(text));
  return [
    ...(files.has(program) || others.some((text) => text.includes("bin/openclaw")) ? (["dist"] as const) : []),
    ...(failpoints ? (["dist-test"] as const) : []),
  ];
}

interface Finished {
  readonly code: number | null;
  readonly output: string;
  readonly late: boolean;
}

function execute(cwd: string, args: readonly string[]): Promise<Finished> {
  const { promise, resolve: settle, reject } = Promise.withResolvers<Finished>();
  const node = process.execPath;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:VITEST|NODE_OPTIONS|OPENCLAW_)/.test(name)));
  const child = spawn(node, args, { cwd, env: { ...env, OPENCLAW_TEST_NODE: node, CI: "1" }, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => void (output += chunk.toString("utf8")));
  let late = false;
  const end = (): void => {
    late = true;
    // The group: vitest's workers and the gateways that they started.
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  };
  const timer = setTimeout(end, LIMIT_MS);
  process.once("exit", end);
  child.on("error", reject);
  child.on("close", (code) => {
    clearTimeout(timer);
    process.off("exit", end);
    settle({ code, output, late });
  });
  return promise;
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function readReport(root: string, { testResults }: Report): TestRun {
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.filter(({ status }) => status === "failed").map(({ fullName }) => fullName.trim());
  const unloaded = testResults.filter((file) => file.status === "failed" && !file.assertionResults.some(({ status }) => status === "failed"));
  const broken = unloaded.map(({ name, message }) => `${relative(root, name)}: ${message.split("\n")[0]}`).join("; ");
  return {
    failed,
    passed: results.filter(({ status }) => status === "passed").length,
    broken: broken === "" ? undefined : broken,
    files: new Map(testResults.map(({ name, status }) => [relative(root, name), status === "passed"])),
  };
}

const nothingRan = (broken: string): TestRun => ({ failed: [], passed: 0, broken, files: new Map() });
const tail = (text: string): string => text.trim().split("\n").slice(-8).join("\n");

/** Copies `root`, which has up-to-date builds, into a temporary folder. */
export function openTree(root: string): Tree {
  const copy = copyTree(root);
  const remove = (): void => rmSync(copy, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  process.once("exit", remove);
  return {
    mutate({ file, find, replace }) {
      const path = join(copy, file);
      const text = readFileSync(path, "utf8");
      const at = text.indexOf(find);
      if (at < 0 || text.includes(find, at + 1)) throw new Error(`${JSON.stringify(find)} must occur exactly once in ${file}`);
      writeFileSync(path, text.slice(0, at) + replace + text.slice(at + find.length));
      return { [Symbol.dispose]: () => writeFileSync(path, text) };
    },
    async test(tests, { stopAtFirst = false, rebuild = false } = {}) {
      if (rebuild) {
        for (const folder of buildsFor(copy, tests)) {
          const { code, output } = await execute(copy, ["scripts/build.ts", folder]);
          if (code !== 0) return nothingRan(`${folder} does not build: ${tail(output)}`);
        }
      }
      const report = join(copy, "report.json");
      rmSync(report, { force: true });
      const args = ["node_modules/vitest/vitest.mjs", "run", ...tests, "--reporter=json", `--outputFile=${report}`, ...(stopAtFirst ? ["--bail=1"] : [])];
      const { output, late } = await execute(copy, args);
      if (late) return nothingRan(`the tests did not finish within ${LIMIT_MS / 1000} s`);
      if (!existsSync(report)) return nothingRan(`the tests did not run: ${tail(output)}`);
      return readReport(copy, JSON.parse(readFileSync(report, "utf8")) as Report);
    },
    [Symbol.dispose]() {
      process.off("exit", remove);
      remove();
    },
  };
}
