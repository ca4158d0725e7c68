/** Removes one defence at a time in a copy of the repository and expects the tests of its class to fail. */
import type { Mutant, SecurityClass } from "./definitions.ts";
import { openTree, type Tree } from "./tree.ts";

/**
 * - `killed`: at least one test of the class failed, as it should.
 * - `survived`: all of them passed although the defence is gone.
 * - `broken`: nothing was tested, because the mutant does not build or a test file could not be loaded.
 */
export type Outcome = "killed" | "survived" | "broken";

export interface MutantResult {
  readonly class: number;
  readonly removes: string;
  readonly file: string;
  readonly outcome: Outcome;
  /** The tests that failed, or why nothing could be tested. */
  readonly detail: readonly string[];
  readonly seconds: number;
}

export interface MutantsReport {
  /** Files that fail without any mutant: nothing can be said about their classes, which are left out. */
  readonly failing: readonly string[];
  readonly results: readonly MutantResult[];
}

export interface RunOptions {
  readonly root: string;
  readonly classes: readonly SecurityClass[];
  /** Mutants that are tried side by side, each in a copy of its own. */
  readonly jobs: number;
  readonly progress: (line: string) => void;
}

const secondsSince = (started: number): number => Math.round((performance.now() - started) / 100) / 10;

async function tryMutant(tree: Tree, { number, tests }: SecurityClass, mutant: Mutant): Promise<MutantResult> {
  const started = performance.now();
  using _ = tree.mutate(mutant);
  const run = await tree.test(tests, { stopAtFirst: true, rebuild: true });
  const outcome = run.failed.length > 0 ? "killed" : run.broken === undefined && run.passed > 0 ? "survived" : "broken";
  const detail = outcome === "killed" ? run.failed : outcome === "broken" ? [run.broken ?? "no test ran"] : [];
  return { class: number, removes: mutant.removes, file: mutant.file, outcome, detail, seconds: secondsSince(started) };
}

/** Files that fail as they are. Each failure is looked at a second time by itself: a loaded machine is no defect. */
async function failingUnmutated(tree: Tree, classes: readonly SecurityClass[]): Promise<string[]> {
  const files = [...new Set(classes.flatMap(({ tests }) => tests))];
  const { files: seen } = await tree.test(files);
  const failing: string[] = [];
  for (const file of files.filter((name) => seen.get(name) !== true)) {
    const again = await tree.test([file]);
    if (again.failed.length > 0 || again.broken !== undefined || again.passed === 0)
      failing.push(`${file}: ${again.broken ?? again.failed[0] ?? "no test ran"}`);
  }
  return failing;
}

/** `root` must have up-to-date builds. Runs every mutant of the classes. */
export async function runMutants({ root, classes, jobs, progress }: RunOptions): Promise<MutantsReport> {
  const listed = classes.reduce((sum, { mutants }) => sum + mutants.length, 0);
  using stack = new DisposableStack();
  const trees = Array.from({ length: Math.max(1, Math.min(jobs, listed)) }, () => stack.use(openTree(root)));
  progress(`${classes.length} classes, ${listed} mutants; checking that their tests pass as they are`);
  const failing = await failingUnmutated(trees[0]!, classes);
  for (const file of failing) progress(`fails without a mutant: ${file}`);
  const queue = classes
    .filter(({ tests }) => !failing.some((line) => tests.some((file) => line.startsWith(`${file}: `))))
    .flatMap((one) => one.mutants.map((mutant) => ({ one, mutant })));
  const total = queue.length;
  const results: MutantResult[] = [];
  await Promise.all(
    trees.map(async (tree) => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const result = await tryMutant(tree, next.one, next.mutant);
        results.push(result);
        progress(`[${results.length}/${total}] class ${result.class} ${result.outcome} in ${result.seconds} s: ${result.removes}`);
      }
    }),
  );
  return { failing, results: results.sort((a, b) => a.class - b.class) };
}
