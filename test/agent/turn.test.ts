import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { INTERRUPTED, NOT_STARTED } from "../../src/agent/turn/tools.ts";
import type { HookName } from "../../src/hooks/index.ts";
import { textOutcome, type Tool } from "../../src/tools/index.ts";
import { KEY, openAgentFixture, said, type AgentFixture, type AgentFixtureOptions } from "../harness/agent-fixture.ts";

const HOST = { pluginId: "test", trusted: true } as const;

const tool = (name: string, over: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  parameters: { type: "object", properties: { what: { type: "string" } } },
  source: { kind: "core" },
  run: ({ params }) => Promise.resolve(textOutcome(`${name} did ${JSON.stringify(params)}`)),
  ...over,
});

async function openFixture(options: AgentFixtureOptions): Promise<AgentFixture> {
  const opened = await openAgentFixture(options);
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

test("an answer is said, kept, and settles its input with one commit", async () => {
  const at = await openFixture({ says: ["hi there"] });
  const end = await at.turn("hello");
  expect(end).toMatchObject({ status: "ok", text: "hi there", provider: "test", model: "script", stopReason: "stop" });
  expect((await at.transcript()).map((message) => [message.role, said(message)])).toEqual([
    ["user", "hello"],
    ["assistant", "hi there"],
  ]);
  expect(await at.store.read("inbox.find", { messageId: "run-1-1" })).toMatchObject([{ state: "settled", outcome: "answered" }]);
  expect(await at.store.read("usage.totals", { by: ["model"] })).toMatchObject([{ model: "script", calls: 1, input: 100, output: 10 }]);
  const session = await at.store.read("sessions.get", { key: KEY });
  // The size of the last prompt: what was sent and cached, the answer not counted.
  expect(session?.entry).toMatchObject({ totalTokens: 106, inputTokens: 100, outputTokens: 10, contextTokens: 200_000, systemSent: true });
});

test("a message to an agent whose model cannot be used is stored once, and the caller gets the reason", async () => {
  const at = await openFixture({ says: ["never"], contextWindow: 1000 });
  await expect(at.turn("hello")).rejects.toThrow(/window has 1000 tokens/);
  const transcript = await at.transcript();
  // The end of the run adds the reason, under its id (test/conversation/client-queue.test.ts).
  expect(transcript).toHaveLength(1);
  expect(transcript).toMatchObject([{ role: "user", content: [{ type: "text", text: "hello" }] }]);
});

test("calls are carried out in order; intents are on disk before a tool runs, results before the model is asked again", async () => {
  const seen: unknown[] = [];
  const at: AgentFixture = await openFixture({
    says: [
      {
        text: "let me look",
        calls: [
          { name: "first", id: "a" },
          { name: "second", id: "b" },
        ],
      },
      "done",
    ],
    tools: [
      tool("first", {
        async run() {
          seen.push((await at.store.read("journal.dangling", { turnId: "run-1-1" })).map((step) => step.callId));
          return textOutcome("one");
        },
      }),
      tool("second", {
        async run() {
          seen.push((await at.store.read("journal.dangling", { turnId: "run-1-1" })).map((step) => step.callId));
          return textOutcome("two");
        },
      }),
    ],
  });
  await at.turn("go");
  expect(seen).toEqual([["a", "b"], ["b"]]);
  expect(at.requests[1]!.messages.map(said)).toEqual(["go", "let me look|toolCall|toolCall", "one", "two"]);
  expect((await at.transcript()).map(said)).toEqual(["go", "let me look|toolCall|toolCall", "one", "two", "done"]);
});

const RECORDED: readonly HookName[] = [
  "session_start",
  "before_model_resolve",
  "agent_turn_prepare",
  "before_prompt_build",
  "before_agent_start",
  "before_agent_run",
  "before_agent_reply",
  "llm_input",
  "before_tool_call",
  "after_tool_call",
  "tool_result_persist",
  "before_message_write",
  "before_agent_finalize",
  "llm_output",
  "agent_end",
];

test("one turn with two calls goes through the documented sequence", async () => {
  const steps: string[] = [];
  const at = await openFixture({
    says: [() => (steps.push("model"), { calls: [{ name: "search_web" }, { name: "read_file" }] }), () => (steps.push("model"), "found it")],
    tools: ["search_web", "read_file"].map((name) => tool(name, { run: () => (steps.push(`run ${name}`), Promise.resolve(textOutcome(name))) })),
  });
  for (const hook of RECORDED) {
    at.hooks.on(
      hook,
      (event) => void steps.push(hook === "before_message_write" ? `write ${(event as { message: { role: string } }).message.role}` : hook),
      HOST,
    );
  }
  await at.turn("where is it?");
  await new Promise((resolve) => setImmediate(resolve));
  expect(steps).toEqual([
    "before_model_resolve",
    "agent_turn_prepare",
    "before_prompt_build",
    "before_agent_start",
    "session_start",
    "before_agent_run",
    "before_agent_reply",
    "write user",
    "llm_input",
    "model",
    "write assistant",
    "before_tool_call",
    "run search_web",
    "after_tool_call",
    "tool_result_persist",
    "write toolResult",
    "before_tool_call",
    "run read_file",
    "after_tool_call",
    "tool_result_persist",
    "write toolResult",
    "model",
    "write assistant",
    "before_agent_finalize",
    "llm_output",
    "agent_end",
  ]);
});

test("the beginning of what a model is sent stays the same from turn to turn, to the byte", async () => {
  const at = await openFixture({ says: ["one", { calls: [{ name: "look" }] }, "two", "three"], tools: [tool("look")] });
  for (const message of ["first", "second", "third"]) {
    await at.turn(message);
    at.clock.advance(60_000);
  }
  const sent = at.requests.map(({ systemPrompt, tools, messages }) => JSON.stringify([systemPrompt, tools, messages]).slice(0, -2));
  for (const [index, before] of sent.entries()) if (index > 0) expect(sent[index]!.startsWith(before)).toBe(true);
});

test("plugins put text around the message and the system prompt, and may choose the model's tools", async () => {
  const at = await openFixture({ says: ["ok", "ok"], tools: [tool("look"), tool("touch")] });
  at.hooks.on("agent_turn_prepare", () => ({ prependContext: "first" }), HOST);
  at.hooks.on("before_prompt_build", () => ({ prependContext: "second", appendContext: "after", appendSystemContext: "Be kind.", toolsAllow: ["look"] }), HOST);
  at.hooks.on("before_agent_start", () => ({ systemPrompt: "You are terse." }), HOST);
  await at.turn("hello");
  const [request] = at.requests;
  expect(said(request!.messages.at(-1)!)).toBe("first\n\nsecond|hello|after");
  expect(request!.systemPrompt).toBe("You are terse.\n\nBe kind.");
  expect(request!.tools!.map(({ name }) => name)).toEqual(["look"]);
});

test("what plugins put around a message is bounded, and stands apart from the user's words in the transcript", async () => {
  const at = await openFixture({ says: ["ok"] });
  at.hooks.on("before_prompt_build", () => ({ prependContext: "x".repeat(100_000), appendContext: "after" }), HOST);
  await at.turn("hello");
  const [before, own, after] = (await at.transcript())[0]!.content as unknown as { text: string; openclawContext?: true }[];
  expect([own, after]).toEqual([
    { type: "text", text: "hello" },
    { type: "text", text: "after", openclawContext: true },
  ]);
  expect(before).toMatchObject({ openclawContext: true, text: expect.stringMatching(/^x{32000}\n\[68000 more characters of plugins were left out\]$/) });
});

test("plugins are asked for a model once in a run, also when the session changes while its turn is prepared", async () => {
  const at = await openFixture({ says: ["ok", "ok"] });
  await at.turn("first");
  let asked = 0;
  at.hooks.on(
    "before_model_resolve",
    async () => {
      asked += 1;
      await at.store.write("sessions.patch", { key: KEY, patch: { label: `changed ${asked}` } });
      return undefined;
    },
    HOST,
  );
  expect(await at.turn("second")).toMatchObject({ status: "ok" });
  expect(asked).toBe(1);
});

test("what waits for a session's next turn is sent once, also when the turn dies and is resumed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const first = await openAgentFixture({ folder, says: [{ hangs: "hm" }] });
  await first.store.write("injections.add", { id: "i1", sessionKey: KEY, pluginId: "p", placement: "prepend_context", text: "remember the milk" });
  await first.store.write("injections.add", { id: "i2", sessionKey: KEY, pluginId: "system", placement: "system-event", text: "Node: printer is back" });
  const stop = new AbortController();
  const input = await first.accept("hello");
  const left = first.agents.turn(input, first.ports({ stopping: stop.signal, emit: (event) => event.stream === "assistant" && stop.abort() }));
  expect(await left).toBeUndefined();
  await first[Symbol.asyncDispose]();
  const next = await openFixture({ folder, says: ["ok", "ok"], seed: 2 });
  await next.agents.turn({ ...input, resumed: true }, next.ports());
  await next.turn("and now?");
  expect(said(next.requests[0]!.messages.at(-1)!)).toBe("remember the milk|System: [2023-11-14 22:13:20 UTC] Node: printer is back\n\nhello");
  expect(said(next.requests[1]!.messages.at(-1)!)).toBe("and now?");
});

