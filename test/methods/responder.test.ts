import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, type Clock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { RunEvent, RunRequest } from "../../src/gateway/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import type { Conversation } from "../../src/conversation/index.ts";
import { echoAgents } from "../harness/echo-agents.ts";
import { openTalk } from "../harness/talk.ts";

const KEY = "agent:main:main";
const SECONDS_30 = 30_000;

let folder = "";
let open: AsyncDisposableStack;
let seed = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "echo-"));
  open = new AsyncDisposableStack();
});
afterEach(async () => {
  await open.disposeAsync();
  rmSync(folder, { recursive: true, force: true });
});

interface Life {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly echo: Conversation;
  readonly events: { readonly runId: string; readonly event: RunEvent }[];
  /** Resolves once `count` events were seen. */
  seen(count: number): Promise<void>;
}

/** One life of the process. */
async function start(over: { readonly clock?: Clock; readonly graceMs?: number } = {}): Promise<Life> {
  const clock = manualClock();
  const store = await openStore({ stateDir: folder, clock });
  open.use(store);
  const ids = createIds(seededRandom((seed += 1)));
  const agents = echoAgents({ store, clock, ids, folder, modelClock: over.clock ?? clock });
  const { conversation: echo } = await openTalk({ store, clock, ids, agents, ...(over.graceMs === undefined ? {} : { graceMs: over.graceMs }) });
  const events: Life["events"] = [];
  let wake = (): void => {};
  echo.onEvent(({ runId }, event) => {
    events.push({ runId, event });
    wake();
  });
  async function seen(count: number): Promise<void> {
    while (events.length < count) await new Promise<void>((resolve) => (wake = resolve));
  }
  return { clock, store, echo, events, seen };
}

/** Ends a life; what runs is left as it is. */
async function kill({ clock, store, echo }: Life): Promise<void> {
  const disposed = echo[Symbol.asyncDispose]();
  await Promise.resolve();
  // The grace is over at once: nobody waits for real time here.
  const pump = setInterval(() => clock.advance(SECONDS_30), 1);
  await disposed;
  clearInterval(pump);
  await store[Symbol.asyncDispose]();
}

