import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { createHooks, type Hooks } from "../../hooks/index.ts";
import { textOutcome, type Tool, type ToolContext } from "../tool.ts";
import type { ApprovalDecision, ApprovalQuestion } from "./approval.ts";
import { editTool } from "../builtin/files/edit.ts";
import { readTool } from "../builtin/files/read.ts";
import { writeTool } from "../builtin/files/write.ts";
import { applyPatchTool } from "../builtin/patch/apply-patch.ts";
import { findTool } from "../builtin/search/find.ts";
import { grepTool } from "../builtin/search/grep.ts";
import { lsTool } from "../builtin/search/ls.ts";
import { createBroker, type BrokerCall, type BrokerDeps, type Toolbox } from "./broker.ts";

const CONTEXT: ToolContext = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s", runId: "r", workspaceDir: "/nowhere", owner: false };
const tool = (rest: Partial<Tool> = {}): Tool => ({
  name: "greet",
  description: "Greets a person",
  parameters: {
    type: "object",
    properties: { who: { type: "string" }, times: { type: "integer", minimum: 1 } },
    required: ["who"],
    additionalProperties: false,
  },
  source: { kind: "core" },
  run: ({ params }) => Promise.resolve(textOutcome(`hello ${String(params["who"])}`, { params })),
  ...rest,
});

interface Fixture {
  readonly box: Toolbox;
  readonly hooks: Hooks;
  readonly clock: ReturnType<typeof manualClock>;
  readonly questions: ApprovalQuestion[];
}

function brokerWith(tools: readonly Tool[], { answer = "allow-once", ...deps }: { answer?: ApprovalDecision } & Partial<BrokerDeps> = {}) {
  const clock = manualClock();
  const hooks = createHooks({ clock, log: silentLogger });
  const questions: ApprovalQuestion[] = [];
  const broker = createBroker({
    ...deps,
    clock,
    log: silentLogger,
    config: () => ({}),
    tools: () => tools,
    facts: () => ({ sandboxed: false }),
    hooks,
    askApproval(question) {
      questions.push(question);
      return Promise.resolve(answer);
    },
  });
  return { broker, hooks, clock, questions };
}

async function fixture(tools: readonly Tool[] = [tool()], answer: ApprovalDecision = "allow-once", context: Partial<ToolContext> = {}): Promise<Fixture> {
  const { broker, ...rest } = brokerWith(tools, { answer });
  return { box: await broker.open({ ...CONTEXT, ...context }), ...rest };
}

const call = (args: Record<string, unknown>, rest: Partial<BrokerCall> = {}): BrokerCall => ({
  id: "c1",
  name: "greet",
  arguments: args,
  signal: new AbortController().signal,
  ...rest,
});
const text = (outcome: { content: readonly { type: string; text?: string }[] }): string => outcome.content.map((part) => part.text ?? part.type).join();

test("a call runs and its result comes back", async () => {
  const { box } = await fixture();
  expect(await box.run(call({ who: "you" }))).toEqual({ content: [{ type: "text", text: "hello you" }], details: { params: { who: "you" } }, isError: false });
});

test("arguments that do not fit are reported with the received values; unambiguous ones are accepted", async () => {
  const { box } = await fixture();
  const refused = await box.run(call({ times: 0 }));
  expect(refused.isError).toBe(true);
  expect(text(refused)).toMatch(/^Validation failed for tool "greet":\n {2}- /);
  expect(text(refused)).toContain('Received arguments:\n{\n  "times": 0\n}');
  expect((await box.run(call({ who: 7, times: "3" }))).details).toEqual({ params: { who: "7", times: 3 } });
});

test("a tool that is not there, or only for the owner, says so", async () => {
  const { box } = await fixture([tool({ ownerOnly: true })]);
  expect(text(await box.run(call({ who: "you" })))).toBe("Tool greet not found");
  expect(box.schemas).toEqual([]);
  expect(text(await (await fixture([])).box.run(call({}, { name: "fly" })))).toBe("Tool fly not found");
});