test("a message that a plugin blocks is kept nowhere; what stands for it is", async () => {
  const at = await openFixture({ says: ["never said"] });
  at.hooks.on("before_agent_run", () => ({ outcome: "block", reason: "it names the-secret-word", message: "Not here, please." }), {
    ...HOST,
    pluginId: "guard",
  });
  const end = await at.turn("the-secret-word is swordfish");
  expect(end).toMatchObject({ status: "blocked", text: "Not here, please." });
  expect(at.requests).toEqual([]);
  expect(await at.transcript()).toMatchObject([{ role: "user", content: [{ text: "Not here, please." }], openclawBlock: { pluginId: "guard" } }]);
  expect(await at.store.read("inbox.find", { messageId: "run-1-1" })).toMatchObject([{ outcome: "refused", text: "" }]);
  for (const file of readdirSync(at.folder, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) expect(readFileSync(join(file.parentPath, file.name)).includes("swordfish"), file.name).toBe(false);
  }
});

test("a plugin answers in the model's place, or keeps silent", async () => {
  const at = await openFixture({ says: [] });
  at.hooks.on("before_agent_reply", ({ cleanedBody }) => (cleanedBody === "ping" ? { handled: true, reply: { text: "pong" } } : { handled: true }), HOST);
  expect(await at.turn("ping")).toMatchObject({ status: "ok", text: "pong" });
  expect(await at.turn("psst")).toMatchObject({ status: "ok", text: "", silent: true });
  expect((await at.transcript()).map(said)).toEqual(["ping", "pong", "psst"]);
  expect(at.requests).toEqual([]);
});

