import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { silentLogger } from "../base/log/logger.ts";
import { createHooks, type Hooks } from "../hooks/index.ts";
import { openStore } from "../store/index.ts";
import { createEndedSessions } from "./session-endings.ts";

const FILE = "agents/main/sessions/s1.jsonl";
const SESSION = { key: "agent:main:main", agentId: "main", sessionId: "s1" };
const HOST = { pluginId: "test" };
const SOON = { timeout: 20_000, interval: 10 };

async function fixture(listen: (hooks: Hooks) => void) {
  const clock = manualClock();
  const store = await openStore({ stateDir: mkdtempSync(join(tmpdir(), "endings-")), clock });
  onTestFinished(() => store[Symbol.asyncDispose]());
  const message = (id: string) => ({ id, parentId: null, type: "message", line: JSON.stringify({ type: "message", id, message: { role: "user" } }) });
  const note = { id: "n", parentId: null, type: "custom", line: JSON.stringify({ type: "custom", id: "n" }) };
  await store.write("transcripts.ensure", { file: FILE, agentId: "main", sessionId: "s1", header: JSON.stringify({ type: "session" }) });
  await store.write("transcripts.append", { file: FILE, entries: [message("a"), note, message("b")] });
  const hooks = createHooks({ clock, log: silentLogger });
  listen(hooks);
  const reads: string[] = [];
  const read = ((name: string, ...rest: unknown[]) => (reads.push(name), (store.read as (...args: unknown[]) => unknown)(name, ...rest))) as typeof store.read;
  return { store, reads, endings: createEndedSessions({ store: { read }, hooks: () => hooks, stateDir: "/state" }) };
}

test("listeners to the end of a session get its message count before the next one begins", async () => {
  const reported: unknown[] = [];
  const { endings, store } = await fixture((hooks) => {
    hooks.on(
      "session_end",
      ({ messageCount, reason, nextSessionId, sessionFile }) => void reported.push([reason, messageCount, nextSessionId, sessionFile]),
      HOST,
    );
    hooks.on("session_start", ({ sessionId }) => void reported.push(sessionId), HOST);
  });
  await store.write("transcripts.archive", { file: FILE, reason: "reset" });
  endings.ended({ ...SESSION, file: FILE, reason: "reset" }, { sessionId: "s2" });
  await expect.poll(() => reported, SOON).toEqual([["reset", 2, "s2", join("/state", FILE)], "s2"]);
});

test("when the gateway stops, the sessions it used end the same way", async () => {
  const reported: unknown[] = [];
  const { endings } = await fixture((hooks) => void hooks.on("session_end", ({ messageCount, reason }) => void reported.push([reason, messageCount]), HOST));
  endings.used(SESSION);
  await endings.stop("shutdown");
  expect(reported).toEqual([["shutdown", 2]]);
});

test("while nobody listens nothing is counted", async () => {
  const begun: string[] = [];
  const { endings, reads } = await fixture((hooks) => void hooks.on("session_start", ({ sessionId }) => void begun.push(sessionId), HOST));
  endings.used(SESSION);
  endings.ended({ ...SESSION, file: FILE, reason: "reset" }, { sessionId: "s2" });
  await endings.stop("restart");
  await expect.poll(() => begun, SOON).toEqual(["s2"]);
  expect(reads).toEqual([]);
});