const request = (over: Partial<RunRequest> = {}): RunRequest => ({ runId: "r1", sessionKey: KEY, message: "hello", channel: "webchat", ...over });
const lines = (file: string) =>
  readFileSync(join(folder, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

async function transcript({ store }: Life, key = KEY) {
  const session = (await store.read("sessions.get", { key }))!;
  const [file] = await store.read("transcripts.ofSession", { agentId: session.agentId, sessionId: session.entry.sessionId });
  const rows = (await store.read("transcripts.path", { file: file!.file })).filter(({ type }) => type === "message");
  return { session, file: file!.file, rows };
}

const texts = (rows: readonly { readonly line: string }[]) => rows.map(({ line }) => JSON.parse(line).message.content[0]?.text);

test("a message is on disk when it is accepted, and its answer is when the run has ended", async () => {
  const life = await start();
  expect(await life.echo.accept(request())).toEqual({ runId: "r1", duplicate: false });
  expect(await life.store.read("inbox.find", { messageId: "r1" })).toMatchObject([{ text: "hello", sessionKey: KEY, agentId: "main" }]);
  const outcome = await life.echo.outcome("r1");
  expect(outcome).toMatchObject({ status: "ok", text: "hello" });
  const { session, rows } = await transcript(life);
  expect(texts(rows)).toEqual(["hello", "hello"]);
  expect(session.entry).toMatchObject({ systemSent: true, abortedLastRun: false, model: "echo", modelProvider: "test" });
  expect(await life.store.read("turns.get", { id: "r1" })).toMatchObject({ state: "ended", outcome: "answered" });
  expect(await life.store.read("inbox.find", { messageId: "r1" })).toMatchObject([{ state: "settled", outcome: "answered", turnId: "r1" }]);
});

test("the transcript file has the documented form: a header, then a tree of messages with ids of eight digits", async () => {
  const life = await start();
  await life.echo.accept(request());
  await life.echo.outcome("r1");
  const { file, session } = await transcript(life);
  await life.store[Symbol.asyncDispose]();
  const [header, model, level, snapshot, user, assistant] = lines(file);
  expect(header).toMatchObject({ type: "session", version: 3, id: session.entry.sessionId });
  expect(model).toMatchObject({ type: "model_change", parentId: null, provider: "test", modelId: "echo" });
  expect([level, snapshot]).toMatchObject([
    { type: "thinking_level_change", thinkingLevel: "off" },
    { type: "custom", customType: "model-snapshot" },
  ]);
  expect(user).toMatchObject({ type: "message", parentId: snapshot.id, message: { role: "user", content: [{ type: "text", text: "hello" }] } });
  expect(user.id).toMatch(/^[0-9a-f]{8}$/);
  expect(assistant).toMatchObject({ parentId: user.id, message: { role: "assistant", provider: "test", model: "echo", stopReason: "stop" } });
  expect(file).toBe(`agents/main/sessions/${session.entry.sessionId}.jsonl`);
});

test("the stream has as many pieces as are asked for, with time between them", async () => {
  const life = await start();
  await life.echo.accept(request({ message: "say this @chunks=3 @gap=50" }));
  await life.seen(2);
  expect(life.events.at(-1)!.event).toEqual({ stream: "assistant", data: { text: "say this", delta: "say this" } });
  for (const count of [3, 4]) {
    life.clock.advance(49);
    await Promise.resolve();
    expect(life.events).toHaveLength(count - 1);
    life.clock.advance(1);
    await life.seen(count);
  }
  expect(await life.echo.outcome("r1")).toMatchObject({ status: "ok", text: "say this w1 w2", durationMs: 100 });
  expect(life.events.map(({ event }) => event.stream)).toEqual(["lifecycle", "assistant", "assistant", "assistant", "lifecycle"]);
});

test("one session runs one turn at a time, in the order of arrival; another session does not wait", async () => {
  const life = await start();
  await life.echo.accept(request({ runId: "a", message: "first @chunks=2 @gap=1000" }));
  await life.echo.accept(request({ runId: "b", message: "second" }));
  await life.echo.accept(request({ runId: "c", sessionKey: "agent:main:other", message: "elsewhere" }));
  expect(await life.echo.outcome("c")).toMatchObject({ status: "ok" });
  expect(life.events.some(({ runId }) => runId === "b")).toBe(false);
  life.clock.advance(1000);
  await life.echo.outcome("b");
  expect(texts((await transcript(life)).rows)).toEqual(["first @chunks=2 @gap=1000", "first w1", "second", "second"]);
});

test("the same message under the same id is one run: while it runs, after it, and after a restart", async () => {
  const life = await start();
  const twins = await Promise.all([life.echo.accept(request()), life.echo.accept(request())]);
  expect(twins.map(({ duplicate }) => duplicate)).toEqual([false, true]);
  await life.echo.outcome("r1");
  expect(await life.echo.accept(request())).toMatchObject({ duplicate: true, ended: { status: "ok", text: "hello" } });
  await kill(life);
  const next = await start();
  expect(await next.echo.resume()).toBe(0);
  expect(await next.echo.accept(request())).toMatchObject({ duplicate: true, ended: { status: "ok", text: "hello" } });
  expect(await next.echo.outcome("r1")).toMatchObject({ status: "ok", text: "hello" });
  expect((await transcript(next)).rows).toHaveLength(2);
});

test("another message, or another session, under a used id is refused", async () => {
  const life = await start();
  await life.echo.accept(request({ message: "slow @chunks=2 @gap=1000" }));
  await expect(life.echo.accept(request({ message: "other" }))).rejects.toMatchObject({ code: "CONFLICT" });
  life.clock.advance(1000);
  await life.seen(2);
  life.clock.advance(1000);
  await life.echo.outcome("r1");
  await expect(life.echo.accept(request({ message: "other" }))).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(life.echo.accept(request({ message: "slow @chunks=2 @gap=1000", sessionKey: "agent:main:other" }))).rejects.toMatchObject({ code: "CONFLICT" });
});

test("what was accepted before the process ended is answered by the next one, once", async () => {
  const life = await start();
  await life.echo.accept(request({ message: "long @chunks=2 @gap=3600000", timeoutMs: 0 }));
  await life.echo.accept(request({ runId: "r2", message: "waiting" }));
  await life.seen(2);
  await kill(life);

  const next = await start();
  expect(await next.echo.resume()).toBe(2);
  await next.seen(2);
  next.clock.advance(3_600_000);
  expect(await next.echo.outcome("r2")).toMatchObject({ status: "ok", text: "waiting" });
  expect(texts((await transcript(next)).rows)).toEqual(["long @chunks=2 @gap=3600000", "long w1", "waiting", "waiting"]);
  expect(await next.store.read("turns.get", { id: "r1" })).toMatchObject({ resumptions: 1, outcome: "answered" });
  expect(await next.store.read("inbox.counts", {})).toMatchObject({ pending: 0, claimed: 0 });
});

test("a run that died with its process again and again is given up, and that is reported", async () => {
  await (await start()).store[Symbol.asyncDispose]();
  for (let life = 0; life < 4; life += 1) {
    const now = await start();
    if (life === 0) await now.echo.accept(request({ message: "deadly @chunks=2 @gap=3600000", timeoutMs: 0 }));
    else expect(await now.echo.resume()).toBe(1);
    await now.seen(2);
    await kill(now);
  }
  const last = await start();
  await last.echo.resume();
  expect(await last.echo.outcome("r1")).toMatchObject({ status: "error" });
  expect(last.events.at(-1)!.event).toMatchObject({ stream: "lifecycle", data: { phase: "error" } });
  expect(await last.store.read("inbox.find", { messageId: "r1" })).toMatchObject([{ state: "settled", outcome: "failed" }]);
  const { rows } = await transcript(last);
  const notes = rows.map(({ line }) => JSON.parse(line).message).filter((message) => message?.errorMessage !== undefined);
  expect(notes, "seen once below the message after a reload").toMatchObject([
    { role: "assistant", content: [], stopReason: "error", errorMessage: expect.stringContaining("abandoned") },
  ]);
  expect(JSON.parse(rows.at(-1)!.line).message).toEqual(notes[0]);
});

test("an aborted run keeps what was said, and is marked in the transcript and the session", async () => {
  const life = await start();
  await life.echo.accept(request({ message: "long @chunks=9 @gap=1000" }));
  await life.seen(2);
  expect(life.echo.abort({ sessionKey: KEY, runId: "r1" }, "rpc")).toEqual(["r1"]);
  expect(life.echo.abort({ sessionKey: KEY }, "rpc")).toEqual([]);
  expect(await life.echo.outcome("r1")).toMatchObject({ status: "aborted", text: "long" });
  expect(life.events.at(-1)!.event).toMatchObject({ data: { phase: "end", aborted: true } });
  const { rows, session } = await transcript(life);
  expect(JSON.parse(rows.at(-1)!.line).message).toMatchObject({
    stopReason: "aborted",
    idempotencyKey: "r1:assistant",
    openclawAbort: { aborted: true, origin: "rpc", runId: "r1" },
  });
  expect(session.entry.abortedLastRun).toBe(true);
  expect(await life.store.read("inbox.find", { messageId: "r1" })).toMatchObject([{ state: "settled", outcome: "cancelled" }]);
});

test("aborting a session also ends what waits in it", async () => {
  const life = await start();
  await life.echo.accept(request({ message: "long @chunks=2 @gap=1000" }));
  await life.echo.accept(request({ runId: "r2", message: "waiting" }));
  await life.seen(2);
  await expect.poll(() => life.echo.depth(KEY)).toBe(1);
  expect(life.echo.abort({ sessionKey: KEY }, "stop")).toEqual(["r1", "r2"]);
  expect(await life.echo.outcome("r2")).toMatchObject({ status: "aborted", text: "" });
  expect(await life.store.read("inbox.find", { messageId: "r2" })).toMatchObject([{ outcome: "cancelled", why: "aborted (stop-command)" }]);
  const notes = (await transcript(life)).rows.map(({ line }) => JSON.parse(line).message?.openclawAbort).filter(Boolean);
  expect(notes).toEqual(["r1", "r2"].map((runId) => ({ aborted: true, origin: "stop-command", runId })));
});

test("a run past its time is aborted", async () => {
  const life = await start();
  await life.echo.accept(request({ message: "long @chunks=2 @gap=60000", timeoutMs: 5000 }));
  await life.seen(2);
  life.clock.advance(5000);
  expect(await life.echo.outcome("r1")).toMatchObject({ status: "aborted", text: "long", durationMs: 5000 });
});

test("an entry that someone else adds during a turn stays on the path", async () => {
  const life = await start();
  await life.echo.accept(request({ message: "long @chunks=2 @gap=1000" }));
  await life.seen(2);
  const { file } = await transcript(life);
  const line = JSON.stringify({ type: "message", id: "0000abcd", parentId: null, message: { role: "assistant", content: [{ type: "text", text: "note" }] } });
  await life.store.write("transcripts.append", { file, entries: [{ id: "0000abcd", parentId: null, type: "message", line }] });
  life.clock.advance(1000);
  await life.echo.outcome("r1");
  expect(texts((await transcript(life)).rows)).toEqual(["note", "long @chunks=2 @gap=1000", "long w1"]);
});

test("nothing is accepted once the gateway stops, and nobody knows an unknown run", async () => {
  const life = await start();
  expect(await life.echo.outcome("nobody")).toBeUndefined();
  await life.echo[Symbol.asyncDispose]();
  await expect(life.echo.accept(request())).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("waiting for a run can be given up without ending it", async () => {
  const life = await start();
  await life.echo.accept(request({ message: "long @chunks=2 @gap=1000" }));
  await life.seen(2);
  const waiting = new AbortController();
  const outcome = life.echo.outcome("r1", waiting.signal);
  waiting.abort();
  await expect(outcome).rejects.toMatchObject({ code: "CANCELLED" });
  life.clock.advance(1000);
  expect(await life.echo.outcome("r1")).toMatchObject({ status: "ok" });
});
