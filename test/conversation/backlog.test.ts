import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { Commands } from "../../src/conversation/index.ts";
import { openStore, type InboxRow } from "../../src/store/index.ts";
import { noCommands } from "../harness/talk.ts";
import { OPEN, openPlace, type Place } from "./place.ts";

const PATIENCE = { timeout: 30_000, interval: 5 };
const SCOPES = ["operator.admin"];
const keyOf = (session: number): string => `agent:main:s${session}`;

/** A folder with runs of clients that a process accepted and did not come to: `r<n>` with the text `m<n>`, over the sessions by turns. */
async function leftRuns(count: number, sessions: number, textOf = (n: number): string => `m${n}`): Promise<{ readonly folder: string } & Disposable> {
  const folder = mkdtempSync(join(tmpdir(), "backlog-"));
  await using store = await openStore({ stateDir: folder, clock: systemClock });
  await store.commit(
    Array.from({ length: count }, (_, n) => {
      const payload = { channel: "webchat", scopes: SCOPES };
      const place = { channel: "gateway", account: "runs", conversation: "runs", sessionKey: keyOf(n % sessions), agentId: "main" };
      return ["inbox.accept", { ...place, messageId: `r${n}`, kind: "message", text: textOf(n), payload }] as const;
    }),
  );
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Turns in the order in which they began, and none goes on before `open`. */
function gatedTurns() {
  const free = Promise.withResolvers<void>();
  const began: { readonly sessionKey: string; readonly runId: string }[] = [];
  const wrap: NonNullable<Parameters<typeof openPlace>[1]>["wrap"] = (turn) => async (input, ports) => {
    began.push({ sessionKey: input.sessionKey, runId: input.runId });
    const ended = Promise.withResolvers<void>();
    for (const signal of [ports.signal, ports.stopping]) signal.addEventListener("abort", () => ended.resolve(), { once: true });
    await Promise.race([free.promise, ended.promise]);
    return turn(input, ports);
  };
  return { began, wrap, open: () => free.resolve(), of: (session: number) => began.filter(({ sessionKey }) => sessionKey === keyOf(session)) };
}

const accept = (place: Place, session: number, runId: string, message: string) =>
  place.conversation.accept({ runId, sessionKey: keyOf(session), message, channel: "webchat", scopes: SCOPES });

const runs = (rows: readonly { readonly runId: string }[]): readonly string[] => rows.map(({ runId }) => runId);

async function outcomes(place: Place): Promise<ReadonlyMap<string, InboxRow["outcome"]>> {
  return new Map((await place.store.read("inbox.recent", { limit: 5000 })).map(({ messageId, outcome }) => [messageId, outcome]));
}

test("of many messages that a process left, few are in memory at a time; each is answered once, in the order of its session", async () => {
  const [count, sessions] = [900, 6];
  using left = await leftRuns(count, sessions);
  const turns = gatedTurns();
  await using place = await openPlace(OPEN, { folder: left.folder, wrap: turns.wrap });
  const { read } = place.store;
  let inMemory = 0;
  let most = 0;
  const counting = async (kind: Parameters<typeof read>[0], input: never): Promise<unknown> => {
    if (kind === "inbox.get") most = Math.max(most, (inMemory += 1));
    return read(kind, input);
  };
  Object.assign(place.store, { read: counting });
  using _events = place.store.onCommit((writes) => {
    for (const [kind, input] of writes ?? []) if (kind === "inbox.settle") inMemory -= input.ids.length;
  });
  expect(await place.conversation.resume()).toBe(count);
  expect([place.conversation.running(), place.conversation.depth(keyOf(0)) > 100, place.conversation.isBusy(keyOf(5))]).toEqual([count, true, true]);
  turns.open();
  await place.quiet();
  expect(most).toBeLessThan(count / 4);
  for (let session = 0; session < sessions; session += 1)
    expect(runs(turns.of(session))).toEqual(Array.from({ length: count / sessions }, (_, at) => `r${at * sessions + session}`));
  expect([...(await outcomes(place)).values()].every((outcome) => outcome === "answered")).toBe(true);
});

test("a new message waits behind those of its session on disk, one of another session does not, and callers get their answers", async () => {
  using left = await leftRuns(60, 1);
  const turns = gatedTurns();
  await using place = await openPlace(OPEN, { folder: left.folder, wrap: turns.wrap });
  await accept(place, 0, "first", "came before the others were looked for");
  const resumed = place.conversation.resume();
  await accept(place, 0, "early", "came while the others were found");
  await resumed;
  await accept(place, 0, "late", "came afterwards");
  await accept(place, 1, "other", "elsewhere");
  expect(await accept(place, 0, "r59", "m59")).toEqual({ runId: "r59", duplicate: true });
  const answers = Promise.all(["r59", "first", "early", "late", "other"].map((runId) => place.conversation.outcome(runId)));
  await expect.poll(() => turns.of(1).length, PATIENCE).toBe(1);
  expect(turns.of(0)).toHaveLength(1);
  turns.open();
  expect((await answers).map((outcome) => outcome?.status)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
  expect(runs(turns.of(0))).toEqual([...Array.from({ length: 60 }, (_, n) => `r${n}`), "first", "early", "late"]);
});

test("a stop ends what waits on disk, too, one run can be aborted, and what comes later is answered", async () => {
  using left = await leftRuns(80, 2);
  const turns = gatedTurns();
  await using place = await openPlace(OPEN, { folder: left.folder, wrap: turns.wrap });
  await place.conversation.resume();
  await expect.poll(() => turns.began.length, PATIENCE).toBe(2);
  expect(place.conversation.abort({ sessionKey: keyOf(1), runId: "r79" }, "rpc")).toEqual(["r79"]);
  expect(await place.conversation.outcome("r79")).toMatchObject({ status: "aborted" });
  const stopped = await place.conversation.stop(keyOf(0));
  expect(stopped.runIds).toHaveLength(40);
  await accept(place, 0, "after", "after the stop");
  turns.open();
  await place.quiet();
  expect(runs(turns.of(0))).toEqual(["r0", "after"]);
  expect(runs(turns.of(1))).toEqual(Array.from({ length: 39 }, (_, at) => `r${at * 2 + 1}`));
  const ends = await outcomes(place);
  expect([ends.get("after"), ends.get("r77"), ends.get("r78"), ends.get("r79")]).toEqual(["answered", "answered", "cancelled", "cancelled"]);
});

test("a command does not wait for turns, and a reset ends only what came before it", async () => {
  using left = await leftRuns(60, 1, (n) => (n === 50 ? "/new" : `m${n}`));
  const turns = gatedTurns();
  const run: Commands["run"] = async (call) => {
    if (call.ctx.BodyForCommands !== "/new") return noCommands.run(call);
    place.conversation.abort({ sessionKey: call.sessionKey }, "rpc");
    return { kind: "answered", outcome: "answered", reply: [], why: "reset" };
  };
  await using place = await openPlace(OPEN, { folder: left.folder, wrap: turns.wrap, commands: { ...noCommands, run } });
  await place.conversation.resume();
  await expect.poll(async () => (await outcomes(place)).get("r50"), PATIENCE).toBe("answered");
  turns.open();
  await place.quiet();
  const ends = await outcomes(place);
  expect(["r30", "r49"].map((id) => ends.get(id))).toEqual(["cancelled", "cancelled"]);
  expect(runs(turns.of(0)).slice(-9)).toEqual(Array.from({ length: 9 }, (_, at) => `r${51 + at}`));
});

test("what was not read when the process ends is there for the next, and a caller that waits for it is notified", async () => {
  using left = await leftRuns(60, 1);
  const turns = gatedTurns();
  const first = await openPlace(OPEN, { folder: left.folder, wrap: turns.wrap });
  await first.conversation.resume();
  await expect.poll(() => turns.began.length, PATIENCE).toBe(1);
  const waits = first.conversation.outcome("r59");
  await first.conversation.drain(0);
  expect(await waits).toMatchObject({ status: "error", failure: { kind: "restarting" } });
  turns.open();
  await first[Symbol.asyncDispose]();
  await using second = await openPlace(OPEN, { folder: left.folder });
  expect(await second.conversation.resume()).toBeGreaterThanOrEqual(59);
  await second.quiet();
  expect([...(await outcomes(second)).values()].every((outcome) => outcome === "answered")).toBe(true);
});

test("a caller that asks about a left run before the process resumes it gets its answer, or is notified that the process ends", async () => {
  using left = await leftRuns(3, 1);
  const first = await openPlace(OPEN, { folder: left.folder });
  const early = first.conversation.outcome("r2");
  expect(await first.conversation.outcome("unknown")).toBeUndefined();
  const giveUp = new AbortController();
  const given = first.conversation.outcome("r1", giveUp.signal);
  giveUp.abort();
  await expect(given).rejects.toMatchObject({ code: "CANCELLED" });
  await first[Symbol.asyncDispose]();
  expect(await early).toMatchObject({ status: "error", failure: { kind: "restarting" } });

  await using second = await openPlace(OPEN, { folder: left.folder });
  const asked = ["r0", "r1", "r2"].map((runId) => second.conversation.outcome(runId));
  expect(await second.conversation.resume()).toBe(3);
  expect((await Promise.all(asked)).map((outcome) => outcome?.status === "ok" && outcome.text)).toEqual(["m0", "m1", "m2"]);
});
