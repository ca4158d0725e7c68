import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { systemRandom } from "../../base/random.ts";
import { openStore, type Store } from "../../store/index.ts";
import { createApprovals, pendingWork, type ApprovalNotice } from "./approvals.ts";

const clock = manualClock();
let store: Store;
beforeAll(async () => void (store = await openStore({ stateDir: mkdtempSync(join(tmpdir(), "approvals-")), clock })));
afterAll(() => store[Symbol.asyncDispose]());

function fixture() {
  const notices: ApprovalNotice[] = [];
  return { notices, approvals: createApprovals({ store, clock, ids: createIds(systemRandom), notify: (notice) => notices.push(notice) }) };
}
const SOON = { timeout: 20_000, interval: 10 };
const asked = { kind: "exec", request: { command: "ls" }, sessionKey: "agent:main:main" };

test("a question is stored, sent, listed and answered once", async () => {
  const { approvals, notices } = fixture();
  const { id, decision, expiresAt } = await approvals.request(asked);
  expect(expiresAt).toBe(clock.now() + 120_000);
  expect(await approvals.list("exec")).toMatchObject([{ id, request: { command: "ls" }, state: "pending" }]);
  await approvals.resolve(id, "allow-once", "me");
  expect(await decision).toBe("allow-once");
  expect(notices).toMatchObject([
    { type: "requested", id },
    { type: "resolved", id, decision: "allow-once", by: "me" },
  ]);
  await expect(approvals.resolve(id, "deny")).rejects.toMatchObject({ code: "NOT_FOUND", message: "unknown approval id" });
  expect(await store.read("approvals.get", { id })).toMatchObject({ state: "decided", decision: "allow-once", decidedBy: "me" });
  expect(await approvals.list()).toEqual([]);
});

test("a session's open questions are there at once, without those of others and those that ended", async () => {
  const { approvals } = fixture();
  const [one, two] = [await approvals.request(asked), await approvals.request({ ...asked, kind: "plugin", request: { title: "Send it?" } })];
  await approvals.request({ ...asked, sessionKey: "agent:main:other" });
  expect(approvals.open("agent:main:main")).toEqual([
    { id: one.id, kind: "exec", request: { command: "ls" } },
    { id: two.id, kind: "plugin", request: { title: "Send it?" } },
  ]);
  await approvals.resolve(one.id, "deny");
  clock.advance(120_000);
  await two.decision;
  expect(approvals.open("agent:main:main")).toEqual([]);
});

test("of many answers at the same time one counts", async () => {
  const { approvals } = fixture();
  const { id, decision } = await approvals.request(asked);
  const answers = await Promise.allSettled(["deny", "allow-once", "allow-always"].map((word) => approvals.resolve(id, word)));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await store.read("approvals.get", { id })).toMatchObject({ decision: await decision });
});

test("decisions that are not offered are refused and leave the question open", async () => {
  const { approvals } = fixture();
  const { id, decision } = await approvals.request({ ...asked, allowed: ["allow-once", "deny"] });
  await expect(approvals.resolve(id, "allow-always")).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(approvals.resolve(id, "yes")).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await approvals.resolve(id, "deny");
  expect(await decision).toBe("deny");
});

