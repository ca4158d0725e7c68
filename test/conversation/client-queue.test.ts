import { expect, test } from "vitest";
import type { Steered } from "../../src/agent/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { RunOutcome } from "../../src/conversation/index.ts";
import type { ModelMessage } from "../../src/protocol/index.ts";
import { readHistory } from "../../src/gateway/methods/chat/history.ts";
import { createRunRelay } from "../../src/gateway/runs/relay.ts";
import { OPEN, openPlace, type Place } from "./place.ts";

const KEY = "agent:main:main";
const SCOPES = ["operator.admin"];

/** The text that the model was sent last, call by call. */
function textOf(messages: readonly ModelMessage[]): string {
  const last = messages.at(-1)!;
  return typeof last.content === "string" ? last.content : last.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

async function settingUp(place: Place, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const entry = { sessionId: "00000000-0000-4000-8000-000000000001", updatedAt: Date.now(), queueDebounceMs: 0, ...fields };
  await place.store.write("sessions.put", { key: KEY, agentId: "main", entry, version: 0 });
}

const accept = (place: Place, runId: string, message: string, more: object = {}) =>
  place.conversation.accept({ runId, sessionKey: KEY, message, channel: "webchat", scopes: SCOPES, ...more });

const textOfOutcome = (outcome: RunOutcome | undefined): string => (outcome?.status === "ok" ? outcome.text : (outcome?.status ?? "unknown"));

/** A turn that goes on until it is let go. */
function gate() {
  const began = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  let first = true;
  return {
    began: began.promise,
    open: () => free.resolve(),
    async pass(signal: AbortSignal): Promise<void> {
      if (!first) return;
      first = false;
      began.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => resolve());
      await Promise.race([free.promise, promise]);
    },
  };
}

test("/queue collect holds for a client's messages: those that waited have one turn, and each caller its answer", async () => {
  const heard: string[] = [];
  const first = gate();
  await using place = await openPlace(OPEN, {
    heard: ({ messages }) => void heard.push(textOf(messages)),
    wrap: (turn) => async (input, ports) => (await first.pass(ports.signal), turn(input, ports)),
  });
  const finals = new Map<string, unknown>();
  using _relay = createRunRelay({
    responder: place.conversation,
    clock: systemClock,
    piece: () => ({ bytes: 0, behind: 0 }),
    form: () => "whole",
    broadcast(_event, payload) {
      const { state, runId, message } = payload as { readonly state?: string; readonly runId: string; readonly message?: { readonly content: unknown } };
      if (state === "final") finals.set(runId, message?.content);
    },
  });
  await settingUp(place, { queueMode: "collect" });
  await accept(place, "r1", "one");
  await first.began;
  await accept(place, "r2", "two");
  await accept(place, "r3", "three");
  while (place.conversation.depth(KEY) < 2) await new Promise((resolve) => setTimeout(resolve, 2));
  first.open();
  const [two, three] = await Promise.all([place.conversation.outcome("r2"), place.conversation.outcome("r3")]);
  expect(heard).toHaveLength(2);
  expect(heard[1]).toMatch(/2 messages that came while you were busy[^]*two[^]*three/);
  expect(textOfOutcome(two)).toBe(textOfOutcome(three));
  await place.quiet();
  expect([finals.get("r2"), finals.get("r3")]).toEqual([two, three].map((outcome) => [{ type: "text", text: textOfOutcome(outcome) }]));
  // Also for a caller that asks again, and after the runs left the memory.
  expect(await accept(place, "r2", "two")).toMatchObject({ duplicate: true, ended: { status: "ok" } });
  const rows = await place.store.read("inbox.recent", {});
  expect(rows.map(({ messageId, turnId }) => `${messageId} ${turnId}`).sort()).toEqual(["r1 r1", "r2 r3", "r3 r3"]);
});