test("a turn that dies while a tool runs is resumed: the call is not made again, and the model is notified", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const ran: string[] = [];
  const stop = new AbortController();
  const tools = [
    tool("read_it", { run: () => (ran.push("read_it"), Promise.resolve(textOutcome("read"))) }),
    tool("pay", { run: () => (ran.push("pay"), stop.abort(), Promise.resolve(textOutcome("paid"))) }),
    tool("write_it", { run: () => (ran.push("write_it"), Promise.resolve(textOutcome("written"))) }),
  ];
  const first = await openAgentFixture({ folder, says: [{ calls: [{ name: "read_it" }, { name: "pay" }, { name: "write_it" }] }], tools });
  const input = await first.accept("pay the bill");
  expect(await first.agents.turn(input, first.ports({ stopping: stop.signal }))).toBeUndefined();
  await first[Symbol.asyncDispose]();
  const next = await openFixture({ folder, says: ["I cannot tell whether it was paid"], tools, seed: 2 });
  const end = await next.agents.turn({ ...input, resumed: true }, next.ports());
  expect(end).toMatchObject({ status: "ok", text: "I cannot tell whether it was paid" });
  expect(ran).toEqual(["read_it", "pay"]);
  expect(next.requests[0]!.messages.map(said).slice(2)).toEqual(["read", INTERRUPTED, NOT_STARTED]);
  expect(await next.store.read("turns.get", { id: input.runId })).toMatchObject({ state: "ended", outcome: "answered", resumptions: 1 });
});

