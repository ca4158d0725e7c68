/** What started a run that nobody wrote a message for, from a real store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { loadWhy, type Story } from "../../src/conversation/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";

const T0 = Date.UTC(2026, 0, 15, 9);
const CHILD = "agent:main:subagent:1";
const limits = { children: 5, total: 50, failures: 5, pauseMs: 1000 };

let stateDir: string;
let store: Store;

beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "why-starts-"));
  store = await openStore({ stateDir, clock: manualClock(T0) });
  await store.write("cron.job.put", { id: "j1", enabled: true, nextRunAt: null, job: { id: "j1", name: "Report" } });
  await store.write("subagents.spawn", {
    runId: "child-run",
    childSessionKey: CHILD,
    requesterSessionKey: "agent:main:main",
    data: { label: "Stars" },
    limits,
  });
});
afterAll(async () => {
  await store?.[Symbol.asyncDispose]();
  rmSync(stateDir, { recursive: true, force: true });
});

async function storyOf(kind: string, messageId: string, more: { text?: string; payload?: object; sessionKey?: string } = {}): Promise<Story> {
  const { text = "do it", payload = {}, sessionKey = "agent:main:main" } = more;
  await store.write("inbox.accept", { channel: "gateway", account: "", conversation: "", messageId, kind, text, payload, sessionKey, agentId: "main" });
  const { createWhy, whyText } = await loadWhy();
  const [story] = await createWhy({ store, now: () => T0 }).tell(messageId);
  expect(story?.steps[0]).toMatchObject({ kind: "received", text: story?.about.start?.text ?? expect.any(String) });
  // It is what the trace begins with, in chats too.
  expect(whyText(story!).split("\n")[0]).toContain(`(${story?.about.start?.text ?? messageId})`);
  return story!;
}
const startOf = async (...asked: Parameters<typeof storyOf>): Promise<Story["about"]["start"]> => (await storyOf(...asked)).about.start;

test("a scheduled job is named, with the time it was due and how late it began", async () => {
  expect(await startOf("cron", `cron:j1:${T0 - 120_000}`)).toEqual({
    kind: "job",
    name: "Report",
    id: "j1",
    text: 'scheduled job "Report" (j1), due 2026-01-15T08:58:00.000Z, 2m late',
  });
  const gone = await startOf("cron", `cron:j2:${T0}`, { text: "[cron:j2 Old report] write it" });
  expect(gone).toMatchObject({ name: "Old report", text: 'scheduled job "Old report" (j2), due 2026-01-15T09:00:00.000Z' });
});

test("heartbeats, internal hooks and webhooks are named", async () => {
  expect((await startOf("heartbeat", `heartbeat:main:${T0}`))?.text).toBe("heartbeat of agent main");
  expect((await startOf("heartbeat", "heartbeat:main:2", { payload: { heartbeat: { isRelay: true } } }))?.text).toBe(
    "heartbeat of agent main, to handle new events",
  );
  expect(await startOf("cron", `boot:${T0}:main`)).toMatchObject({ kind: "hook", name: "boot-md", text: expect.stringContaining("BOOT.md of agent main") });
  expect(await startOf("webhook", "w1", { text: "[hook:w1 GitHub] push" })).toEqual({
    kind: "webhook",
    name: "GitHub",
    id: "w1",
    text: 'webhook "GitHub" (w1)',
  });
  expect(await startOf("webhook", "w2", { text: "Task: Mail | Job ID: w2 | Received: now\n\nhello" })).toMatchObject({ name: "Mail" });
});

test("sub-agents name who started them, and their results name them", async () => {
  expect(await startOf("subagent", "child-run", { sessionKey: CHILD })).toEqual({
    kind: "subagent",
    name: "Stars",
    sessionKey: "agent:main:main",
    text: 'sub-agent task "Stars", started by session agent:main:main',
  });
  expect(await startOf("announce", `announce:v1:${CHILD}:child-run`)).toMatchObject({
    kind: "report",
    sessionKey: CHILD,
    text: `result of sub-agent "Stars" (${CHILD})`,
  });
  expect(await startOf("announce", "announce:v1:agent:main:subagent:gone:run")).toMatchObject({ text: "result of sub-agent agent:main:subagent:gone" });
  const provenance = { kind: "inter_session", sourceSessionKey: "agent:main:other" };
  expect((await startOf("session", "s1", { payload: { provenance } }))?.text).toBe("message from session agent:main:other");
});

test("a message that a person wrote has no such start", async () => {
  const story = await storyOf("message", "m1", { payload: { channel: "webchat" } });
  expect(story.about.start).toBeUndefined();
  expect(story.steps[0]?.text).toBe("message from a client (webchat)");
});