test("a tool that throws, returns nonsense or a cycle still gives a result", async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const failing = await fixture([tool({ run: () => Promise.reject(new Error("out of paper")) })]);
  expect(await failing.box.run(call({ who: "x" }))).toMatchObject({ isError: true, details: { status: "error", tool: "greet", error: "out of paper" } });
  const odd = await fixture([tool({ run: () => Promise.resolve(undefined as never) })]);
  expect(text(await odd.box.run(call({ who: "x" })))).toBe("(greet returned nothing)");
  const looped = await fixture([tool({ run: () => Promise.resolve({ ...textOutcome("ok"), details: cyclic }) })]);
  expect((await looped.box.run(call({ who: "x" }))).details).toMatchObject({ persistedDetailsTruncated: true });
});

test("a flood is cut, and that is said", async () => {
  const { box } = await fixture([tool({ run: () => Promise.resolve(textOutcome("x".repeat(1_000_000))) })]);
  const said = text(await box.run(call({ who: "x" })));
  expect(said.length).toBeLessThan(401_000);
  expect(said).toMatch(/^x+\n\n\[\d+ characters left out here\]\n\nx+$/);
});

test("a tool that hangs ends at its time, or when the run is stopped", async () => {
  const hanging = tool({ timeoutMs: 1_000, run: () => new Promise(() => undefined) });
  const { box, clock } = await fixture([hanging]);
  const late = box.run(call({ who: "x" }));
  await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1_000);
  expect(text(await late)).toBe("greet took longer than 1000 ms and was stopped");
  const controller = new AbortController();
  const stopped = box.run(call({ who: "x" }, { signal: controller.signal }));
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  expect(text(await stopped)).toBe("the run was stopped");
});

test("a hook can change the arguments, block the call, and sees how it ended", async () => {
  const { box, hooks } = await fixture();
  const seen: unknown[] = [];
  const host = { pluginId: "test", trusted: true };
  hooks.on("before_tool_call", ({ params }) => (params["who"] === "enemy" ? { block: true, blockReason: "no enemies" } : { params: { who: "friend" } }), host);
  hooks.on("after_tool_call", (event) => void seen.push([event.toolName, event.params["who"], event.error]), host);
  expect(text(await box.run(call({ who: "you" })))).toBe("hello friend");
  expect(text(await box.run(call({ who: "enemy" })))).toBe("no enemies");
  expect(seen).toEqual([["greet", "friend", undefined]]);
});

test("arguments that a hook changed so that they no longer fit are refused", async () => {
  const { box, hooks } = await fixture();
  hooks.on("before_tool_call", () => ({ params: { times: -1 } }), { pluginId: "test", trusted: true });
  expect(text(await box.run(call({ who: "you" })))).toMatch(/^A plugin.*changed the arguments/);
});

test.each<[ApprovalDecision, string]>([
  ["allow-once", "hello you"],
  ["allow-always", "hello you"],
  ["deny", "Denied by the operator: May I?"],
  ["timeout", "Not approved in time: May I?"],
  ["cancelled", "The approval request was withdrawn: May I?"],
])("a call that needs an approval waits for it: %s", async (decision, expected) => {
  const { box, hooks, questions } = await fixture(undefined, decision);
  const decisions: string[] = [];
  hooks.on("before_tool_call", () => ({ requireApproval: { title: "May I?", description: "greet you", onResolution: (how) => void decisions.push(how) } }), {
    pluginId: "test",
    trusted: true,
  });
  expect(text(await box.run(call({ who: "you" })))).toBe(expected);
  expect(questions).toMatchObject([{ title: "May I?", toolName: "greet", toolCallId: "c1" }]);
  expect(decisions).toEqual([decision]);
});

test("what a tool shows on its way is bounded too, and ends with the call", async () => {
  const updates: string[] = [];
  const { box } = await fixture([
    tool({
      run({ update }) {
        update(textOutcome("half"));
        setImmediate(() => update(textOutcome("after the end")));
        return Promise.resolve(textOutcome("whole"));
      },
    }),
  ]);
  await box.run(call({ who: "x" }, { update: (partial) => updates.push(text(partial)) }));
  await new Promise((resolve) => setImmediate(resolve));
  expect(updates).toEqual(["half"]);
});