test("a tool that says it may be repeated is, after a crash", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const stop = new AbortController();
  let runs = 0;
  const tools = [tool("look", { idempotent: true, run: () => ((runs += 1), stop.abort(), Promise.resolve(textOutcome(`look ${runs}`))) })];
  const first = await openAgentFixture({ folder, says: [{ calls: [{ name: "look" }] }], tools });
  const input = await first.accept("look");
  expect(await first.agents.turn(input, first.ports({ stopping: stop.signal }))).toBeUndefined();
  await first[Symbol.asyncDispose]();
  const next = await openFixture({ folder, says: ["seen"], tools, seed: 2 });
  await next.agents.turn({ ...input, resumed: true }, next.ports());
  expect(next.requests[0]!.messages.map(said).at(-1)).toBe("look 2");
});

test("a turn that dies again and again is given up", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const first = await openAgentFixture({ folder, says: [] });
  const accepted = await first.accept("hello");
  await first[Symbol.asyncDispose]();
  const ends: unknown[] = [];
  for (let life = 2; life < 8 && ends.at(-1) !== "given-up"; life += 1) {
    const at = await openAgentFixture({ folder, says: [{ hangs: "" }], seed: life });
    const stop = new AbortController();
    const emit = (): void => stop.abort();
    ends.push(await at.agents.turn({ ...accepted, resumed: true }, at.ports({ stopping: stop.signal, emit })));
    await at[Symbol.asyncDispose]();
  }
  expect(ends).toEqual([undefined, undefined, undefined, undefined, "given-up"]);
});

test("what was shown of an answer stays when the run is stopped", async () => {
  const at = await openFixture({ says: [{ hangs: "half of it" }] });
  const stop = new AbortController();
  const end = await at.turn(
    "tell me",
    {},
    { signal: stop.signal, emit: (event) => event.stream === "assistant" && stop.abort(), origin: () => "stop-command" },
  );
  expect(end).toMatchObject({ status: "aborted", text: "half of it" });
  const [, shown] = await at.transcript();
  expect(shown).toMatchObject({ stopReason: "aborted", openclawAbort: { aborted: true, origin: "stop-command", runId: "run-1-1" } });
  expect(await at.store.read("inbox.find", { messageId: "run-1-1" })).toMatchObject([{ outcome: "cancelled", why: "aborted (stop-command)" }]);
});

test("a failure of the model ends the turn, and its message is shown and stored", async () => {
  const at = await openFixture({ says: [{ fails: "billing", text: "the account is empty" }] });
  expect(await at.turn("hello")).toMatchObject({ status: "failed", error: "the account is empty" });
  expect((await at.transcript()).at(-1)).toMatchObject({ role: "assistant", stopReason: "error", errorMessage: "the account is empty" });
  expect(await at.store.read("usage.totals", { by: [] })).toMatchObject([{ calls: 1, failed: 1 }]);
});

test.each(["NO_REPLY", "NO_REPLY.", "nothing to say NO_REPLY"])("%s is silence on purpose", async (text) => {
  const at = await openFixture({ says: [text] });
  expect(await at.turn("hello")).toMatchObject({ status: "ok", text: "", silent: true });
  expect(await at.store.read("inbox.find", { messageId: "run-1-1" })).toMatchObject([{ outcome: "silent" }]);
  expect((await at.transcript()).map(said)).toEqual(["hello", text]);
});

test("files that a silent answer names are sent, and nothing of its words", async () => {
  const look = tool("look", { run: () => Promise.resolve(textOutcome("seen")) });
  const at = await openFixture({
    says: [{ text: "I draw it.\nMEDIA: ./a.png", calls: [{ name: "look" }] }, "[[audio_as_voice]]\nMEDIA: ./b.ogg\nNO_REPLY"],
    tools: [look],
  });
  const end = await at.turn("draw");
  expect(end).toMatchObject({ status: "ok", text: "", silent: true, texts: ["MEDIA: ./a.png", "[[audio_as_voice]]\nMEDIA: ./b.ogg\nNO_REPLY"] });
  expect(await at.store.read("inbox.find", { messageId: "run-1-1" })).toMatchObject([{ outcome: "answered" }]);
});

