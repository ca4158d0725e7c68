import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { startEmbeddingServer, type EmbeddingFault, type EmbeddingServer } from "../fakes/embedding-server/index.ts";
import { expectInTime } from "../harness/in-time.ts";
import { AGENT, memoryFixture, type FixtureOptions, type MemoryFixture } from "./memory-fixture.ts";

const KEY = "key-of-the-embedding-server";
const NOTES = {
  "MEMORY.md": "# Garden\nThe quimby needs water every second evening.\n",
  "memory/2026-02-01.md": "# Work\nThe meeting about the budget is on Tuesday.\n\n# Travel\nThe train to Lisbon leaves at nine.\n",
};

const searchWith = (server: EmbeddingServer, over: object = {}): object => ({
  agents: { defaults: { memorySearch: { provider: "openai", query: { minScore: 0.01 }, remote: { baseUrl: `${server.origin}/v1/`, apiKey: KEY }, ...over } } },
});

async function setup(over: object = {}, options: Partial<FixtureOptions> = {}): Promise<{ readonly server: EmbeddingServer; readonly at: MemoryFixture }> {
  const server = await startEmbeddingServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { server, at: await memoryFixture({ config: searchWith(server, over), notes: NOTES, ...options }) };
}

test("finds a note that shares no word with the question", async () => {
  const { at } = await setup();
  const before = await at.find("flemwick");
  expect(before).toMatchObject({ mode: "fts-only", hits: [] });
  await at.embedded();
  const found = await at.find("flemwick");
  expect(found).toMatchObject({ mode: "hybrid", provider: "openai", model: "text-embedding-3-small" });
  expect(found.hits[0]).toMatchObject({ path: "MEMORY.md", snippet: expect.stringContaining("quimby") as string });
});

test("the status says who embeds, with what, and how far it is", async () => {
  const { at } = await setup({ model: "text-embedding-3-large", cache: { maxEntries: 500 } });
  await at.embedded();
  expect(await at.memory.status(AGENT, { deep: true })).toMatchObject({
    provider: "openai",
    model: "text-embedding-3-large",
    requestedProvider: "openai",
    vector: { enabled: true, available: true, dims: 64, count: 3, pending: 0, scan: "exact" },
    batch: { enabled: false, failures: 0, limit: 2, wait: true, concurrency: 2, pollIntervalMs: 2000, timeoutMs: 3_600_000 },
    cache: { enabled: true, entries: 3, maxEntries: 500 },
    custom: { searchMode: "hybrid" },
    probe: { ok: true },
  });
});

test("nothing is embedded twice: after a new start, a rebuilt index, and another provider and back", async () => {
  const { at, server } = await setup();
  await at.embedded();
  expect(server.texts).toHaveLength(3);
  await at.restart();
  await at.embedded();
  await at.memory.sync(AGENT, { rebuild: true });
  await at.embedded();
  expect(server.texts).toHaveLength(3);
  at.configure(searchWith(server, { model: "another-model" }));
  await at.embedded();
  expect(server.texts).toHaveLength(6);
  at.configure(searchWith(server));
  await at.embedded();
  expect(server.texts).toHaveLength(6);
  expect((await at.find("flemwick")).hits[0]?.path).toBe("MEMORY.md");
});

test("without the cache, texts are embedded again for a rebuilt index", async () => {
  const { at, server } = await setup({ cache: { enabled: false } });
  await at.embedded();
  await at.memory.sync(AGENT, { rebuild: true });
  await at.embedded();
  expect(server.texts).toHaveLength(6);
});

test("the cache has no more entries than the configuration says", async () => {
  const { at } = await setup({ cache: { maxEntries: 2 } });
  await at.embedded();
  expect((await at.memory.status(AGENT)).cache).toEqual({ enabled: true, entries: 2, maxEntries: 2 });
});

test("a changed note is embedded again, and its old meaning is gone", async () => {
  const { at, server } = await setup();
  await at.embedded();
  at.write("MEMORY.md", "# Garden\nThe lawn was cut.\n");
  await at.embedded();
  expect(server.texts.at(-1)).toContain("The lawn was cut.");
  expect(JSON.stringify((await at.find("flemwick")).hits)).not.toContain("quimby");
});

const FAULTS: readonly (readonly [string, EmbeddingFault, RegExp])[] = [
  ["is down", "reset", /openai/],
  ["refuses the key", { status: 401, message: "wrong key" }, /status 401: wrong key/],
  ["has reached its limit", { status: 429, retryAfter: "30", message: "slow down" }, /status 429: slow down/],
  ["answers with other dimensions", "other-dims", /65 dimensions/],
  ["answers with values that are no numbers", "null-values", /values that are not numbers/],
];
for (const [what, fault, reason] of FAULTS) {
  test(`words still answer when the provider ${what}, and the status says so`, async () => {
    const { at, server } = await setup();
    await at.embedded();
    server.fault = () => fault;
    const found = await at.find("train to Lisbon");
    expect(found.hits[0]).toMatchObject({ path: "memory/2026-02-01.md" });
    await expect
      .poll(async () => (await at.memory.status(AGENT)).custom)
      .toMatchObject({ searchMode: "fts-only", providerUnavailableReason: expect.stringMatching(reason) as string });
  });
}

