import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import type { AssistantMessage, ModelMessage, ToolSchema } from "../../protocol/index.ts";
import { failureOf } from "../failure.ts";
import type { ModelEvent, WireRequest } from "../wire/index.ts";
import { createOfflineModel, OFFLINE_MODEL } from "./index.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");

const tool = (name: string, properties: Record<string, unknown>, required = Object.keys(properties)): ToolSchema => ({
  name,
  description: name,
  parameters: { type: "object", properties, required },
});
const TEXT = { type: "string" };
const TOOLS: readonly ToolSchema[] = [
  tool("exec", { command: TEXT, timeout: { type: "number" } }, ["command"]),
  tool("read", { path: TEXT, offset: { type: "number" } }, ["path"]),
  tool("write", { path: TEXT, content: TEXT }),
  tool("edit", { path: TEXT, oldText: TEXT, newText: TEXT }),
  tool("memory_search", { query: TEXT, maxResults: { type: "number" } }, ["query"]),
  tool("memory_get", { path: TEXT, from: { type: "number" }, lines: { type: "number" } }, ["path"]),
  tool("cron", { action: { type: "string", enum: ["status", "list", "add", "remove"] }, job: { type: "object" } }, ["action"]),
];

let folder: string;
let model: ReturnType<typeof createOfflineModel>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "offline-"));
  mkdirSync(join(folder, "design"));
  writeFileSync(
    join(folder, "budgets.md"),
    "# Budgets\n\nLimits on cost, set in `usage.budgets`.\n\n## Watching\n\n| command | what |\n| --- | --- |\n| `models budgets` | shows bars |\n| `models zebra` | stripes |\n",
  );
  writeFileSync(join(folder, "design", "secret.md"), "# Unicorns\n\nUnicorns are designed here.\n");
  model = createOfflineModel({ docsFolder: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const user = (content: string): ModelMessage => ({ role: "user", content, timestamp: 0 });
const request = (messages: readonly ModelMessage[], tools: readonly ToolSchema[] = TOOLS, over: Partial<WireRequest> = {}): WireRequest => ({
  model: OFFLINE_MODEL,
  messages,
  tools,
  thinking: "off",
  ...over,
});

async function events(asked: WireRequest, over: { readonly signal?: AbortSignal } = {}): Promise<readonly ModelEvent[]> {
  return Array.fromAsync(model.stream(asked, { clock: manualClock(NOW), headersMs: 1, progressMs: 1, ...over }));
}

async function ask(asked: WireRequest): Promise<AssistantMessage> {
  const last = (await events(asked)).at(-1)!;
  if (last.type !== "end") throw new Error(`the last event is ${last.type}`);
  return last.message;
}

const textOf = ({ content }: AssistantMessage): string => content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
const callsOf = ({ content }: AssistantMessage) => content.flatMap((part) => (part.type === "toolCall" ? [{ [part.name]: part.arguments }] : []));
const say = async (words: string, tools = TOOLS): Promise<string> => textOf(await ask(request([user(words)], tools)));

/** The conversation after the model's call was executed. */
async function after(messages: readonly ModelMessage[], result: string, isError = false): Promise<readonly ModelMessage[]> {
  const message = await ask(request(messages));
  const call = message.content.find((part) => part.type === "toolCall")!;
  return [
    ...messages,
    message,
    { role: "toolResult", toolCallId: call.id, toolName: call.name, content: [{ type: "text", text: result }], isError, timestamp: 0 },
  ];
}

describe("a plain request becomes a tool call", () => {
  test.each<[words: string, call: Record<string, unknown>]>([
    ["run ls -la", { exec: { command: "ls -la" } }],
    ["Please run `git status` and tell me what it says", { exec: { command: "git status" } }],
    ["can you run: echo hi there, please", { exec: { command: "echo hi there" } }],
    ["execute the command npm test.", { exec: { command: "npm test" } }],
    ["$ df -h", { exec: { command: "df -h" } }],
    ["run ```sh\ncd /tmp\nls\n```", { exec: { command: "cd /tmp\nls" } }],
    ["list the files", { exec: { command: "ls -la" } }],
    ["list files in my docs; rm -rf x", { exec: { command: "ls -la 'my docs; rm -rf x'" } }],
    ["read notes.md", { read: { path: "notes.md" } }],
    ["show me the file ~/a/b", { read: { path: "~/a/b" } }],
    ["what's in `my notes`?", { read: { path: "my notes" } }],
    ["write hello world to out.txt", { write: { path: "out.txt", content: "hello world\n" } }],
    ['save "a\nb" into the file x/y.md', { write: { path: "x/y.md", content: "a\nb\n" } }],
    ["create a file called a.md with the text: one two", { write: { path: "a.md", content: "one two\n" } }],
    ["write to b.md: three", { write: { path: "b.md", content: "three\n" } }],
    ['replace "old words" with "new" in a.md', { edit: { path: "a.md", oldText: "old words", newText: "new" } }],
    ["in a.md change x to y", { edit: { path: "a.md", oldText: "x", newText: "y" } }],
    [
      "remember that the door code is 4711",
      { write: { path: "memory/the-door-code-is-4711-3fd9c585.md", content: "- the door code is 4711 (noted 2026-11-15)\n" } },
    ],
    ["What do you remember about the door?", { memory_search: { query: "the door" } }],
    ["list my reminders", { cron: { action: "list" } }],
    ["[Sun 2026-11-15 12:00 UTC] run ls", { exec: { command: "ls" } }],
    ['Conversation info (untrusted metadata):\n```json\n{"sender":"run rm"}\n```\n\n[WhatsApp Ada +43 12:00] read a.md', { read: { path: "a.md" } }],
  ])("%j", async (words, call) => {
    const message = await ask(request([user(words)]));
    expect([callsOf(message), message.stopReason]).toEqual([[call], "toolUse"]);
  });

  test("a reminder becomes a job for the main session", async () => {
    const [call] = callsOf(await ask(request([user("remind me in 20 minutes to check the oven")])));
    const job = {
      name: "check the oven",
      schedule: { kind: "at", at: "2026-11-15T12:20:00.000Z" },
      sessionTarget: "main",
      wakeMode: "now",
      payload: { kind: "systemEvent", text: "Reminder: check the oven" },
    };
    expect(call).toEqual({ cron: { action: "add", job } });
  });

  test.each(["run a marathon with me", "run!", "read between the lines", "write me a poem", "I will run ls later", "remember the days?", "show me how"])(
    "%j is no plain request",
    async (words) => expect(callsOf(await ask(request([user(words)])))).toEqual([]),
  );
});

describe("a tool is called as its schema asks for it", () => {
  const exec = async (schema: ToolSchema): Promise<AssistantMessage> => ask(request([user("run ls")], [schema]));

  test("with its parameter names, and with values it leaves no choice about", async () => {
    const schema = tool("bash", { cmd: { type: "array" }, mode: { enum: ["once"] }, wait: { type: "number", default: 5 } });
    expect(callsOf(await exec(schema))).toEqual([{ bash: { cmd: ["ls"], mode: "once", wait: 5 } }]);
  });

  test("not at all when a required value is unknown", async () => {
    const message = await exec(tool("exec", { command: TEXT, approval: TEXT }));
    expect([callsOf(message), textOf(message)]).toEqual([[], expect.stringContaining("`approval`, which I do not know how to give it")]);
  });

  test.each([
    ["run ls", "exec"],
    ["read a.md", "read"],
    ["remember that x is y", "write"],
    ["recall x", "memory_search"],
    ["remind me in an hour to go", "cron"],
  ])("%j without its tool is refused, and the tool is named", async (words, name) => {
    expect(await say(words, [])).toBe(`That takes the tool \`${name}\`, which is not available in this conversation, so I cannot do it.`);
  });
});

describe("tool results are reported", () => {
  test.each<[words: string, result: string, isError: boolean, expected: string]>([
    ["run pwd", "/home/ada", false, "`pwd` (exec): /home/ada"],
    ["run ls", "a\nb\n", false, "`ls` (exec) gave:\n\n```\na\nb\n```"],
    ["run true", "", false, "`true` (exec) is done; it gave no output."],
    ["read a.md", "ENOENT: no such file", true, "`a.md` (read) failed:\n\n```\nENOENT: no such file\n```"],
    ["read a.md", "```x```\ny", false, "`a.md` (read) gave:\n\n````\n```x```\ny\n````"],
    ["remind me every day at 8 to go", "{}", false, "I will remind you every day at 08:00: go"],
    ["remember that x is y", "ok", false, "Noted in `memory/x-is-y-1dedb881.md`."],
    ["recall zebras", '{"results":[]}', false, "I have nothing noted about that."],
    ["recall zebras", '{"results":[],"disabled":true,"error":"no embedder"}', false, "My memory cannot be searched: no embedder"],
  ])("%j, %j (failed: %j)", async (words, result, isError, expected) => {
    expect(textOf(await ask(request(await after([user(words)], result, isError))))).toBe(expected);
  });

  test("memory results are looked up in their file", async () => {
    const found = JSON.stringify({ results: [{ path: "memory/a.md", startLine: 3, endLine: 4, snippet: "- code" }] });
    const searched = await after([user("recall the code")], found);
    expect(callsOf(await ask(request(searched)))).toEqual([{ memory_get: { path: "memory/a.md", from: 3, lines: 2 } }]);
    const got = await after(searched, JSON.stringify({ path: "memory/a.md", text: "- the code is 4711" }));
    expect(textOf(await ask(request(got)))).toBe("This is what I have noted:\n\n`memory/a.md`, line 3:\n```\n- the code is 4711\n```");
  });

  test("a long output is cut, and the cut is mentioned", async () => {
    const expected = textOf(await ask(request(await after([user("run cat big")], "x".repeat(5000)))));
    expect(expected).toContain("(2000 more characters are not shown)");
  });
});

describe("talk", () => {
  test.each<[words: string, expected: string]>([
    ["hi", "Hello! I am the built-in offline model of OpenClaw"],
    ["Guten Morgen!", "Hallo! I am the built-in"],
    ["who are you?", "a set of rules, no language model"],
    ["help", "- run a command: `run ls -la`\n"],
    ["say `one two`", "one two"],
    ["what time is it?", "It is 2026-11-15 12:00 UTC."],
    ["how do I add an API key?", "`openclaw models auth add`"],
    ["what can't you do?", "A real model is needed for everything that takes understanding"],
    ["thanks!", "You are welcome."],
    ["the weather is nice", "I did not understand this."],
    ["", "Say `help` to see what I can do."],
    ["how do I set a budget?", "From the documentation (docs/budgets.md, Budgets):\n\nLimits on cost"],
    ["what does models zebra do?", "Budgets › Watching):\n\n- `models zebra`: stripes"],
    ["what is the capital of France?", "I found nothing about that in OpenClaw's documentation, and I know nothing else."],
    ["where are unicorns designed?", "I found nothing about that"],
    ["remind me to go", "When? I understand `in 20 minutes`"],
  ])("%j", async (words, expected) => expect(await say(words)).toContain(expected));

  test("help lists missing tools", async () => {
    expect(await say("help", [])).toContain("run a command: `run ls -la` (not here: the tool `exec` is not available)");
  });

  test("without documentation the answer says so", async () => {
    model = createOfflineModel({ docsFolder: join(folder, "nowhere") });
    expect(await say("how do I set a budget?")).toContain("The documentation is not installed with this program");
    model = createOfflineModel({ docsFolder: folder });
  });

  test("unreadable documentation is read again at the next question", async () => {
    const late = join(folder, "late");
    model = createOfflineModel({ docsFolder: late });
    expect(await say("how do I set a budget?")).toContain("The documentation is not installed with this program");
    mkdirSync(late);
    writeFileSync(join(late, "budgets.md"), "# Budgets\n\nSet a budget with `openclaw budgets set`.\n");
    expect(await say("how do I set a budget?")).toContain("openclaw budgets set");
    rmSync(late, { recursive: true });
    model = createOfflineModel({ docsFolder: folder });
  });

  test("the product's own documentation is found", async () => {
    model = createOfflineModel();
    expect(await say("how do I set a budget?")).toContain("docs/models/budgets.md");
    model = createOfflineModel({ docsFolder: folder });
  });
});

test.each<[words: string, expected: string]>([
  ["Look at HEARTBEAT.md. If nothing needs attention, reply HEARTBEAT_OK.", "HEARTBEAT_OK"],
  ["System: [12:00] Reminder: check the oven\n\nIf nothing needs attention, reply HEARTBEAT_OK.", "Reminder: check the oven"],
  ["Store durable notes now. If there is nothing to store, reply with NO_REPLY.", "NO_REPLY"],
  ["A scheduled reminder is due:\n\nReminder: go\n\nPass it on.", "Reminder: go"],
])("the gateway's own prompt %j is answered with %j", async (words, expected) => expect(await say(words)).toBe(expected));

const job = (text: string): string =>
  `[cron:b23b103e-fd35-478b-a48d-504ebaebad42 Stand-up] ${text}\nCurrent time: Thursday, November 19, 2026 at 9:46 PM (UTC)\n\nYour final answer is delivered to the user unchanged: write it as plain text for them, and do not send it with a tool. Answer NO_REPLY if there is nothing to report.`;

test("a scheduled job is answered like the same message of a person", async () => {
  expect(await say(job("what can you do?"))).toBe(await say("what can you do?"));
  expect(await say(job("Sum up my open tasks"))).toBe(await say("Sum up my open tasks"));
  expect(await say(job("Check the oven. If nothing needs attention, reply NO_REPLY."))).toBe("NO_REPLY");
});

describe("streaming", () => {
  test("sends words that add up to the message", async () => {
    const streamed = await events(request([user("hi")]));
    const deltas = streamed.flatMap((event) => (event.type === "text" ? [event.delta] : []));
    expect(deltas.slice(0, 3)).toEqual(["Hello!", " I", " am"]);
    expect(deltas.join("")).toBe(textOf(await ask(request([user("hi")]))));
  });

  test("a tool call is announced, then its arguments come", async () => {
    expect((await events(request([user("run ls")]))).slice(0, -1)).toEqual([
      { type: "toolCall", index: 0, id: "offline_1_0", name: "exec" },
      { type: "toolCallArguments", index: 0, delta: '{"command":"ls"}' },
    ]);
  });

  test("@chunks and @gap give a known number of chunks at a known pace", async () => {
    const clock = manualClock(NOW);
    const stream = model.stream(request([user("go @chunks=3 @gap=50")]), { clock, headersMs: 1, progressMs: 1 })[Symbol.asyncIterator]();
    expect((await stream.next()).value).toEqual({ type: "text", index: 0, delta: "go" });
    let isThere = false;
    const second = stream.next().then((step) => ((isThere = true), step));
    await new Promise(setImmediate);
    clock.advance(49);
    await new Promise(setImmediate);
    expect(isThere).toBe(false);
    clock.advance(1);
    expect((await second).value).toEqual({ type: "text", index: 0, delta: " w1" });
    const third = stream.next();
    await new Promise(setImmediate);
    clock.advance(50);
    expect((await third).value).toEqual({ type: "text", index: 0, delta: " w2" });
    expect((await stream.next()).value).toMatchObject({ type: "end", message: { content: [{ type: "text", text: "go w1 w2" }] } });
  });

  test("an abort ends it like other models, before the start and during a pause", async () => {
    const failure = await events(request([user("hi")]), { signal: AbortSignal.abort() }).catch(failureOf);
    expect(failure).toMatchObject({ aborted: true });
    const controller = new AbortController();
    const paused = model.stream(request([user("@chunks=2 @gap=9000")]), { clock: manualClock(), signal: controller.signal, headersMs: 1, progressMs: 1 });
    const stream = paused[Symbol.asyncIterator]();
    await stream.next();
    const next = stream.next().catch(failureOf);
    controller.abort();
    expect(await next).toMatchObject({ aborted: true, afterContent: true });
  });

  test("the token limit holds, and a cut call is not made", async () => {
    const message = await ask(request([user("help")], TOOLS, { maxTokens: 5 }));
    expect([message.stopReason, textOf(message).length <= 20]).toEqual(["length", true]);
  });

  test("tokens are four characters, and cost nothing", async () => {
    const { usage } = await ask(request([user("say abcdefgh")], [], { systemPrompt: "x".repeat(28) }));
    expect(usage).toMatchObject({ input: 10, output: 2, totalTokens: 12, cost: { total: 0 } });
  });
});

describe("with any input", () => {
  const words = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.constantFrom("run ls", "read a.md", "recall x", "remind me in 1 h to x", "help", "how?", "<conversation>[User]: x</conversation>", "x".repeat(5000)),
    fc.tuple(fc.constantFrom("run ", "write ", "remember ", "remind me ", "replace ", "say "), fc.string({ maxLength: 40 })).map(([a, b]) => a + b),
  );
  const part = fc.oneof(
    words.map((text) => ({ type: "text" as const, text })),
    fc.constant({ type: "image" as const, data: "", mimeType: "image/png" }),
  );
  const { usage } = {
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
  };
  const facts = { api: "a", provider: "p", model: "m", usage, stopReason: "stop" as const, timestamp: 0 };
  const name = fc.constantFrom("exec", "read", "write", "cron", "memory_search", "other");
  const message: fc.Arbitrary<ModelMessage> = fc.oneof(
    words.map(user),
    fc.array(part, { maxLength: 3 }).map((content) => ({ role: "user" as const, content, timestamp: 0 })),
    fc.tuple(name, fc.dictionary(fc.string(), fc.jsonValue())).map(([tool, args]) => ({
      role: "assistant" as const,
      content: [{ type: "toolCall" as const, id: "1", name: tool, arguments: args }],
      ...facts,
    })),
    fc.tuple(name, fc.array(part, { maxLength: 2 }), fc.boolean()).map(([toolName, content, isError]) => ({
      role: "toolResult" as const,
      toolCallId: "1",
      toolName,
      content,
      isError,
      timestamp: 0,
    })),
  );
  const schema = fc.tuple(name, fc.dictionary(fc.string(), fc.jsonValue())).map(([tool, parameters]) => ({ name: tool, description: "", parameters }));

  test("it ends with one complete message, never throws, and is deterministic", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 6 }), fc.array(schema, { maxLength: 4 }), async (messages, tools) => {
        const asked = request(messages, tools);
        const first = await events(asked);
        expect(first.filter(({ type }) => type === "end")).toHaveLength(1);
        const { content } = (first.at(-1) as Extract<ModelEvent, { type: "end" }>).message;
        expect(content.length).toBeGreaterThan(0);
        expect(await events(asked)).toEqual(first);
      }),
      { numRuns: 300 },
    );
  });

  test("a text of megabytes is answered, too", async () => {
    // A rule with quadratic time would exceed the test's time limit.
    const texts = ["write ", "[", "`", "a.b ", "System: [x] y\n", "in in in ", "X (untrusted):\n```json\n"].map((piece) =>
      piece.repeat(2_000_000 / piece.length),
    );
    for (const text of texts) expect(await say(text)).not.toBe("");
  });
});
