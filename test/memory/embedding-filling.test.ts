import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startEmbeddingServer, type EmbeddingServer } from "../fakes/embedding-server/index.ts";
import { AGENT, memoryFixture, type MemoryFixture } from "./memory-fixture.ts";

const CHILD = fileURLToPath(new URL("embedding-child.ts", import.meta.url));

/** Notes with one part each. */
const manyNotes = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`memory/note-${at}.md`, `Note number ${at} is about item${at}.\n`]));

async function start(): Promise<EmbeddingServer> {
  const server = await startEmbeddingServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

function cached(folder: string): number {
  const index = new DatabaseSync(join(folder, "memory", "main.sqlite"), { readOnly: true });
  try {
    return Number(index.prepare("SELECT count(*) AS n FROM embedding_cache").get()?.["n"]);
  } finally {
    index.close();
  }
}

const configFor = ({ origin }: EmbeddingServer, provider: string, path: string, over: object = {}): object => ({
  agents: { defaults: { memorySearch: { provider, query: { minScore: 0.01 }, remote: { baseUrl: `${origin}${path}`, apiKey: "a-key-for-tests", ...over } } } },
});

for (const [provider, path, jobs] of [
  ["openai", "/v1", "/v1/batches"],
  ["voyage", "/v1", "/v1/batches"],
  ["gemini", "/v1beta", ":asyncBatchEmbedContent"],
] as const) {
  test(`${provider}: many texts are embedded with one job when batches are on`, async () => {
    const server = await start();
    const at = await memoryFixture({ config: configFor(server, provider, path, { batch: { enabled: true, pollIntervalMs: 5 } }), notes: manyNotes(80) });
    await at.embedded();
    expect(server.requests.filter((request) => request.path.endsWith(jobs))).toHaveLength(1);
    expect(server.texts).toHaveLength(80);
    expect((await at.memory.status(AGENT)).batch).toMatchObject({ enabled: true, failures: 0 });
  });
}

test("two failed jobs switch batches off, and the texts are embedded directly", async () => {
  const server = await start();
  server.batchFault = () => "failed";
  const at = await memoryFixture({ config: configFor(server, "openai", "/v1", { batch: { enabled: true, pollIntervalMs: 5 } }), notes: manyNotes(70) });
  await at.embedded();
  expect((await at.memory.status(AGENT)).batch).toMatchObject({
    enabled: true,
    failures: 1,
    lastError: expect.stringContaining("the job was refused") as string,
  });
  for (const [path, text] of Object.entries(manyNotes(70))) at.write(`memory/more/${path.slice(7)}`, `Again: ${text}`);
  await at.embedded();
  expect((await at.memory.status(AGENT)).batch).toMatchObject({ enabled: false, failures: 2 });
  expect(server.texts).toHaveLength(140);
});

test("what was embedded before a kill is not embedded again after it", async () => {
  const server = await start();
  const reached = Promise.withResolvers<void>();
  server.fault = (_, count) => {
    if (count < 2) return undefined;
    reached.resolve();
    return "silent";
  };
  const notes = Object.fromEntries(Object.entries(manyNotes(300)).map(([path, text]) => [path, text.repeat(30)]));
  const at = await memoryFixture({ config: configFor(server, "openai", "/v1"), notes });
  const child = spawn(process.execPath, [CHILD, at.folder, at.workspace], { stdio: "ignore" });
  await reached.promise;
  // Everything that was answered has arrived and is stored.
  await expect.poll(() => cached(at.folder)).toBe(new Set(server.texts).size);
  child.kill("SIGKILL");
  await once(child, "exit");
  const before = new Set(server.texts);
  server.texts.length = 0;
  server.fault = () => undefined;
  await at.restart();
  await at.embedded();
  expect(server.texts.length).toBeGreaterThan(0);
  expect(server.texts.filter((text) => before.has(text))).toEqual([]);
});

async function say(at: MemoryFixture, sessionKey: string, sessionId: string, text: string): Promise<void> {
  const file = `agents/main/sessions/${sessionId}.jsonl`;
  const line = JSON.stringify({
    type: "message",
    id: "e1",
    parentId: null,
    timestamp: "2026-01-01T10:00:00Z",
    message: { role: "user", content: [{ type: "text", text }] },
  });
  await at.store.commit([
    ["sessions.put", { key: sessionKey, agentId: "main", entry: { sessionId, updatedAt: 1_767_000_000_000 } }],
    ["transcripts.ensure", { file, agentId: "main", sessionId, header: JSON.stringify({ type: "session", version: 3, id: sessionId }) }],
    ["transcripts.append", { file, entries: [{ id: "e1", parentId: null, type: "message", at: 1, line }] }],
  ]);
}

test("what a session may not see is not found by its meaning either", async () => {
  const server = await start();
  const at = await memoryFixture({ config: configFor(server, "openai", "/v1"), notes: {} });
  await say(at, "agent:main:one", "00000000-0000-4000-8000-000000000001", "My quimby is called Ada");
  await say(at, "agent:main:two", "00000000-0000-4000-8000-000000000002", "The weather is fine");
  await at.embedded();
  const texts = async (sessions: "all" | readonly string[]) =>
    (await at.find("flemwick", { scope: { notes: true, sessions } })).hits.map(({ snippet }) => snippet);
  expect(await texts("all")).toContain("My quimby is called Ada");
  expect(await texts(["agent:main:two"])).not.toContain("My quimby is called Ada");
});