test("a call that failed is reported when the model says nothing about it", async () => {
  const broken = tool("print", { run: () => Promise.resolve({ ...textOutcome("out of paper\nmore"), isError: true }) });
  const at = await openFixture({ says: [{ calls: [{ name: "print" }] }, ""], tools: [broken] });
  expect(await at.turn("print it")).toMatchObject({ text: "⚠️ print failed: out of paper" });
});

test("plugins change what is kept of results and messages, or keep one out of the transcript", async () => {
  const at = await openFixture({
    says: [{ calls: [{ name: "look" }] }, "the end", "again"],
    tools: [tool("look", { run: () => Promise.resolve(textOutcome("key=123")) })],
  });
  at.hooks.on("tool_result_persist", ({ message }) => ({ message: { ...message, content: [{ type: "text", text: "key=***" }] } }), HOST);
  at.hooks.on("before_message_write", ({ message }) => (said(message as never) === "the end" ? { block: true } : undefined), HOST);
  await at.turn("look");
  expect((await at.transcript()).map(said)).toEqual(["look", "toolCall", "key=***"]);
  await at.turn("more");
  expect(JSON.stringify(at.requests[2]!.messages)).not.toContain("key=123");
});

test("a plugin asks for one more pass, and the better answer counts", async () => {
  const at = await openFixture({ says: ["a long draft", "short"] });
  at.hooks.on(
    "before_agent_finalize",
    ({ answer }) => (answer === "a long draft" ? { action: "revise", reason: "too long", retry: { instruction: "Be brief." } } : undefined),
    HOST,
  );
  expect(await at.turn("tell me")).toMatchObject({ text: "short" });
  expect(said(at.requests[1]!.messages.at(-1)!)).toBe("too long\n\nBe brief.");
});

test("what the user says meanwhile skips the calls that are left and is answered in the same turn", async () => {
  const queue: { text: string; writes: [] }[] = [];
  const at = await openFixture({
    says: [{ calls: [{ name: "slow" }, { name: "slow" }] }, "stopped"],
    tools: [tool("slow", { run: () => (queue.push({ text: "stop that", writes: [] }), Promise.resolve(textOutcome("done"))) })],
  });
  await at.turn("work", {}, { steered: () => queue.splice(0) });
  expect(at.requests[1]!.messages.map(said)).toEqual(["work", "toolCall|toolCall", "done", "Skipped due to queued user message.", "stop that"]);
});

test("a tool of the caller ends the turn, and its calls are returned", async () => {
  const at = await openFixture({ says: [{ text: "one moment", calls: [{ name: "get_weather", args: { city: "Ulm" }, id: "w1" }] }] });
  const clientTools = [{ name: "get_weather", description: "", parameters: { type: "object" } }];
  const end = await at.turn("weather?", { clientTools });
  expect(end).toMatchObject({
    status: "ok",
    text: "one moment",
    stopReason: "toolUse",
    calls: [{ id: "w1", name: "get_weather", arguments: { city: "Ulm" } }],
  });
  expect(at.requests[0]!.tools!.map(({ name }) => name)).toEqual(["get_weather"]);
});

test("a session that is out of date is reset by itself, and the old transcript stays as it is", async () => {
  const at = await openFixture({ says: ["one", "two"], config: { session: { reset: { mode: "idle", idleMinutes: 30 } } } });
  const ended: unknown[] = [];
  at.hooks.on("session_end", (event) => void ended.push([event.reason, event.messageCount]), HOST);
  at.hooks.on("session_start", (event) => void ended.push(event.reason), HOST);
  const first = await at.turn("hello");
  at.clock.advance(31 * 60_000);
  const second = await at.turn("hello again");
  expect(second.sessionId).not.toBe(first.sessionId);
  expect(at.requests[1]!.messages.map(said)).toEqual(["hello again"]);
  expect(ended).toEqual(["new", ["idle", 2], "idle"]);
  expect(await at.store.read("transcripts.ofSession", { agentId: "main", sessionId: first.sessionId })).toMatchObject([{ archivedAt: null }]);
});