test("calls that pass the loop guard are reported with their outcome; those it stops are not", async () => {
  const seen: unknown[] = [];
  const clock = manualClock();
  const broker = createBroker({
    clock,
    log: silentLogger,
    config: () => ({}),
    tools: () => [tool()],
    facts: () => ({ sandboxed: false }),
    hooks: createHooks({ clock, log: silentLogger }),
    askApproval: () => Promise.resolve("deny"),
    loopGuard: ({ params }) => ((params as { who: string }).who === "again" ? "you asked before" : undefined),
    onOutcome: ({ name, params, outcome }) => void seen.push([name, params, text(outcome)]),
  });
  const box = await broker.open(CONTEXT);
  await box.run(call({ who: "you" }));
  expect(text(await box.run(call({ who: "again" })))).toBe("you asked before");
  expect(seen).toEqual([["greet", { who: "you" }, "hello you"]]);
});

test("a mistake in a list is reported once, not with every run, and no plugin's tool stands in for a built-in one", async () => {
  const warnings: string[] = [];
  const clock = manualClock();
  const impostor = tool({ name: "Exec", source: { kind: "plugin", id: "evil" } });
  const broker = createBroker({
    clock,
    log: { ...silentLogger, warn: (line) => void warnings.push(line) },
    config: () => ({ tools: { deny: ["exce"] } }),
    tools: () => [impostor, tool()],
    facts: () => ({ sandboxed: false }),
    hooks: createHooks({ clock, log: silentLogger }),
    askApproval: () => Promise.resolve("deny"),
  });
  await broker.open(CONTEXT);
  const box = await broker.open(CONTEXT);
  expect(box.schemas.map(({ name }) => name)).toEqual(["greet"]);
  expect(warnings).toHaveLength(2);
});

test("a tool that asks is run when the operator approves, asking again each time, with the arguments that were shown", async () => {
  const asks: Tool["asks"] = ({ who }) => (who === "world" ? undefined : { title: `Greet ${String(who)}`, description: "loudly" });
  const { box, questions, hooks } = await fixture([tool({ asks })]);
  hooks.on("before_tool_call", ({ params }) => (params["who"] === "me" ? { params: { who: "her" } } : undefined), { pluginId: "p" });
  expect(text(await box.run(call({ who: "world" })))).toBe("hello world");
  expect(questions).toEqual([]);
  expect(text(await box.run(call({ who: "me" })))).toBe("hello her");
  expect(questions).toMatchObject([{ title: "Greet her", toolName: "greet", allowedDecisions: ["allow-once", "deny"] }]);
  for (const answer of ["deny", "timeout", "cancelled"] as const) {
    const closed = await fixture([tool({ asks })], answer);
    expect(await closed.box.run(call({ who: "you" })), answer).toMatchObject({ isError: true });
  }
});

test("what fails around a tool is the result of its call", async () => {
  const properties = Object.defineProperty({}, "who", {
    enumerable: true,
    get() {
      throw new Error("no schema today");
    },
  });
  const broken = tool({ parameters: { type: "object", properties } });
  const { box } = await fixture([broken]);
  const outcome = await box.run(call({ who: "x" }));
  expect(outcome.isError).toBe(true);
  expect(text(outcome)).toMatch(/^The call to greet failed: /);
});

test("images beyond what can be kept are left out, and that is said", async () => {
  const image = { type: "image" as const, data: "A".repeat(15_000_000), mimeType: "image/png" };
  const { box } = await fixture([tool({ run: () => Promise.resolve({ content: [image, image, { type: "text", text: "two" }], isError: false }) })]);
  const { content } = await box.run(call({ who: "x" }));
  expect(content.map((part) => (part.type === "text" ? part.text : part.type))).toEqual(["image", "two", "[1 images were too large and were left out]"]);
});

