import { expect, test } from "vitest";
import type { CallEvent, CallResult } from "../../models/index.ts";
import type { AssistantMessage, ModelMessage, ToolCallContent, UserMessage } from "../../protocol/index.ts";
import { ABORTED, runLoop, SKIPPED } from "./loop.ts";
import type { LoopEvent, LoopPorts, ToolAnswer } from "./ports.ts";

const USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const user = (content: string): UserMessage => ({ role: "user", content, timestamp: 0 });
const call = (id: string, name = "read"): ToolCallContent => ({ type: "toolCall", id, name, arguments: {} });

function answer(...parts: readonly (string | ToolCallContent)[]): AssistantMessage {
  const content = parts.map((part) => (typeof part === "string" ? { type: "text" as const, text: part } : part));
  const stopReason = content.some((part) => part.type === "toolCall") ? "toolUse" : "stop";
  return { role: "assistant", content, api: "x", provider: "p", model: "m", usage: USAGE, stopReason, timestamp: 0 };
}

const MODEL = { provider: "p", id: "m" } as never;
const failedWith = (kind: "aborted" | "billing"): CallResult => ({ ok: false, kind, text: kind, message: answer(), attempts: [] });

interface Stage {
  readonly ports: LoopPorts;
  readonly asked: (readonly ModelMessage[])[];
  readonly kept: ModelMessage[];
  readonly events: LoopEvent[];
  readonly ran: string[];
}

/** A model that says these things in order, and tools that answer with their call's id. */
function stage(
  says: readonly (AssistantMessage | CallResult)[],
  options: { steered?: (UserMessage[] | undefined)[]; tool?: (id: string) => ToolAnswer | Promise<ToolAnswer>; finalize?: (UserMessage[] | undefined)[] } = {},
): Stage {
  const waiting = [...says];
  const found: Omit<Stage, "ports"> = { asked: [], kept: [], events: [], ran: [] };
  const steered = [...(options.steered ?? [])];
  const finalize = [...(options.finalize ?? [])];
  const ports: LoopPorts = {
    async *ask(messages): AsyncGenerator<CallEvent> {
      found.asked.push([...messages]);
      const next = waiting.shift()!;
      if ("ok" in next) {
        yield { type: "done", result: next };
        return;
      }
      for (const part of next.content) if (part.type === "text") yield { type: "text", index: 0, delta: part.text };
      yield { type: "done", result: { ok: true, message: next, model: MODEL, attempts: [] } };
    },
    spent: () => {},
    async runTool({ id }) {
      found.ran.push(id);
      return options.tool?.(id) ?? { content: [{ type: "text", text: `result of ${id}` }], isError: false };
    },
    isParallel: ({ name }) => name === "look",
    async keep(message) {
      found.kept.push(message);
      return message;
    },
    steered: () => steered.shift() ?? [],
    finalize: async () => finalize.shift(),
    emit: (event) => found.events.push(event),
    now: () => 7,
  };
  return { ports, ...found };
}

const run = (at: Stage, signal = new AbortController().signal, maxCalls?: number) =>
  runLoop(at.ports, { messages: [user("hello")], signal, ...(maxCalls === undefined ? {} : { maxCalls }) });
const texts = (messages: readonly ModelMessage[]): unknown[] =>
  messages.map((message) =>
    typeof message.content === "string" ? message.content : message.content.map((part) => ("text" in part ? part.text : part.type)).join(),
  );

test("an answer without calls ends the turn and is kept", async () => {
  const at = stage([answer("hi")]);
  expect(await run(at)).toMatchObject({ end: { kind: "answered" }, added: [{ role: "assistant" }] });
  expect(at.events).toEqual([{ stream: "assistant", data: { text: "hi", delta: "hi" } }]);
});

test("calls are made in order, each result is kept before the next call, and the model sees them", async () => {
  const at = stage([answer("let me see", call("a"), call("b")), answer("done")]);
  const result = await run(at);
  expect(at.ran).toEqual(["a", "b"]);
  expect(at.kept.map((message) => message.role)).toEqual(["assistant", "toolResult", "toolResult", "assistant"]);
  expect(texts(at.asked[1]!)).toEqual(["hello", "let me see,toolCall,toolCall", "result of a", "result of b"]);
  expect(result.answers).toHaveLength(2);
  expect(at.events.map((event) => (event.stream === "tool" ? `${event.data.phase} ${event.data.toolCallId}` : event.stream))).toEqual([
    "assistant",
    "start a",
    "result a",
    "start b",
    "result b",
    "assistant",
  ]);
});

/** Tools that end when the test says so. */
function held() {
  const open = new Map<string, PromiseWithResolvers<ToolAnswer>>();
  const begun = Promise.withResolvers<void>();
  return {
    open,
    /** Resolves when this many calls have begun. */
    begun: begun.promise,
    tool: (count: number) => (id: string) => {
      const call = Promise.withResolvers<ToolAnswer>();
      open.set(id, call);
      if (open.size === count) begun.resolve();
      return call.promise;
    },
    end: (id: string) => open.get(id)!.resolve({ content: [{ type: "text", text: `result of ${id}` }], isError: false }),
  };
}

test("neighbouring calls of parallel tools run side by side; results are stored and sent in the model's order", async () => {
  const tools = held();
  const at = stage([answer(call("a", "look"), call("b", "look"), call("c", "look")), answer("done")], { tool: tools.tool(3) });
  const running = run(at);
  await tools.begun;
  expect(at.ran).toEqual(["a", "b", "c"]);
  for (const id of ["c", "b", "a"]) tools.end(id);
  await running;
  expect(texts(at.asked[1]!)).toEqual(["hello", "toolCall,toolCall,toolCall", "result of a", "result of b", "result of c"]);
  expect(texts(at.kept)).toEqual(["toolCall,toolCall,toolCall", "result of a", "result of b", "result of c", "done"]);
});

