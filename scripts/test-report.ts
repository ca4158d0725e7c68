import type { Reporter, TestModule } from "vitest/node";

/** So many tests may pass only when they are run again. */
const MOST_UNSTABLE = 3;

/** Ends every run with `tests: N passed, N failed, N skipped`, lists unstable tests, and fails a run under CI that skipped something or has too many of those. */
export default class TestReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 };
    const skipped: string[] = [];
    const unstable: string[] = [];
    for (const module of modules) {
      if (module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "pending") continue;
        count[state] += 1;
        const name = `${module.relativeModuleId}: ${test.fullName}`;
        if (state === "skipped") skipped.push(name);
        if (test.diagnostic()?.flaky) unstable.push(name);
      }
    }
    if (process.env["CI"] === "true" && skipped.length > 0) {
      console.error(`skipped under CI, which counts as failed:\n  ${skipped.join("\n  ")}`);
      process.exitCode = 1;
    }
    if (unstable.length > 0) console.error(`unstable: passed only when run again; find the cause of each:\n  ${unstable.join("\n  ")}`);
    if (unstable.length > MOST_UNSTABLE) {
      console.error(`${unstable.length} unstable tests; at most ${MOST_UNSTABLE} are accepted`);
      process.exitCode = 1;
    }
    // Other reporters print after this one; the closing line waits for the end of the process.
    process.once("exit", () => process.stdout.write(`tests: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`));
  }
}
