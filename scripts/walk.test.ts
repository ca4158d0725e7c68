import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

test("a walk shows the way of a message from the socket to the model and back, in order", { timeout: 120_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/walk.ts", "chat", "--json"], { cwd: root, maxBuffer: 16 * 1024 * 1024 });
  const { files, functions, steps } = JSON.parse(stdout) as { files: number; functions: number; steps: { file: string }[] };
  const first = (part: string): number => steps.findIndex(({ file }) => file.startsWith(part));
  expect(first("src/gateway/")).toBeGreaterThanOrEqual(0);
  expect(first("src/conversation/")).toBeGreaterThan(first("src/gateway/"));
  expect(first("src/agent/")).toBeGreaterThan(first("src/conversation/"));
  expect(first("src/models/wire/")).toBeGreaterThan(first("src/agent/"));
  expect(steps.every(({ file }) => /^(?:src|plugins)\//.test(file))).toBe(true);
  expect(files).toBeGreaterThan(20);
  expect(functions).toBeGreaterThan(files);
});