test("a sequential call waits for all before it, and all after it wait for its result to be kept", async () => {
  const seen: string[] = [];
  const at = stage([answer(call("a", "look"), call("b", "look"), call("c"), call("d", "look")), answer("done")], {
    tool(id) {
      seen.push(`${id} after ${at.kept.length - 1}`);
      return { content: [{ type: "text", text: id }], isError: false };
    },
  });
  await run(at);
  expect(seen).toEqual(["a after 0", "b after 0", "c after 2", "d after 3"]);
});

test("no more than eight calls run at a time, and a message that comes in skips those that have not begun", async () => {
  const tools = held();
  const ids = Array.from({ length: 10 }, (_, n) => `c${n}`);
  const at = stage([answer(...ids.map((id) => call(id, "look"))), answer("as you wish")], { steered: [[], [user("wait")]], tool: tools.tool(8) });
  const running = run(at);
  await tools.begun;
  expect(at.ran).toEqual(ids.slice(0, 8));
  tools.end("c0");
  await new Promise((resolve) => setImmediate(resolve));
  // It took the free place before the message was heard, which is when the first result is kept.
  expect(at.ran.at(-1)).toBe("c8");
  for (const id of ids.slice(1, 9)) tools.end(id);
  await running;
  expect(texts(at.asked[1]!)).toEqual(["hello", ids.map(() => "toolCall").join(), ...ids.slice(0, 9).map((id) => `result of ${id}`), SKIPPED, "wait"]);
});

test("an abort while calls run side by side leaves none without a result", async () => {
  const tools = held();
  const controller = new AbortController();
  const at = stage([answer(call("a", "look"), call("b", "look"), call("c"))], { tool: tools.tool(2) });
  const running = run(at, controller.signal);
  await tools.begun;
  controller.abort();
  tools.end("b");
  tools.end("a");
  expect((await running).end.kind).toBe("aborted");
  expect(texts(at.kept)).toEqual(["toolCall,toolCall,toolCall", "result of a", "result of b", ABORTED]);
});

test("when keeping a result fails, the calls that run beside it have ended before the loop does", async () => {
  const tools = held();
  const ended: string[] = [];
  const at = stage([answer(call("a", "look"), call("b", "look"))], { tool: tools.tool(2) });
  const keep: LoopPorts["keep"] = (message) => (message.role === "toolResult" ? Promise.reject(new Error("full")) : Promise.resolve(message));
  const running = runLoop({ ...at.ports, keep }, { messages: [], signal: new AbortController().signal }).catch((error: Error) => ended.push(error.message));
  await tools.begun;
  void tools.open.get("b")!.promise.then(() => ended.push("b"));
  tools.end("a");
  tools.end("b");
  await running;
  expect(ended).toEqual(["b", "full"]);
});

test("a message that comes in during a call skips the calls after it and is heard next", async () => {
  const at = stage([answer(call("a"), call("b"), call("c")), answer("as you wish")], { steered: [[], [user("wait")]] });
  await run(at);
  expect(at.ran).toEqual(["a"]);
  expect(texts(at.asked[1]!)).toEqual(["hello", "toolCall,toolCall,toolCall", "result of a", SKIPPED, SKIPPED, "wait"]);
});

test("a message that comes in while the answer is written is answered in the same turn", async () => {
  const at = stage([answer("one"), answer("two")], { steered: [[], [user("and?")]] });
  expect(await run(at)).toMatchObject({ end: { kind: "answered", answer: { content: [{ text: "two" }] } } });
  expect(texts(at.asked[1]!)).toEqual(["hello", "one", "and?"]);
});

test("one more pass can be asked for at the natural end", async () => {
  const at = stage([answer("draft"), answer("better")], { finalize: [[user("be brief")], undefined] });
  expect(await run(at)).toMatchObject({ end: { kind: "answered", answer: { content: [{ text: "better" }] } } });
});

test("an abort leaves no call without a result", async () => {
  const controller = new AbortController();
  const at = stage([answer(call("a"), call("b"))], {
    tool(id) {
      controller.abort();
      return { content: [{ type: "text", text: id }], isError: true };
    },
  });
  expect((await run(at, controller.signal)).end.kind).toBe("aborted");
  expect(at.ran).toEqual(["a"]);
  expect(texts(at.kept)).toEqual(["toolCall,toolCall", "a", ABORTED]);
});

test("a call of the model that is aborted or fails ends the turn and says which", async () => {
  expect((await run(stage([failedWith("aborted")]))).end.kind).toBe("aborted");
  expect((await run(stage([failedWith("billing")]))).end).toMatchObject({ kind: "failed", failure: { kind: "billing" } });
});

test("a model that never stops calling is stopped", async () => {
  const at = stage(Array.from({ length: 10 }, (_, n) => answer(call(`c${n}`))));
  expect((await run(at, undefined, 3)).end).toMatchObject({ kind: "limit" });
  expect(at.ran).toHaveLength(3);
});

test("a tool can end the turn", async () => {
  const at = stage([answer("sent", call("a"))], { tool: () => ({ content: [], isError: false, terminate: true }) });
  expect((await run(at)).end.kind).toBe("answered");
  expect(at.asked).toHaveLength(1);
});
