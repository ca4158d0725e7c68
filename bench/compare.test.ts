import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);

test("two gateways are measured in turns with the same turns, and shown side by side", { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-compare-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // The other program is this one, under another name.
  writeFileSync(join(folder, "package.json"), '{ "name": "openclaw", "version": "1.2.3" }');
  writeFileSync(
    join(folder, "openclaw.mjs"),
    `import { createRequire } from "node:module";\ncreateRequire(import.meta.url)(${JSON.stringify(join(ROOT, "bin/openclaw"))});\n`,
  );
  const args = ["bench/compare.ts", "--with", folder, "--protocol", "3", "--runs", "1", "--turns", "10", "--json"];
  const { stdout, stderr } = await run(process.execPath, args, { cwd: ROOT, env: { PATH: process.env["PATH"] } });
  const columns = JSON.parse(stdout) as readonly { readonly title: string; readonly figures: Readonly<Record<string, readonly number[]>> }[];
  expect(columns.map(({ title }) => title)).toEqual([expect.stringMatching(/^this \(/), "other (1.2.3)"]);
  for (const { figures } of columns) {
    expect(figures["turnMs"]).toHaveLength(10);
    for (const [name, values] of Object.entries(figures)) expect([name, values.every((value) => value > 0)]).toEqual([name, true]);
  }
  expect(stderr).toContain("other 1.2.3");
});

test("without a program to compare with, it says what to install", async () => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-compare-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await expect(run(process.execPath, ["bench/compare.ts", "--with", folder], { cwd: ROOT })).rejects.toThrow(/no openclaw\.mjs in .*npm install openclaw/);
});