test("nobody answers: it times out, and a late answer is refused", async () => {
  const { approvals } = fixture();
  const { id, decision } = await approvals.request({ ...asked, timeoutMs: 1000 });
  clock.advance(1000);
  expect(await decision).toBe("timeout");
  await expect(approvals.resolve(id, "allow-once")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect.poll(async () => (await store.read("approvals.get", { id }))?.state, SOON).toBe("expired");
});

test("an instance that was disposed of reports nothing any more, and its question stays open for the next start", async () => {
  const { approvals } = fixture();
  const heard: string[] = [];
  approvals.onNotice(({ type }) => heard.push(type));
  const { id } = await approvals.request({ ...asked, timeoutMs: 1000 });
  approvals[Symbol.dispose]();
  clock.advance(1000);
  expect(heard).toEqual(["requested"]);
  expect((await store.read("approvals.get", { id }))?.state).toBe("pending");
  await store.write("approvals.expire", {});
});

test("a run that ends takes its question back", async () => {
  const { approvals } = fixture();
  const stop = new AbortController();
  const context = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s", runId: "r", workspaceDir: "/", owner: true };
  const answer = approvals.ask({ title: "Send it?", description: "", toolName: "message", toolCallId: "c", pluginId: "p", context }, stop.signal);
  await expect.poll(async () => (await approvals.list("plugin")).length, SOON).toBe(1);
  const [row] = await approvals.list("plugin");
  expect(row).toMatchObject({ turnId: "r", request: { title: "Send it?", toolName: "message" } });
  stop.abort();
  expect(await answer).toBe("cancelled");
  await expect(approvals.resolve(row!.id, "allow-once")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a restart denies what was open", async () => {
  const before = fixture();
  const { id } = await before.approvals.request(asked);
  const after = fixture();
  await expect(after.approvals.resolve(id, "allow-once"), "even before it is written down").rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await after.approvals.denyFormer()).toBeGreaterThanOrEqual(1);
  expect(await store.read("approvals.get", { id })).toMatchObject({ state: "decided", decision: "deny", decidedBy: "restart" });
  await expect(before.approvals.resolve(id, "allow-once")).rejects.toMatchObject({ code: "CONFLICT" });
});

test("a page of the history ends where a moment ends, so that the next page misses nothing", async () => {
  const own = await openStore({ stateDir: mkdtempSync(join(tmpdir(), "approvals-history-")), clock });
  const open = () => createApprovals({ store: own, clock, ids: createIds(systemRandom) });
  const former = open();
  const early = await former.request(asked);
  await former.resolve(early.id, "deny", "me");
  clock.advance(1000);
  const together = [await former.request(asked), await former.request(asked), await former.request(asked)].map(({ id }) => id);
  former[Symbol.dispose]();
  const approvals = open();
  await approvals.denyFormer();
  clock.advance(1000);
  const late = await approvals.request(asked);
  await approvals.resolve(late.id, "allow-once", "me");
  const seen: string[] = [];
  for (let before: number | undefined; ;) {
    const page = await approvals.history({ limit: 2, before });
    seen.push(...page.map(({ id }) => id));
    const oldest = page.at(-1)?.decidedAt;
    if (oldest == null) break;
    before = oldest;
  }
  expect(seen).toEqual([late.id, ...together.toSorted(), early.id]);
  approvals[Symbol.dispose]();
  await own[Symbol.asyncDispose]();
});

test("the beginning of an id will do, when it means one question", async () => {
  const { approvals } = fixture();
  const [one, two] = [await approvals.request({ ...asked, id: "12345678-one" }), await approvals.request({ ...asked, id: "12345678-two" })];
  await expect(approvals.resolve("12345678", "deny")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(approvals.resolve("12345", "deny")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await approvals.resolve("12345678-o", "deny");
  await approvals.resolve("12345678", "allow-once");
  expect([await one.decision, await two.decision]).toEqual(["deny", "allow-once"]);
});

test("the outcome of a command is stored, and its session is notified once", async () => {
  const { approvals } = fixture();
  const { id } = await approvals.request({ ...asked, sessionKey: "agent:main:outcome" });
  const unreported = async (): Promise<readonly string[]> =>
    (await store.read("approvals.unreported", { kind: "exec", since: 0, before: clock.now() + 1 }))
      .filter(({ sessionKey }) => sessionKey === "agent:main:outcome")
      .map((row) => row.id);
  expect(await unreported()).toEqual([id]);
  await approvals.recordOutcome(id, "agent:main:outcome", { state: "running", startedAt: 5 });
  expect(await store.read("approvals.some", { ids: [id, "unknown"] })).toMatchObject([{ id, outcome: { state: "running", startedAt: 5 } }]);
  expect(await unreported()).toEqual([id]);
  await approvals.recordOutcome(id, "agent:main:outcome", { state: "ended", exitCode: 0, reported: true });
  expect(await unreported()).toEqual([]);
  await expect(approvals.recordOutcome("unknown", "agent:main:outcome", { state: "lost" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("commands that run and questions that are open are kept, one line each", () => {
  const end = { code: 0, signal: null, timedOut: false };
  const lines = pendingWork(
    [
      { id: "mild-glade", command: "make all", end: undefined },
      { id: "cold-creek", command: "true", end },
    ],
    [
      { id: "a1", kind: "exec", request: { command: "rm -r build\n&& make", plan: {} } },
      { id: "a2", kind: "plugin", request: { title: "Send it?", toolName: "message" } },
      { id: "a3", kind: "tool", request: { toolName: "gateway" } },
      { id: "a4", kind: "tool", request: {} },
    ],
  );
  expect(lines).toEqual([
    "background process mild-glade: make all",
    "waiting for approval a1: rm -r build && make",
    "waiting for approval a2: Send it?",
    "waiting for approval a3: gateway",
    "waiting for approval a4: (not specified)",
  ]);
});
