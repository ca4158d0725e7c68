import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { CI_SEED, LongestFirst } from "./scripts/test-order.ts";
import { bundledThreads } from "./scripts/test-threads.ts";

export default defineConfig({
  plugins: [bundledThreads()],
  // The examples' tests read as those of any plugin, and the page's as it does; here they run on the sources.
  resolve: {
    alias: {
      "openclaw/plugin-sdk/testing": fileURLToPath(new URL("src/plugin-testing/index.ts", import.meta.url)),
      "openclaw/client": fileURLToPath(new URL("src/protocol/client/index.ts", import.meta.url)),
      "openclaw/plugin-sdk": fileURLToPath(new URL("src/plugins/sdk/paths", import.meta.url)),
    },
  },
  test: {
    projects: [
      // Nothing here keeps state in its modules, so tests share processes: to start one for each file takes longer than most of them.
      { extends: true, test: { name: "modules", include: ["src/**/*.test.ts", "ui/src/**/*.test.ts"], isolate: false } },
      {
        extends: true,
        test: { name: "whole", include: ["test/**/*.test.ts", "scripts/**/*.test.ts", "bench/**/*.test.ts", "plugins/**/*.test.ts"], isolate: false },
      },
    ],
    globalSetup: ["./scripts/test-temp.ts"],
    // Setting a channel up asks the platform; without a server of its own a test asks nobody.
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: "http://127.0.0.1:1" },
    pool: "forks",
    // Most tests wait for processes and sockets: as many workers as cores would leave almost half of the cores idle.
    maxWorkers: Math.min(8, 2 * availableParallelism()),
    // On a busy machine everything takes several times as long. Waiting longer costs nothing where what is waited for comes.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Under CI a test that fails is run once more; one that passes then is listed as unstable (scripts/test-report.ts), and more than a few fail the run.
    retry: process.env["CI"] === "true" ? 1 : 0,
    expect: { poll: { timeout: 20_000, interval: 20 } },
    // Plugins are imported by Node itself, with the loader's hooks, as in the product.
    server: { deps: { external: [/src\/plugins\/load\/import\.ts$/] } },
    reporters: ["default", "./scripts/test-report.ts"],
    sequence: { sequencer: LongestFirst, shuffle: { files: false, tests: true }, ...(process.env["CI"] === "true" ? { seed: CI_SEED } : {}) },
  },
});
