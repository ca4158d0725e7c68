import type { Reporter, TestModule } from "vitest/node";

/** Ends every run with `tests: N passed, N failed, N skipped`, and fails a run under CI that skipped something. */
export default class TestReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 };
    const skipped: string[] = [];
    for (const module of modules) {
      if (module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "pending") continue;
        count[state] += 1;
        if (state === "skipped") skipped.push(`${module.relativeModuleId}: ${test.fullName}`);
      }
    }
    if (process.env["CI"] === "true" && skipped.length > 0) {
      console.error(`skipped under CI, which counts as failed:\n  ${skipped.join("\n  ")}`);
      process.exitCode = 1;
    }
    // Other reporters print after this one; the closing line waits for the end of the process.
    process.once("exit", () => process.stdout.write(`tests: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`));
  }
}
