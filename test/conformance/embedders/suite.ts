import { expect, onTestFinished, test } from "vitest";
import { createEmbedder } from "../../../src/memory/embeddings/create-embedder.ts";
import type { BatchSettings, Embedder, ProviderAccess } from "../../../src/memory/embeddings/types.ts";
import { startEmbeddingServer, type EmbeddingFault, type EmbeddingServer } from "../../fakes/embedding-server/index.ts";

export interface EmbedderCase {
  readonly name: string;
  /** How to reach the fake. */
  readonly access: (origin: string) => ProviderAccess;
  /** Header that carries the key. */
  readonly keyHeader: string;
  readonly hasBatch: boolean;
}

const BATCH: BatchSettings = { enabled: true, wait: true, concurrency: 2, pollIntervalMs: 1, timeoutMinutes: 1 };
const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

interface Setup {
  readonly server: EmbeddingServer;
  readonly embedder: Embedder;
  /** Pauses before further tries, in milliseconds. Nothing is slept here. */
  readonly waits: number[];
  readonly embed: (texts: readonly string[], kind?: "query" | "document", timeoutMs?: number) => ReturnType<Embedder["embed"]>;
}

/** What every provider of embeddings does, whatever its form on the wire. */
export function embedderSuite({ name, access, keyHeader, hasBatch }: EmbedderCase): void {
  async function setup(over: Partial<ProviderAccess> = {}): Promise<Setup> {
    const server = await startEmbeddingServer();
    onTestFinished(() => server[Symbol.asyncDispose]());
    const waits: number[] = [];
    const sleep = async (ms: number): Promise<void> => void waits.push(ms);
    const embedder = createEmbedder({ ...access(server.origin), ...over }, { version: "1.2.3", sleep });
    onTestFinished(() => embedder[Symbol.asyncDispose]());
    const signal = new AbortController().signal;
    return { server, embedder, waits, embed: (texts, kind = "document", timeoutMs = 30_000) => embedder.embed(texts, { kind, timeoutMs, signal }) };
  }

  test(`${name}: answers one vector of length 1 for each text, in their order`, async () => {
    const { embed, server } = await setup();
    const { vectors, tokens } = await embed(["a red car", "a red automobile", "the tax return"]);
    expect(vectors.map((vector) => Math.round(dot(vector, vector) * 1e4) / 1e4)).toEqual([1, 1, 1]);
    const [a, b, c] = vectors;
    if (!a || !b || !c) throw new Error("three vectors were expected");
    expect(dot(a, b)).toBeGreaterThan(dot(a, c));
    expect(tokens).toBeGreaterThan(0);
    expect(server.texts).toEqual(["a red car", "a red automobile", "the tax return"]);
  });

  test(`${name}: sends its key, its headers and who asks`, async () => {
    const { embed, server } = await setup({ keys: ["key-of-the-user"], headers: { "X-Project": "p1" } });
    await embed(["one"], "query");
    const [request] = server.requests;
    expect(String(request?.headers[keyHeader])).toContain("key-of-the-user");
    expect(request?.headers["x-project"]).toBe("p1");
    expect(request?.headers["user-agent"]).toBe("openclaw/1.2.3");
  });

  const RETRIED: readonly (readonly [string, EmbeddingFault, number])[] = [
    ["429 with a hint", { status: 429, retryAfter: "2" }, 2000],
    ["429 without a hint", { status: 429 }, 500],
    ["500", { status: 500 }, 500],
    ["503", { status: 503 }, 500],
    ["an answer that is cut off", "torn", 500],
    ["NaN in the answer", "nan", 500],
    ["a closed connection", "reset", 500],
  ];
  for (const [what, fault, wait] of RETRIED) {
    test(`${name}: tries again after ${what}`, async () => {
      const { embed, server, waits } = await setup();
      server.fault = (_, count) => (count === 0 ? fault : undefined);
      expect((await embed(["one", "two"])).vectors).toHaveLength(2);
      expect(waits).toEqual([wait]);
    });
  }

  test(`${name}: gives up after three tries and says what came`, async () => {
    const { embed, server, waits } = await setup();
    server.fault = () => ({ status: 500, message: "out of order" });
    await expect(embed(["one"])).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringMatching(/status 500: out of order/) as string });
    expect(server.requests).toHaveLength(3);
    expect(waits).toEqual([500, 2000]);
  });

  test(`${name}: does not try again when it waits longer than 8 s, or when the request is refused`, async () => {
    const { embed, server, waits } = await setup();
    server.fault = () => ({ status: 429, retryAfter: "60" });
    await expect(embed(["one"])).rejects.toMatchObject({ code: "OVERLOADED" });
    server.fault = () => ({ status: 401, message: "wrong key" });
    await expect(embed(["one"])).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect([server.requests.length, waits]).toEqual([2, []]);
  });

  test(`${name}: uses the next key when one has reached its limit`, async () => {
    const { embed, server, waits } = await setup({ keys: ["first-long-key", "second-long-key"] });
    server.fault = ({ headers }) => (String(headers[keyHeader]).includes("first-long-key") ? { status: 429, message: "rate limit" } : undefined);
    expect((await embed(["one"])).vectors).toHaveLength(1);
    expect([server.requests.length, waits]).toEqual([2, []]);
  });

  const INVALID: readonly (readonly [string, EmbeddingFault, RegExp])[] = [
    ["values that are no numbers", "null-values", /values that are not numbers/],
    ["fewer vectors than texts", "too-few", /vectors for 2 texts/],
  ];
  for (const [what, fault, message] of INVALID) {
    test(`${name}: refuses ${what}`, async () => {
      const { embed, server } = await setup();
      server.fault = () => fault;
      await expect(embed(["one", "two"])).rejects.toThrow(message);
    });
  }

  test(`${name}: takes no key elsewhere`, async () => {
    const { embed, server } = await setup();
    server.fault = () => "redirect";
    await expect(embed(["one"])).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(server.requests.some(({ path }) => path === "/elsewhere")).toBe(false);
  });

  test(`${name}: shows no key in an error`, async () => {
    const { embed, server } = await setup({ keys: ["a-secret-that-is-echoed"] });
    server.fault = () => ({ status: 403, message: "the key a-secret-that-is-echoed is not known" });
    await expect(embed(["one"])).rejects.toThrow(/the key \S* ?is not known|\*\*\*/);
    await expect(embed(["one"])).rejects.not.toThrow(/a-secret-that-is-echoed/);
  });

  test(`${name}: ends when its time is over`, async () => {
    const { embed, server } = await setup();
    server.fault = () => "silent";
    await expect(embed(["one"], "document", 150)).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  if (!hasBatch) return;
  test(`${name}: embeds with a job`, async () => {
    const { embedder, embed } = await setup();
    const texts = Array.from({ length: 5 }, (_, at) => `text number ${at}`);
    const batch = await embedder.batch?.(texts, { settings: BATCH, signal: new AbortController().signal });
    const { vectors } = await embed(texts);
    expect(batch?.vectors).toHaveLength(5);
    for (const [at, vector] of vectors.entries()) expect(dot(vector, batch?.vectors[at] ?? new Float32Array())).toBeCloseTo(1, 4);
  });

  test(`${name}: a job that fails is an error with its reason`, async () => {
    const { embedder, server } = await setup();
    server.batchFault = () => "failed";
    await expect(embedder.batch?.(["one"], { settings: BATCH, signal: new AbortController().signal })).rejects.toThrow(/the job was refused/);
  });
}
