import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const run = promisify(execFile);

test("a quick bench measures its bars with their calibration, and prints a table and JSON", { timeout: 600_000 }, async () => {
  const file = join(mkdtempSync(join(tmpdir(), "openclaw-bench-")), "result.json");
  // Those that start few processes; all of them take two minutes: `npm run bench -- --quick`.
  const some = ["--only", "command line,hooks,models,store,turns"];
  const { stdout } = await run(process.execPath, ["bench/run.ts", "--quick", ...some, "--json", file], { cwd: ROOT, env: { PATH: process.env["PATH"] } });
  const { rows } = JSON.parse(readFileSync(file, "utf8"));
  expect(rows.map((row: { name: string }) => row.name)).toEqual([
    "openclaw --version / bare node",
    "config validate, 600 lines / bare node",
    "hooks: a dispatch without handlers",
    "hooks: five asynchronous handlers, budgets and isolation",
    "hooks: five synchronous handlers",
    "a streamed call of 20 pieces, CPU above a bare fetch",
    "first token, above a bare fetch",
    "64 streams of 400 pieces: loop delay p99",
    "first import of a wire format",
    "a prompt of 2 MB and three attempts: times it is encoded",
    "store: sequential commit / append+fdatasync",
    "store: 64 writers / sequential rate",
    "store: 64 writers p99 / sequential median",
    "store: main thread delay p99 at full rate",
    "turn: 20 sessions in parallel",
    "turn: processor time, 20 sessions in parallel",
    "turn: over a bare call, median",
    "turn: over a bare call, p95",
    "turn: processor time, one after the other",
    "turn with one read, over two bare calls",
    "turn with one exec echo, over two bare calls",
    "turn 500 / turn 10, over their bare calls",
    "turn: 10000 stored sessions / 10, over a bare call",
    "first turn after start",
    "turns: resident memory after 2000 over 50 sessions",
    "turns: resident memory after 2000 more / before them",
  ]);
  for (const row of rows) expect(row.value, row.name).toEqual(expect.any(Number));
  expect(rows[0].facts).toMatchObject({ "bare node ms": expect.any(Number) });
  expect(stdout).toMatch(/append\+fdatasync ms \d+\.\d+/);
});
