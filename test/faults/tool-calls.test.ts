import { expect, test } from "vitest";
import type { CallRequest } from "../../src/models/index.ts";
import { textOutcome } from "../../src/tools/index.ts";
import { KEY, said, type Call } from "../harness/agent-fixture.ts";
import { results, agentWith, tool, turnWith, works } from "./tool-fixture.ts";

const seenResults = ({ messages }: CallRequest): readonly string[] => messages.flatMap((message) => (message.role === "toolResult" ? [said(message)] : []));

test("a model that calls tools that are not there is given the names of those that are, and goes on", async () => {
  const names = ["nothing", "", " ", "constructor", "__proto__", "toString", "../works", "works\u0000", "x".repeat(100_000)];
  const { found } = await turnWith([works], [...names.map((name) => ({ name })), { name: "WORKS" }, { name: "works" }]);
  for (const [n, name] of names.entries()) {
    expect(found[n]).toMatchObject({ name, failed: true });
    expect(found[n]!.text).toMatch(/^Tool .*not found$/s);
    expect(found[n]!.text.length).toBeLessThan(1_000);
  }
  expect(found.slice(-1)).toMatchObject([{ text: "it worked", failed: false }]);
});

test("a model that sends arguments that are no object is shown what was expected", async () => {
  const ran: unknown[] = [];
  const picky = tool("picky", ({ params }) => (ran.push(params), Promise.resolve(textOutcome("ran"))));
  const given: readonly unknown[] = ["a text", 7, null, undefined, ["a", "list"], true, '{"what":"json in a text"}'];
  const { found } = await turnWith(
    [picky],
    given.map((args, n) => ({ name: "picky", id: `c${n}`, args: args as never })),
  );
  // Nothing given is an empty object, as when a model leaves arguments out; an object that is packed into a text is unpacked.
  const refused = found.filter(({ failed }) => failed);
  expect(refused.map(({ id }) => id)).toEqual(["c0", "c1", "c2", "c4", "c5"]);
  for (const { text } of refused) expect(text).toContain('Validation failed for tool "picky"');
  expect(ran).toEqual([{}, { what: "json in a text" }]);
});

test("a model that sends enormous arguments has them checked, and the answer to it is short", async () => {
  const big = "x".repeat(3_000_000);
  let took = 0;
  const takes = tool("takes", ({ params }) => ((took = (params["what"] as string).length), Promise.resolve(textOutcome("taken"))));
  let deep: unknown = "x";
  for (let n = 0; n < 5_000; n += 1) deep = [deep];
  const { found } = await turnWith(
    [takes],
    [
      { name: "takes", args: { what: big } },
      { name: "takes", args: { what: { big } } },
      { name: "takes", args: { what: deep } },
      { name: "takes", args: { what: "x", ...Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n])) } },
    ],
  );
  expect(took).toBe(1);
  expect(found.map(({ failed }) => failed)).toEqual([false, true, true, false]);
  for (const { text } of found) expect(text.length).toBeLessThan(20_000);
});

test("a model that makes 500 calls at once gets 500 results in order, and the turn ends", async () => {
  const made: unknown[] = [];
  const counts = tool("counts", ({ params }) => (made.push(params["what"]), Promise.resolve(textOutcome(`counted ${String(params["what"])}`))));
  const calls = Array.from({ length: 500 }, (_, n) => ({ name: n % 50 === 49 ? "gone" : "counts", id: `c${n}`, args: { what: String(n) } }));
  const { at, found } = await turnWith([counts], calls);
  expect(found.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
  expect(found.filter(({ failed }) => failed)).toHaveLength(10);
  expect(made).toEqual(calls.filter(({ name }) => name === "counts").map(({ args }) => args.what));
  expect(at.requests[1]!.messages.filter(({ role }) => role === "toolResult")).toHaveLength(500);
});

test("a model that uses one id for several calls has each of them answered, and sees an answer for each", async () => {
  const made: unknown[] = [];
  const counts = tool("counts", ({ params }) => (made.push(params["what"]), Promise.resolve(textOutcome(`counted ${String(params["what"])}`))));
  const same = (...words: string[]): { calls: Call[] } => ({ calls: words.map((what) => ({ name: "counts", id: "call_0", args: { what } })) });
  const at = await agentWith({ says: [same("a", "b"), same("c"), "one", same("d"), "two"], tools: [counts] });
  await at.turn("first");
  await at.turn("second");
  expect(made).toEqual(["a", "b", "c", "d"]);
  expect((await results(at)).map(({ text }) => text)).toEqual(["counted a", "counted b", "counted c", "counted d"]);
  const last = at.requests.at(-1)!;
  expect(seenResults(last)).toEqual(["counted a", "counted b", "counted c", "counted d"]);
  const ids = last.messages.flatMap((message) =>
    message.role === "assistant" ? message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : [])) : [],
  );
  expect(new Set(ids.slice(0, 2)).size, "no provider takes one id twice in an answer").toBe(2);
});

test("a model that never comes to an end is ended at the limit, and says so", async () => {
  let made = 0;
  const counts = tool("counts", () => ((made += 1), Promise.resolve(textOutcome("again"))));
  const at = await agentWith({ says: [...Array.from({ length: 200 }, () => ({ calls: [{ name: "counts" }] })), "enough"], tools: [counts] });
  const end = await at.turn("go");
  expect(end).toMatchObject({ status: "failed", error: expect.stringContaining("200 times") as string });
  expect(made).toBe(200);
  expect(await results(at)).toHaveLength(200);
  expect((await at.transcript()).at(-1)).toMatchObject({ role: "assistant", stopReason: "error", errorMessage: end.error });
  // The session is not lost with it.
  expect(await at.turn("and now?")).toMatchObject({ status: "ok", text: "enough" });
});

test("a model that goes on calling after the turn was aborted is not heard", async () => {
  const abort = new AbortController();
  let made = 0;
  const counts = tool("counts", () => ((made += 1), Promise.resolve(textOutcome("counted"))));
  const at = await agentWith({
    says: [() => (abort.abort(), { text: "and now", calls: [{ name: "counts" }, { name: "counts" }] }), { calls: [{ name: "counts" }] }],
    tools: [counts],
  });
  expect(await at.turn("go", {}, { signal: abort.signal })).toMatchObject({ status: "aborted" });
  expect(made).toBe(0);
  expect(at.requests).toHaveLength(1);
  for (const { text, failed } of await results(at)) expect([text, failed]).toEqual(["The run was stopped before this call was made.", true]);
  expect((await at.store.read("sessions.get", { key: KEY }))?.entry).toMatchObject({ abortedLastRun: true });
});