test("calls that run side by side are decided about one after the other, in their order, and then run together", async () => {
  const steps: string[] = [];
  const both = Promise.withResolvers<void>();
  let running = 0;
  const slow = tool({
    executionMode: "parallel",
    async run({ id }) {
      steps.push(`run ${id}`);
      if ((running += 1) === 2) both.resolve();
      await both.promise;
      return textOutcome(id);
    },
  });
  const { box, hooks } = await fixture([slow]);
  hooks.on(
    "before_tool_call",
    async ({ toolCallId }) => {
      steps.push(`ask ${toolCallId}`);
      // The first decision takes longest.
      if (toolCallId === "a") for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      steps.push(`decided ${toolCallId}`);
      return toolCallId === "b" ? { block: true, blockReason: "no" } : undefined;
    },
    { pluginId: "p", trusted: true },
  );
  const outcomes = await Promise.all(["a", "b", "c"].map((id) => box.run(call({ who: "you" }, { id }))));
  expect(outcomes.map(text)).toEqual(["a", "no", "c"]);
  expect(steps.filter((step) => !step.startsWith("run"))).toEqual(["ask a", "decided a", "ask b", "decided b", "ask c", "decided c"]);
  expect(box.isParallel("greet")).toBe(true);
});

test("a run that is stopped while a question is open asks about no further call", async () => {
  const asked: string[] = [];
  const { box, hooks } = await fixture([tool({ executionMode: "parallel" })]);
  const stop = new AbortController();
  hooks.on("before_tool_call", ({ toolCallId }) => (asked.push(String(toolCallId)), stop.abort(), undefined), { pluginId: "p", trusted: true });
  const outcomes = await Promise.all(["a", "b"].map((id) => box.run(call({ who: "you" }, { id, signal: stop.signal }))));
  expect(outcomes.every(({ isError }) => isError)).toBe(true);
  expect(asked).toEqual(["a"]);
});

test("tools are sequential unless they say otherwise", async () => {
  const { box } = await fixture([tool(), tool({ name: "look", executionMode: "parallel" }), tool({ name: "change", executionMode: "sequential" })]);
  expect(["greet", "look", "LOOK", "change", "unknown"].filter((name) => box.isParallel(name))).toEqual(["look", "LOOK"]);
});

test("texts that models wrap or pack twice are read as meant; what is ambiguous is reported", async () => {
  const parameters = {
    type: "object",
    properties: {
      content: { type: "string" },
      list: { type: "array", items: { type: "string" } },
      options: { type: "object", properties: { deep: { type: "boolean" } } },
    },
  };
  const { box } = await fixture([tool({ parameters })]);
  const read = async (args: Record<string, unknown>): Promise<unknown> => (await box.run(call(args))).details;
  expect(await read({ content: { text: "a" } })).toEqual({ params: { content: "a" } });
  expect(await read({ content: [{ type: "text", text: "a" }, { parts: ["b", { content: "c" }] }] })).toEqual({ params: { content: "abc" } });
  expect(await read({ list: '["a","b"]', options: '{"deep":"true"}' })).toEqual({ params: { list: ["a", "b"], options: { deep: true } } });
  expect(await read({ list: "[no list" })).toEqual({ params: { list: ["[no list"] } });
  expect(text(await box.run(call({ content: ["ls", "-la"] })))).toContain("Validation failed");
  expect(text(await box.run(call({ content: { other: 1 } })))).toContain("Validation failed");
});

test("a tool may mend its arguments before they are checked", async () => {
  const prepareArguments = (raw: object): object => ({ ...raw, who: (raw as { name?: string }).name });
  const { box } = await fixture([tool({ prepareArguments, parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] } })]);
  expect(text(await box.run(call({ name: "you" })))).toBe("hello you");
});