test("without a chosen mode each of a client's messages has a turn of its own, and so have texts of callers that give no commands", async () => {
  for (const [mode, more] of [
    [undefined, {}],
    ["collect", { scopes: undefined }],
  ] as const) {
    const heard: string[] = [];
    const first = gate();
    await using place = await openPlace(OPEN, {
      heard: ({ messages }) => void heard.push(textOf(messages)),
      wrap: (turn) => async (input, ports) => (await first.pass(ports.signal), turn(input, ports)),
    });
    await settingUp(place, mode === undefined ? {} : { queueMode: mode });
    await accept(place, "r1", "one", more);
    await first.began;
    for (const [id, text] of [
      ["r2", "two"],
      ["r3", "three"],
    ] as const)
      await accept(place, id, text, more);
    first.open();
    await place.conversation.outcome("r3");
    expect(heard.map((text) => text.replace(/^\[[^\]]*\] /, ""))).toEqual(["one", "two", "three"]);
  }
});

test("/queue interrupt ends the client's turn that runs, and the newest is answered", async () => {
  const first = gate();
  await using place = await openPlace(OPEN, { wrap: (turn) => async (input, ports) => (await first.pass(ports.signal), turn(input, ports)) });
  await settingUp(place, { queueMode: "interrupt" });
  await accept(place, "r1", "one");
  await first.began;
  await accept(place, "r2", "two");
  expect(await place.conversation.outcome("r1")).toMatchObject({ status: "aborted" });
  expect(textOfOutcome(await place.conversation.outcome("r2"))).toContain("two");
});

test("/queue steer shows a client's message to the turn that runs, and both callers have its answer", async () => {
  let calls = 0;
  const asked = Promise.withResolvers<void>();
  await using place: Place = await openPlace(OPEN, {
    wrap: (turn) => async (input, ports) => {
      calls += 1;
      const shown: Steered[] = [];
      void accept(place, "r2", "two").then(() => asked.resolve());
      while (shown.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        shown.push(...ports.steered!());
      }
      return turn(input, { ...ports, steered: () => shown.splice(0) });
    },
  });
  await settingUp(place, { queueMode: "steer" });
  await accept(place, "r1", "one");
  await asked.promise;
  const [one, two] = await Promise.all([place.conversation.outcome("r1"), place.conversation.outcome("r2")]);
  await place.quiet();
  expect([calls, textOfOutcome(one) === textOfOutcome(two)]).toEqual([1, true]);
  const rows = await place.store.read("inbox.recent", {});
  expect(rows.map(({ messageId, outcome }) => `${messageId} ${outcome}`).sort()).toEqual(["r1 answered", "r2 merged"]);
});

test("a picture is shown to the turn that runs with its message; a message with other files waits, because a turn reads them when it begins", async () => {
  let calls = 0;
  const shown: Steered[] = [];
  const picture = { type: "image" as const, mimeType: "image/png", data: "aGk=" };
  const asked = Promise.withResolvers<void>();
  await using place: Place = await openPlace(OPEN, {
    wrap: (turn) => async (input, ports) => {
      calls += 1;
      if (input.runId !== "r1") return turn(input, ports);
      await accept(place, "r2", "two", { images: [picture] });
      await accept(place, "r3", "three", { files: [{ path: "/nowhere/a.pdf", mimeType: "application/pdf" }] });
      asked.resolve();
      await expect.poll(() => place.conversation.depth(KEY)).toBe(1);
      shown.push(...ports.steered!());
      const left = [...shown];
      return turn(input, { ...ports, steered: () => left.splice(0) });
    },
  });
  await settingUp(place, { queueMode: "steer" });
  await accept(place, "r1", "one");
  await asked.promise;
  await Promise.all(["r1", "r2", "r3"].map((id) => place.conversation.outcome(id)));
  expect(shown.map(({ text, images }) => [text, images])).toEqual([["two", [picture]]]);
  expect(calls).toBe(2);
});

