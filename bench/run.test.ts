import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const run = promisify(execFile);

test("a quick bench measures every bar, with its calibration, and prints a table and JSON", { timeout: 600_000 }, async () => {
  const file = join(mkdtempSync(join(tmpdir(), "openclaw-bench-")), "result.json");
  const { stdout } = await run(process.execPath, ["bench/run.ts", "--quick", "--json", file], { cwd: ROOT, env: { PATH: process.env["PATH"] } });
  const { rows } = JSON.parse(readFileSync(file, "utf8"));
  expect(rows.map((row: { name: string }) => row.name)).toEqual([
    "openclaw --version / bare node",
    "config validate, 600 lines / bare node",
    "plugins list, 40 installed / bare node",
    "gateway start with 40 plugins, 10 enabled, over none",
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
    "big state: opening",
    "big state: resident memory added by opening",
    "reading the last 50 of 1000 entries",
    "bare app: spawn to configuration and store / bare node",
    "bare app: resident memory then",
    "gateway: spawn to connect and health / bare node",
    "gateway: resident memory at rest",
    "gateway: connect and signed handshake",
    "gateway: health, 32 in flight",
    "gateway: one event to 200 clients, spread / bare ws",
    "gateway: memory per idle client",
    "gateway: processor time of a tick to 2000 clients",
    "gateway: processor time of a tick / bare writes",
    "gateway: memory added by a flood of strangers",
    "gateway: health p95 in the flood / calm",
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
    "automation: start with 10000 jobs, over none",
    "automation: a change of one of 10000 jobs, loop delay p99",
    "automation: processor time of a look at 10000 jobs",
    "automation: 1000 jobs due at once, claimed p99",
    "automation: 1000 jobs due at once, last begins / as many plain turns",
    "automation: 1000 jobs due at once, loop delay p99",
    "automation: processor time of an idle hour with heartbeats",
    "automation: prompt of a heartbeat outside the main session",
    "automation: spawn to the child's first model call, over a plain turn",
    "automation: turns of 50 children and ten parents / plain turns",
    "channel: message in to answer out, over two bare calls",
    "channel: 1000 conversations at once, all accepted",
    "channel: 1000 conversations at once, loop delay p99",
    "channel: 400 pieces with 200 watching / the model's own time",
    "channel: 8 KB of Markdown to Telegram's HTML",
    "channel: a route among 2000 bindings",
    "channel: turns beside a hook that takes 10 s / without it",
    "memory: search, median",
    "memory: search, p99",
    "memory: main thread for a search",
    "memory: messages indexed per second",
    "memory: search in many messages / plain FTS5",
    "memory: search in many messages, median",
    "memory: size of the index / the text",
    "memory: gateway start with an index of 1,000,000 messages",
    "memory: resident memory with an index of 1,000,000 messages",
    "growth: bytes to a client that takes deltas / the text",
    "growth: bytes to any other client / the text",
    "growth: 1 MB in 20000 pieces to 50 watching / the model's own time",
    "growth: start with many sessions / with none",
    "growth: sessions.list of many sessions",
    "growth: search in many sessions",
    "growth: memory taken by lists and searches",
    "growth: cold start with many sessions / with none",
    "growth: longest hold of the loop by one request",
    "growth: memory of openclaw sessions --json",
    "growth: first turn of a long session after a restart / of a short one",
    "growth: turn of a long session / of a short one",
    "growth: written to the log per turn",
    "growth: syncs per turn",
    "growth: peak memory with 100 sessions at once",
    "growth: peak memory after a crash with 10000 open messages",
    "growth: store requests while old rows are deleted, p99.9",
    "growth: turns that retention deletes",
    "growth: store requests while transcripts are archived, p99.9",
    "growth: size of archived transcripts / before",
  ]);
  for (const row of rows) expect(row.value, row.name).toEqual(expect.any(Number));
  expect(rows[0].facts).toMatchObject({ "bare node ms": expect.any(Number) });
  expect(stdout).toMatch(/append\+fdatasync ms \d+\.\d+/);
});