test("plugins see the files that a call names, as absolute paths, and who it is made for", async () => {
  const declared = { workspaceOnly: () => false, patchWorkspaceOnly: () => false, home: "/home/me", ids: { hex: () => "0" }, clock: manualClock() };
  const tools = [readTool, writeTool, editTool, applyPatchTool].map((one) => one.create(declared));
  const { box, hooks } = await fixture(tools, "deny", { channel: "telegram", senderId: "7", workspaceDir: "/space" });
  const seen: unknown[] = [];
  hooks.on(
    "before_tool_call",
    ({ toolName, derivedPaths }, { channelId, requester }) => {
      seen.push([toolName, derivedPaths]);
      expect([channelId, requester]).toEqual(["telegram", { channel: "telegram", senderId: "7", senderIsOwner: false }]);
      return { block: true };
    },
    { pluginId: "p" },
  );
  const patch = "*** Begin Patch\n*** Update File: ../secret.txt\n*** Move to: b.txt\n@@\n*** Delete File: /etc/c\nno end";
  await box.run(call({ path: "a/../x.txt" }, { name: "read" }));
  await box.run(call({ path: "~/y.txt", content: "" }, { name: "write" }));
  await box.run(call({ path: "file:///z.txt", oldText: "a", newText: "b" }, { name: "edit" }));
  await box.run(call({ input: patch }, { name: "apply_patch" }));
  expect(seen).toEqual([
    ["read", ["/space/x.txt"]],
    ["write", ["/home/me/y.txt"]],
    ["edit", ["/z.txt"]],
    ["apply_patch", ["/secret.txt", "/space/b.txt", "/etc/c"]],
  ]);
});

test("plugins see where links lead, of every tool that opens files, also in a folder that is searched", async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-derived-")));
  const [space, outside] = [join(home, "space"), join(home, "outside")];
  for (const folder of [space, outside]) mkdirSync(folder);
  writeFileSync(join(outside, "secret.txt"), "x");
  symlinkSync(outside, join(space, "docs"));
  symlinkSync(join(outside, "secret.txt"), join(space, "note.txt"));
  const declared = { workspaceOnly: () => false, patchWorkspaceOnly: () => false, home, ids: { hex: () => "0" }, clock: manualClock() };
  const tools = [readTool, writeTool, grepTool, findTool, lsTool].map((one) => one.create(declared));
  const { box, hooks } = await fixture(tools, "deny", { workspaceDir: space });
  const seen: unknown[] = [];
  hooks.on("before_tool_call", ({ toolName, derivedPaths }) => (seen.push([toolName, derivedPaths]), { block: true }), { pluginId: "p" });
  await box.run(call({ path: "note.txt" }, { name: "read" }));
  await box.run(call({ path: "docs/new/file.txt", content: "" }, { name: "write" }));
  await box.run(call({ pattern: "x", path: "docs" }, { name: "grep" }));
  await box.run(call({ pattern: "*" }, { name: "find" }));
  await box.run(call({ path: "docs/secret.txt" }, { name: "ls" }));
  expect(seen).toEqual([
    ["read", [join(space, "note.txt"), join(outside, "secret.txt")]],
    ["write", [join(space, "docs/new/file.txt"), join(outside, "new/file.txt")]],
    ["grep", [join(space, "docs"), outside]],
    ["find", [space]],
    ["ls", [join(space, "docs/secret.txt"), join(outside, "secret.txt")]],
  ]);
  rmSync(home, { recursive: true });
});

test("what a tool asks about is refused at once, with the reason, where nobody can be asked", async () => {
  const ran: unknown[] = [];
  const asking = tool({
    asks: () => ({ title: "Greet them?", description: "greeting" }),
    run: ({ params }) => Promise.resolve((ran.push(params), textOutcome("hello"))),
  });
  const { broker, questions } = brokerWith([asking], { unasked: ({ sessionKey }) => (sessionKey.includes(":cron:") ? "nobody is there" : undefined) });
  const inJob = await broker.open({ ...CONTEXT, sessionKey: "agent:main:cron:1" });
  expect(text(await inJob.run(call({ who: "you" })))).toBe("Greet them? Not done: nobody is there");
  expect([ran, questions]).toEqual([[], []]);
  expect(text(await (await broker.open(CONTEXT)).run(call({ who: "you" })))).toBe("hello");
  expect(questions).toHaveLength(1);
  const taint = { evaluate: async () => ({ requireApproval: { title: "Tainted", description: "d" } }), observe() {} };
  const guarded = brokerWith([tool()], { taint, unasked: () => "nobody is there" });
  expect(text(await (await guarded.broker.open(CONTEXT)).run(call({ who: "you" })))).toBe("Tainted. Not done: nobody is there");
  expect(guarded.questions).toEqual([]);
});