test("messages that were answered together are answered together after a crash", async () => {
  const first = gate();
  const before: Place & { readonly folder: string } = await openPlace(OPEN, {
    wrap: (turn) => async (input, ports) => {
      if (input.runId === "r1") await first.pass(ports.signal);
      if (input.runId !== "r3") return turn(input, ports);
      // What the process got done of the turn before it died.
      await before.store.commit([
        ["turns.start", { id: "r3", sessionKey: KEY, agentId: "main" }],
        ["inbox.claim", { ids: input.inboxIds, turnId: "r3" }],
      ]);
      reached.resolve();
      return undefined;
    },
  });
  const reached = Promise.withResolvers<void>();
  const { folder } = before;
  await settingUp(before, { queueMode: "collect" });
  await accept(before, "r1", "one");
  await first.began;
  await accept(before, "r2", "two");
  await accept(before, "r3", "three");
  while (before.conversation.depth(KEY) < 2) await new Promise((resolve) => setTimeout(resolve, 2));
  first.open();
  await reached.promise;
  await before.conversation[Symbol.asyncDispose]();
  await before.delivery[Symbol.asyncDispose]();
  await before.store[Symbol.asyncDispose]();
  const heard: string[] = [];
  await using after = await openPlace(OPEN, { folder, heard: ({ messages }) => void heard.push(textOf(messages)) });
  expect(await after.conversation.resume()).toBe(2);
  const [two, three] = await Promise.all([after.conversation.outcome("r2"), after.conversation.outcome("r3")]);
  expect([two?.status, three?.status]).toEqual(["ok", "ok"]);
  expect(heard.join("\n")).toMatch(/two[^]*three/);
  await after.quiet();
  expect(await after.store.read("inbox.open", {})).toEqual([]);
});

test("a run that fails leaves a note in the history that people see once, and no model", async () => {
  const heard: (readonly ModelMessage[])[] = [];
  await using place = await openPlace(OPEN, {
    heard: ({ messages }) => void heard.push(messages),
    wrap: (turn) => async (input, ports) => {
      if (input.runId === "r2") throw new Error("the workspace is gone");
      return turn(input, ports);
    },
  });
  for (const [runId, message] of [
    ["r1", "one"],
    ["r2", "two"],
    ["r3", "three"],
  ] as const) {
    await accept(place, runId, message);
    await place.conversation.outcome(runId);
  }
  const session = (await place.store.read("sessions.get", { key: KEY }))!;
  const [transcript] = await place.store.read("transcripts.ofSession", { agentId: "main", sessionId: session.entry.sessionId });
  const history = await readHistory(place.store, transcript!.file, 100);
  expect(history.filter((message) => "errorMessage" in message)).toMatchObject([
    { role: "assistant", content: [], stopReason: "error", errorMessage: "the workspace is gone", idempotencyKey: "r2:assistant" },
  ]);
  expect(history.findIndex((message) => "errorMessage" in message)).toBeLessThan(history.length - 2);
  expect(JSON.stringify(heard.at(-1))).not.toContain("the workspace is gone");
  expect(heard.at(-1)!.filter(({ role, content }) => role === "assistant" && content.length === 0)).toEqual([]);
});

test("a message that is stopped on its way to the lane ends at once, also where the lane would wait for more", async () => {
  const first = gate();
  await using place = await openPlace(OPEN, { wrap: (turn) => async (input, ports) => (await first.pass(ports.signal), turn(input, ports)) });
  await settingUp(place, { queueMode: "collect", queueDebounceMs: 3_600_000 });
  await accept(place, "runs", "long");
  await first.began;
  await accept(place, "waits", "and then this");
  for (const runId of ["runs", "waits"]) place.conversation.abort({ sessionKey: KEY, runId }, "rpc");
  expect((await place.conversation.outcome("waits"))?.status).toBe("aborted");
  expect((await place.conversation.outcome("runs"))?.status).toBe("aborted");
});
