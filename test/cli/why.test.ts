import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { why as command } from "../../src/cli/commands/why.ts";
import type { Io } from "../../src/cli/io.ts";
import { whyHandlers } from "../../src/gateway/methods/why.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { startGateway } from "../gateway/start.ts";
import { runCommand } from "../harness/command-line.ts";

vi.setConfig({ testTimeout: 120_000 });

let home: string;
let state: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "why-cli-"));
  state = join(home, "state");
  writeFileSync(join(home, "openclaw.json"), "{}");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function run(args: readonly string[], over: Partial<Io> = {}) {
  const env = { HOME: home, OPENCLAW_STATE_DIR: state, OPENCLAW_CONFIG_PATH: join(home, "openclaw.json") };
  return runCommand("why", command, args, { env, cwd: home, columns: 120, ...over });
}

/** A message that was answered, and one that was turned away. */
async function fill(store: Store): Promise<void> {
  const place = { channel: "telegram", account: "default", conversation: "42", kind: "message", sender: "42", sessionKey: "agent:main:main", agentId: "main" };
  const { id } = await store.write("inbox.accept", { ...place, messageId: "4711", text: "hello" });
  await store.commit([
    ["turns.start", { id: "turn-1", sessionKey: "agent:main:main", agentId: "main" }],
    ["inbox.claim", { ids: [id], turnId: "turn-1" }],
    ["journal.append", { turnId: "turn-1", kind: "tool.intent", callId: "c", data: { name: "exec" } }],
    ["journal.append", { turnId: "turn-1", kind: "tool.result", callId: "c", data: { isError: true } }],
    ["journal.append", { turnId: "turn-1", kind: "note", data: { hooks: [{ hook: "before_agent_run", pluginId: "guard", at: 1, ms: 2, decision: "ok" }] } }],
    ["turns.end", { id: "turn-1", outcome: "answered" }],
    ["inbox.settle", { ids: [id], outcome: "answered", turnId: "turn-1" }],
  ]);
  await store.write("inbox.accept", { ...place, messageId: "4712", text: "", settled: { outcome: "refused", why: "the list does not name \u001b[31mthem" } });
}

test("without a gateway the story is read from the state folder: a timeline for people, data for machines", async () => {
  {
    await using store = await openStore({ stateDir: state, clock: systemClock });
    await fill(store);
  }
  const { code, out } = await run(["4711"]);
  expect(code).toBe(0);
  expect(out).toMatch(/^in:1 telegram:default:42:4711, \d{4}-\d\d-\d\d, session agent:main:main\nanswered after /);
  expect(out).toMatch(/\d\d:\d\d:\d\d\.\d{3} {2}tool {8}\s+\d+ms {2}exec: failed/);
  expect(out).not.toContain("guard");
  expect((await run(["4711", "--verbose"])).out).toContain("before_agent_run by guard: no action");
  const data = JSON.parse((await run(["agent:main:main", "--last", "5", "--json"])).out) as { stories: { about: { messageId: string } }[] };
  expect(data.stories.map(({ about }) => about.messageId)).toEqual(["4712", "4711"]);
});

test("strangers' words do nothing to the terminal, and colour is only for terminals", async () => {
  {
    await using store = await openStore({ stateDir: state, clock: systemClock });
    await fill(store);
  }
  expect((await run(["4712"])).out).toContain("no reply: the list does not name \ufffd[31mthem");
  expect((await run(["4712"], { color: true })).out).toContain("\u001b[31mno reply: the list does not name \ufffd[31mthem");
});

test("what is not there, and what is no question, is an error that says what to ask for", async () => {
  expect(await run(["4711"])).toMatchObject({ code: 1, err: expect.stringContaining("start the gateway first") });
  {
    await using store = await openStore({ stateDir: state, clock: systemClock });
    await fill(store);
  }
  expect(await run(["nobody"])).toMatchObject({ code: 1, err: expect.stringContaining("in:<inbox row>") });
  expect((await run([])).code).not.toBe(0);
  expect((await run(["4711", "--last", "0"])).err).toContain("--last takes a whole number");
});

test("a caller who may read can ask a running gateway", async () => {
  let store: Store | undefined;
  const reading = { read: (...args: Parameters<Store["read"]>) => store!.read(...args) } as Store;
  await using started = await startGateway({ handlers: () => whyHandlers({ store: reading, clock: systemClock }) });
  ({ store } = started);
  await fill(store);
  const answer = await run(["turn-1", "--url", started.gateway.url.replace(/^http/, "ws"), "--token", "t", "--json"]);
  expect(JSON.parse(answer.out)).toMatchObject({ stories: [{ about: { messageId: "4711", turnId: "turn-1" }, verdict: { outcome: "answered" } }] });
});
