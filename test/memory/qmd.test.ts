import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { AGENT, EVERYTHING, memoryFixture, type MemoryFixture } from "./memory-fixture.ts";

const QMD = fileURLToPath(new URL("../fakes/qmd/qmd.mjs", import.meta.url));
const DIRECT = "agent:main:telegram:direct:42";
const GROUP = "agent:main:telegram:group:7";

const withQmd = (qmd: object = {}): object => ({ memory: { backend: "qmd", qmd: { command: QMD, limits: { timeoutMs: 60_000 }, ...qmd } } });

interface Call {
  readonly args: readonly string[];
  readonly pid: number;
  readonly env: readonly string[];
}

const cacheOf = (at: MemoryFixture): string => join(at.folder, "agents", "main", "qmd", "xdg-cache");
const calls = (at: MemoryFixture): readonly Call[] =>
  readFileSync(join(cacheOf(at), "calls.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Call);
const breakCommand = (at: MemoryFixture, fault: object): void => {
  mkdirSync(cacheOf(at), { recursive: true });
  writeFileSync(join(cacheOf(at), "fault.json"), JSON.stringify(fault));
};

async function setup(
  qmd: object = {},
  notes: Record<string, string> = { "MEMORY.md": "# Garden\nThe lawn is cut on Friday.\n", "memory/Two Words.md": "The train leaves at nine.\n" },
): Promise<MemoryFixture> {
  const env = { PATH: process.env["PATH"] ?? "", SECRET_API_KEY: "never-for-a-program" };
  const at = await memoryFixture({ config: withQmd(qmd), notes, env });
  await at.memory.sync(AGENT);
  return at;
}

test("searches what qmd indexed, with the paths and lines of the files", async () => {
  const at = await setup();
  const found = await at.find("train", { session: { key: DIRECT } });
  expect(found).toMatchObject({
    provider: "qmd",
    mode: "fts-only",
    hits: [{ path: "memory/Two Words.md", startLine: 1, endLine: 2, score: 1, source: "memory", snippet: "The train leaves at nine." }],
  });
  expect((await at.find("lawn")).hits[0]?.path).toBe("MEMORY.md");
  expect((await at.memory.status(AGENT)).backend).toBe("qmd");
});

test("its home is the agent's own, and it gets no secrets", async () => {
  const at = await setup();
  const [first] = calls(at);
  expect(first?.args).toEqual(["collection", "add", at.workspace, "--name", "memory-root", "--mask", "MEMORY.md"]);
  expect(first?.env).not.toContain("SECRET_API_KEY");
  expect(existsSync(join(at.folder, "agents", "main", "qmd", "xdg-config", "collections.json"))).toBe(true);
});

test("each search mode is its command; vectors are made for those that need them", async () => {
  for (const [searchMode, mode] of [
    ["vsearch", "vector"],
    ["query", "hybrid"],
  ] as const) {
    const at = await setup({ searchMode });
    expect((await at.find("train")).mode).toBe(mode);
    expect(calls(at).map(({ args }) => args[0])).toEqual(expect.arrayContaining(["update", "embed", searchMode]));
  }
  const plain = await setup();
  await plain.find("train");
  expect(calls(plain).some(({ args }) => args[0] === "embed")).toBe(false);
});

test("a mode that knows an option less is replaced by query", async () => {
  const at = await setup();
  breakCommand(at, { search: { exit: 2, text: "error: unknown option '--json'" } });
  expect((await at.find("train")).hits).toHaveLength(1);
  expect(calls(at).at(-1)?.args[0]).toBe("query");
});

test("files of other folders have the path of their collection, and are read by it", async () => {
  const at = await setup({ paths: [{ name: "docs", path: "~/notes" }] });
  mkdirSync(join(at.folder, "notes"), { recursive: true });
  writeFileSync(join(at.folder, "notes", "plan.md"), "one\nThe plan for the harbour\nthree\n");
  writeFileSync(join(at.folder, "secret.md"), "not to be read");
  await at.restart();
  await at.memory.sync(AGENT);
  const [hit] = (await at.find("harbour")).hits;
  expect(hit).toMatchObject({ path: "qmd/docs/plan.md", startLine: 2 });
  expect(await at.memory.read(AGENT, { path: "qmd/docs/plan.md", from: 2, lines: 1 })).toEqual({ path: "qmd/docs/plan.md", text: "The plan for the harbour" });
  await expect(at.memory.read(AGENT, { path: "qmd/docs/../secret.md" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(at.memory.read(AGENT, { path: "qmd/other/plan.md" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("only direct chats search it by default; rules open it for others", async () => {
  const at = await setup();
  expect((await at.find("train", { session: { key: GROUP } })).hits).toEqual([]);
  expect(at.logged.join("\n")).toContain(`does not allow a search in ${GROUP}`);
  at.configure(withQmd({ scope: { default: "deny", rules: [{ action: "allow", match: { keyPrefix: "agent:main:telegram:group:" } }] } }));
  expect((await at.find("train", { session: { key: GROUP } })).hits).toHaveLength(1);
  expect((await at.find("train", { session: { key: DIRECT } })).hits).toEqual([]);
});

test("rules for a channel hold for its conversations: by their record, or by their key", async () => {
  const at = await setup({ scope: { default: "deny", rules: [{ action: "allow", match: { channel: "telegram" } }] } });
  const main = "agent:main:main";
  expect((await at.find("train", { session: { key: GROUP } })).hits).toHaveLength(1);
  expect((await at.find("train", { session: { key: "agent:main:telegram:work:direct:42" } })).hits).toHaveLength(1);
  expect((await at.find("train", { session: { key: "agent:main:discord:direct:42" } })).hits).toEqual([]);
  // The main session is wherever its person wrote last. Whether it may be sent to says nothing about searching.
  expect((await at.find("train", { session: { key: main } })).hits).toEqual([]);
  await at.store.write("sessions.put", { key: main, agentId: AGENT, entry: { sessionId: "s1", updatedAt: 1, lastChannel: "telegram", sendPolicy: "deny" } });
  expect((await at.find("train", { session: { key: main } })).hits).toHaveLength(1);
  at.configure(withQmd({ scope: { default: "allow", rules: [{ action: "deny", match: { channel: "telegram" } }] } }));
  expect((await at.find("train", { session: { key: main } })).hits).toEqual([]);
  expect(at.logged.join("\n")).toContain(`does not allow a search in ${main} (channel telegram)`);
});

test("results are limited in number and length", async () => {
  const notes = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`memory/n${n}.md`, `A train, ${"x".repeat(400)}\n`]));
  const at = await setup({ limits: { maxResults: 4, maxSnippetChars: 100, maxInjectedChars: 250, timeoutMs: 60_000 } }, notes);
  const { hits } = await at.find("train", { maxResults: 50 });
  expect(hits.map(({ snippet }) => snippet.length)).toEqual([100, 100, 50]);
});

const FAULTS: readonly (readonly [string, object, RegExp])[] = [
  ["ends with an error", { exit: 3, text: "index is locked" }, /code 3: index is locked/],
  ["prints something else", { print: "Hello" }, /something other than results/],
  ["prints half of it", { print: '[{"file": "qmd://memory-dir/a.md", ] ' }, /not complete JSON/],
];
for (const [what, fault, message] of FAULTS) {
  test(`the built-in index answers when qmd ${what}`, async () => {
    const at = await setup();
    breakCommand(at, { search: fault });
    const found = await at.find("the train leaves at nine", { minScore: 0 });
    expect(found.provider).toBeUndefined();
    expect(found.hits[0]?.path).toBe("memory/Two Words.md");
    expect(at.logged.join("\n")).toMatch(message);
    expect(await at.memory.status(AGENT)).toMatchObject({ backend: "builtin", qmd: { lastError: expect.stringMatching(message) as string } });
  });
}

test("the built-in index answers when qmd is not installed, or takes too long", async () => {
  const at = await setup({ command: "qmd-is-not-here" });
  expect((await at.find("the train leaves at nine", { minScore: 0 })).hits[0]?.path).toBe("memory/Two Words.md");
  expect(at.logged.join("\n")).toMatch(/qmd-is-not-here is not installed/);
  const slow = await setup({ limits: { timeoutMs: 300 } });
  breakCommand(slow, { search: { hang: true } });
  expect((await slow.find("the train leaves at nine", { minScore: 0 })).hits[0]?.path).toBe("memory/Two Words.md");
  expect(slow.logged.join("\n")).toMatch(/did not end within 300 ms/);
});

test("what the program is doing when memory closes is cancelled, and nothing writes to the folder afterwards", async () => {
  const at = await setup();
  breakCommand(at, { update: { hang: true } });
  at.configure(withQmd({ update: { debounceMs: 0 } }));
  const before = calls(at).length;
  const update = at.memory.sync(AGENT).catch((error: unknown) => error);
  await until(
    () => calls(at).slice(before).at(-1)?.args[0] === "update",
    () => "the program never ran",
  );
  await at.memory[Symbol.asyncDispose]();
  expect(() => process.kill(calls(at).at(-1)?.pid ?? 0, 0)).toThrow("ESRCH");
  expect(await update).toBeInstanceOf(Error);
});

test("a query that looks like an option is text", async () => {
  const at = await setup();
  expect((await at.find("--train")).hits).toHaveLength(1);
  expect(calls(at).at(-1)?.args.slice(0, 2)).toEqual(["search", "train"]);
});

async function say(at: MemoryFixture, sessionKey: string, sessionId: string, text: string, timestamp: string): Promise<void> {
  const file = `agents/main/sessions/${sessionId}.jsonl`;
  const line = JSON.stringify({ type: "message", id: "e1", parentId: null, timestamp, message: { role: "user", content: [{ type: "text", text }] } });
  await at.store.commit([
    ["sessions.put", { key: sessionKey, agentId: "main", entry: { sessionId, updatedAt: Date.parse(timestamp) } }],
    ["transcripts.ensure", { file, agentId: "main", sessionId, header: JSON.stringify({ type: "session", version: 3, id: sessionId }) }],
    ["transcripts.append", { file, entries: [{ id: "e1", parentId: null, type: "message", at: 1, line }] }],
  ]);
}

test("conversations are exported without secrets, for as long as the configuration says, and seen by those who may", async () => {
  const at = await memoryFixture({
    config: withQmd({ sessions: { enabled: true, retentionDays: 30 }, update: { debounceMs: 0 } }),
    env: { PATH: process.env["PATH"] ?? "" },
  });
  const now = new Date().toISOString();
  await say(at, "agent:main:one", "00000000-0000-4000-8000-000000000001", "The harbour key is sk-abcdefghijklmnopqrstuvwxyz123456", now);
  await say(at, "agent:main:old", "00000000-0000-4000-8000-000000000002", "The harbour was old", "2020-01-01T00:00:00Z");
  await at.memory.sync(AGENT);
  const folder = join(at.folder, "agents", "main", "qmd", "sessions");
  expect(readdirSync(folder).filter((name) => name.endsWith(".md"))).toEqual(["00000000-0000-4000-8000-000000000001.md"]);
  const exported = readFileSync(join(folder, "00000000-0000-4000-8000-000000000001.md"), "utf8");
  expect(exported).toMatch(/^User: The harbour key is /);
  expect(exported).not.toContain("abcdefghijklmnopqrstuvwxyz123456");
  expect(statSync(join(folder, "00000000-0000-4000-8000-000000000001.md")).mode & 0o077).toBe(0);
  const [hit] = (await at.find("harbour", { scope: EVERYTHING })).hits;
  expect(hit).toMatchObject({ source: "sessions", sessionKey: "agent:main:one", path: "qmd/sessions/00000000-0000-4000-8000-000000000001.md" });
  expect((await at.find("harbour", { scope: { notes: true, sessions: ["agent:main:two"] } })).hits).toEqual([]);
  // Whose conversation it is cannot be checked where lines are read: it is found, not read.
  await expect(at.memory.read(AGENT, { path: "qmd/sessions/00000000-0000-4000-8000-000000000001.md" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("it is brought up to date when it is started, and then at its interval", async () => {
  const at = await memoryFixture({
    config: withQmd({ update: { interval: "1s", debounceMs: 0, waitForBootSync: true } }),
    notes: { "MEMORY.md": "The lawn\n" },
    env: { PATH: process.env["PATH"] ?? "" },
  });
  await at.memory.start();
  expect(calls(at).filter(({ args }) => args[0] === "update")).toHaveLength(1);
  at.write("memory/new.md", "A ferry\n");
  await expect.poll(async () => (await at.find("ferry")).hits.length).toBe(1);
});