test("a provider that does not answer holds up a search for two seconds, and the next one not at all", async () => {
  const { at, server } = await setup();
  await at.embedded();
  server.fault = () => "silent";
  const started = performance.now();
  expect((await at.find("train to Lisbon")).mode).toBe("fts-only");
  expectInTime(performance.now() - started, 2600);
  const again = performance.now();
  expect((await at.find("the meeting about the budget")).hits).not.toHaveLength(0);
  expectInTime(performance.now() - again, 1000);
  expect((await at.memory.status(AGENT)).custom.providerUnavailableReason).toMatch(/takes longer than 2000 ms/);
});

test("a vector of zeros is near nothing", async () => {
  const { at, server } = await setup();
  await at.embedded();
  server.fault = () => "zero";
  expect((await at.find("train to Lisbon")).mode).toBe("fts-only");
  expect((await at.memory.status(AGENT)).custom).toEqual({ searchMode: "hybrid" });
});

test("one text that the provider refuses does not keep the others from being embedded", async () => {
  const { at, server } = await setup();
  server.fault = ({ texts }) => (texts.some((text) => text.includes("Lisbon")) ? { status: 400, message: "this text is refused" } : undefined);
  await at.embedded();
  expect((await at.find("flemwick")).hits[0]?.path).toBe("MEMORY.md");
  expect(at.logged.join("\n")).toContain("this text is refused");
});

test("the fallback is used once the provider failed, and named", async () => {
  const server = await startEmbeddingServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  server.fault = ({ path }) => (path.endsWith("/embeddings") ? { status: 403, message: "no access" } : undefined);
  const config = {
    ...searchWith(server, { fallback: "gemini" }),
    models: { providers: { google: { baseUrl: `${server.origin}/v1beta`, apiKey: "key-for-google", models: [] } } },
  };
  const at = await memoryFixture({ config, notes: NOTES });
  await at.embedded();
  expect((await at.find("flemwick")).hits[0]?.path).toBe("MEMORY.md");
  expect(await at.memory.status(AGENT)).toMatchObject({
    provider: "gemini",
    model: "gemini-embedding-001",
    requestedProvider: "openai",
    fallback: { from: "openai", reason: expect.stringContaining("no access") as string },
  });
  // The key for one provider goes to no other.
  expect(server.requests.filter(({ path }) => path.includes("v1beta")).every(({ headers }) => headers["x-goog-api-key"] === "key-for-google")).toBe(true);
});

test("what it costs is in the usage report under the agent", async () => {
  const { at } = await setup();
  await at.embedded();
  const rows = await at.store.read("usage.totals", { by: ["sessionKey", "provider", "model"] });
  expect(rows).toMatchObject([{ sessionKey: "agent:main:memory", provider: "openai", model: "text-embedding-3-small", failed: 0 }]);
  expect(rows[0]?.input).toBeGreaterThan(0);
  expect(rows[0]?.cost).toBeCloseTo(((rows[0]?.input ?? 0) * 0.02) / 1e6, 12);
});

test("keys and secrets in notes do not leave this machine, and are in no log and no file of the index", async () => {
  const { at, server } = await setup({}, { notes: { "MEMORY.md": "The token is sk-abcdefghijklmnopqrstuvwxyz123456.\n" } });
  await at.embedded();
  server.fault = () => ({ status: 403, message: `not with ${KEY}` });
  await at.find("token");
  await at.memory.status(AGENT, { deep: true });
  expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toContain("abcdefghijklmnopqrstuvwxyz123456");
  const files = readdirSync(join(at.folder, "memory")).map((name) => readFileSync(join(at.folder, "memory", name), "latin1"));
  expect([...files, ...at.logged].join("\n")).not.toContain(KEY);
});

test("a purge leaves no vector of a text that is gone", async () => {
  const { at } = await setup();
  await at.embedded();
  at.write("MEMORY.md", "# Garden\n");
  await at.memory.purge(AGENT);
  expect((await at.memory.status(AGENT)).cache.entries).toBe(2);
});

test("with hybrid switched off, hits are ranked by their vectors alone", async () => {
  const { at } = await setup({ query: { hybrid: { enabled: false }, minScore: 0.05 } });
  await at.embedded();
  const found = await at.find("flemwick");
  expect(found).toMatchObject({ mode: "vector", hits: [{ path: "MEMORY.md" }] });
});

test("weights in the configuration add the two sides as documented", async () => {
  const { at } = await setup({ query: { hybrid: { vectorWeight: 1, textWeight: 0 }, minScore: 0.05 } });
  await at.embedded();
  const [hit] = (await at.find("The quimby needs water every second evening.")).hits;
  const index = new DatabaseSync(join(at.folder, "memory", "main.sqlite"), { readOnly: true });
  onTestFinished(() => index.close());
  expect(hit?.path).toBe("MEMORY.md");
  expect(hit?.score).toBeGreaterThan(0.8);
  expect(index.prepare("SELECT value FROM meta WHERE key = 'memory_index_meta_v1'").get()?.["value"]).toContain('"vectorDims":64');
});

test("a library for vectors that does not load is named, and search goes on", async () => {
  const { at } = await setup({ store: { vector: { extensionPath: "/nowhere/vec0" } } });
  await at.embedded();
  expect((await at.find("flemwick")).hits[0]?.path).toBe("MEMORY.md");
  expect((await at.memory.status(AGENT)).vector).toMatchObject({ available: true, extensionPath: "/nowhere/vec0", loadError: expect.any(String) as string });
});
