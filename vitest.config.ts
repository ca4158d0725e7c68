import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts", "bench/**/*.test.ts", "plugins/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Plugins are imported by Node itself, with the loader's hooks, as in the product.
    server: { deps: { external: [/src\/plugins\/load\/import\.ts$/] } },
    reporters: ["default", "./scripts/test-report.ts"],
    sequence: { shuffle: { files: false, tests: true } },
  },
});
