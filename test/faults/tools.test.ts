import { expect, onTestFinished, test } from "vitest";
import { textOutcome, type Tool, type ToolOutcome } from "../../src/tools/index.ts";
import type { AgentFixture } from "../harness/agent-fixture.ts";
import { results, agentWith, tool, turnWith, works } from "./tool-fixture.ts";

const never = (): Promise<never> => new Promise(() => {});

test("a tool that throws is a result that says so, and the next call is made", async () => {
  const { found } = await turnWith(
    [
      tool("throws", () => {
        throw new TypeError("out of paper");
      }),
      tool("rejects", () => Promise.reject(new Error("out of ink"))),
      // oxlint-disable-next-line prefer-promise-reject-errors -- a plugin may throw anything
      tool("odd", () => Promise.reject(null)),
      works,
    ],
    [{ name: "throws" }, { name: "rejects" }, { name: "odd" }, { name: "works" }],
  );
  expect(found.map(({ failed }) => failed)).toEqual([true, true, true, false]);
  expect(JSON.parse(found[0]!.text)).toEqual({ status: "error", tool: "throws", error: "out of paper" });
  expect(JSON.parse(found[1]!.text)).toMatchObject({ tool: "rejects", error: "out of ink" });
  expect(JSON.parse(found[2]!.text)).toMatchObject({ tool: "odd" });
  expect(found[3]!.text).toBe("it worked");
});

test("a tool that hangs is stopped at its time limit, by its signal, and the turn goes on", async () => {
  let stopped = false;
  const hangs = tool(
    "hangs",
    ({ signal }) => {
      signal.addEventListener("abort", () => (stopped = true));
      setImmediate(() => at.clock.advance(4_999));
      setImmediate(() => (expect(stopped).toBe(false), at.clock.advance(1)));
      return never();
    },
    { timeoutMs: 5_000 },
  );
  const at: AgentFixture = await agentWith({ says: [{ calls: [{ name: "hangs" }, { name: "works" }] }, "done"], tools: [hangs, works] });
  expect(await at.turn("go")).toMatchObject({ status: "ok" });
  expect(stopped).toBe(true);
  expect((await results(at)).map(({ text }) => text)).toEqual(["hangs took longer than 5000 ms and was stopped", "it worked"]);
});

test("a tool that hangs without a limit ends with the run: the call is reported, those behind it are not made", async () => {
  const abort = new AbortController();
  let made = 0;
  const hangs = tool("hangs", () => (setImmediate(() => abort.abort()), never()));
  const counts = tool("counts", () => ((made += 1), Promise.resolve(textOutcome("counted"))));
  const at = await agentWith({ says: [{ calls: [{ name: "hangs" }, { name: "counts" }] }, "never said"], tools: [hangs, counts] });
  expect(await at.turn("go", {}, { signal: abort.signal })).toMatchObject({ status: "aborted" });
  expect(at.requests).toHaveLength(1);
  expect(made).toBe(0);
  expect((await results(at)).map(({ text, failed }) => [text, failed])).toEqual([
    ["the run was stopped", true],
    ["The run was stopped before this call was made.", true],
  ]);
});

test("a tool that floods is cut: text, parts, details and what it shows on the way", async () => {
  const flood = "f".repeat(5_000_000);
  const floods = tool("floods", ({ update }) => {
    update(textOutcome(flood));
    return Promise.resolve({
      content: Array.from({ length: 5_000 }, () => ({ type: "text" as const, text: "p".repeat(10_000) })),
      details: { flood },
      isError: false,
    });
  });
  const { at, found } = await turnWith([floods], [{ name: "floods" }]);
  expect(found[0]!.text.length).toBeLessThan(410_000);
  expect(found[0]!.text.slice(-60)).toMatch(/\[\d+ more characters were cut off\]$/);
  const [, , result] = await at.transcript();
  expect(JSON.stringify(result).length).toBeLessThan(420_000);
  expect(result!["details"]).toMatchObject({ persistedDetailsTruncated: true });
  for (const event of at.events) expect(JSON.stringify(event).length).toBeLessThan(420_000);
  expect(at.events.filter(({ stream, data }) => stream === "tool" && data.phase === "update")).toHaveLength(1);
});

test("a tool that returns what is no result is reported in words", async () => {
  const cyclic: Record<string, unknown> = { name: "ring" };
  cyclic["self"] = cyclic;
  const trap = Object.defineProperty({}, "content", {
    get() {
      throw new Error("looked at");
    },
  });
  const given: readonly unknown[] = [
    cyclic,
    { content: [{ type: "text", text: "fine" }], details: cyclic, isError: false },
    undefined,
    null,
    42,
    10n,
    () => "code",
    { content: "a text" },
    { content: [null, { type: "video" }, { type: "text", text: 7 }] },
    { content: [{ type: "text", text: "half \ud83d" }], isError: "yes" },
    trap,
  ];
  const tools = given.map((value, n) => tool(`odd${n}`, () => Promise.resolve(value as ToolOutcome)));
  const { at, found } = await turnWith(
    tools,
    tools.map(({ name }) => ({ name })),
  );
  expect(found).toHaveLength(given.length);
  expect(found[0]!.text).toContain("returned an invalid result");
  expect(found[1]).toMatchObject({ text: "fine", failed: false });
  expect(found[2]!.text).toBe("(odd2 returned nothing)");
  expect(found[4]!.text).toBe("42");
  expect(found[9]).toMatchObject({ failed: false });
  expect(found[10]).toMatchObject({ failed: true, text: expect.stringContaining("looked at") as string });
  const kept = (await at.transcript()).filter(({ role }) => role === "toolResult");
  expect(kept[1]!["details"]).toMatchObject({ persistedDetailsTruncated: true, reason: "not JSON" });
});

test("a tool that changes its schema is called by the one it has in that turn", async () => {
  const took: unknown[] = [];
  const run: Tool["run"] = ({ params }) => (took.push(params), Promise.resolve(textOutcome("ok")));
  const schema = (name: string) => ({ type: "object", properties: { [name]: { type: "number" } }, required: [name], additionalProperties: false });
  const tools = [tool("moody", run, { parameters: schema("old") })];
  const at = await agentWith({
    says: [
      () => ((tools[0] = tool("moody", run, { parameters: schema("new") })), { calls: [{ name: "moody", args: { old: 1 } }] }),
      "one",
      { calls: [{ name: "moody", args: { old: 2 } }] },
      { calls: [{ name: "moody", args: { new: 3 } }] },
      () => ((tools.length = 0), { calls: [{ name: "moody", args: { new: 4 } }] }),
      "two",
      { calls: [{ name: "moody", args: { new: 5 } }] },
      "three",
    ],
    tools,
  });
  for (const message of ["first", "second", "third"]) expect(await at.turn(message)).toMatchObject({ status: "ok" });
  expect(took).toEqual([{ old: 1 }, { new: 3 }, { new: 4 }]);
  const found = await results(at);
  expect(found.map(({ failed }) => failed)).toEqual([false, true, false, false, true]);
  expect(found[1]!.text).toContain('Validation failed for tool "moody"');
  expect(found[4]!.text).toBe("Tool moody not found");
});

test("a tool that has a schema that no validator can read fails its own call and no other", async () => {
  const odd = [{ type: "object", properties: { what: { pattern: "(" } } }, { $ref: "#/nowhere" }, { type: 7 }, { type: "object", properties: null }];
  const tools = odd.map((parameters, n) => tool(`odd${n}`, () => Promise.resolve(textOutcome("ran")), { parameters: parameters }));
  const { found } = await turnWith([...tools, works], [...tools.map(({ name }) => ({ name, args: { what: "x" } })), { name: "works" }]);
  expect(found.map(({ failed, text }) => [failed, text.length > 0])).toEqual(odd.map(() => [expect.any(Boolean), true]).concat([[false, true]]));
  expect(found[2]).toMatchObject({ failed: true, text: expect.stringContaining("cannot be checked: its schema has the type 7") as string });
  expect(found[4]!.text).toBe("it worked");
});

test("a tool that shows rubbish, or shows it too late, does no harm", async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  let late: ((partial: ToolOutcome) => void) | undefined;
  const shows = tool("shows", ({ update }) => {
    for (const partial of [undefined, cyclic, { content: [cyclic] }, { content: [], details: cyclic }, "text"] as unknown[]) update(partial as ToolOutcome);
    late = update;
    return Promise.resolve(textOutcome("shown"));
  });
  const { at, found } = await turnWith([shows], [{ name: "shows" }]);
  expect(found).toMatchObject([{ text: "shown", failed: false }]);
  const updates = (): number => at.events.filter(({ stream, data }) => stream === "tool" && data.phase === "update").length;
  const before = updates();
  expect(before).toBe(5);
  expect(() => JSON.stringify(at.events)).not.toThrow();
  late!(textOutcome("too late"));
  expect(updates()).toBe(before);
});

test("a tool whose listener throws still gives its result", async () => {
  const shows = tool("shows", ({ update }) => (update(textOutcome("half")), Promise.resolve(textOutcome("whole"))));
  const at = await agentWith({ says: [{ calls: [{ name: "shows" }] }, "done"], tools: [shows] });
  const emit = (event: { readonly stream: string; readonly data: object }): void => {
    if (event.stream === "tool" && "partialResult" in event.data) throw new Error("the screen is broken");
  };
  expect(await at.turn("go", {}, { emit })).toMatchObject({ status: "ok" });
  expect(await results(at)).toMatchObject([{ text: "whole", failed: false }]);
});

test("a tool that answers a second time, or after it was stopped, is not heard again", async () => {
  const late = Promise.withResolvers<ToolOutcome>();
  const twice = tool("twice", () => {
    const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
    resolve(textOutcome("first"));
    resolve(textOutcome("second"));
    return promise;
  });
  // No promise at all, but something that can be waited for and answers as often as it likes.
  const thenable = tool("thenable", () => {
    const then = (resolve: (outcome: ToolOutcome) => void, reject: (error: Error) => void): void => {
      resolve(textOutcome("first"));
      resolve(textOutcome("second"));
      reject(new Error("third"));
    };
    // oxlint-disable-next-line unicorn/no-thenable -- that is the point
    return { then } as unknown as Promise<ToolOutcome>;
  });
  const slow = tool("slow", () => (setImmediate(() => at.clock.advance(1_000)), late.promise), { timeoutMs: 1_000 });
  const at: AgentFixture = await agentWith({
    says: [{ calls: [{ name: "twice" }, { name: "thenable" }, { name: "slow" }] }, () => (late.resolve(textOutcome("after all")), "done")],
    tools: [twice, thenable, slow],
  });
  await at.turn("go");
  expect((await results(at)).map(({ text }) => text)).toEqual(["first", "first", "slow took longer than 1000 ms and was stopped"]);
});

test("a tool that rejects after it was stopped does not bring the process down", async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const late = Promise.withResolvers<ToolOutcome>();
  const slow = tool("slow", () => (setImmediate(() => at.clock.advance(1_000)), late.promise), { timeoutMs: 1_000 });
  const at: AgentFixture = await agentWith({ says: [{ calls: [{ name: "slow" }] }, () => (late.reject(new Error("too late")), "done")], tools: [slow] });
  await at.turn("go");
  await new Promise((resolve) => setImmediate(resolve));
  expect(rejections).toEqual([]);
  expect(await results(at)).toMatchObject([{ failed: true }]);
});
