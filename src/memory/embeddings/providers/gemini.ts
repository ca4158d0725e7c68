import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import { poll } from "../batch/poll.ts";
import { checkVectors } from "../answers.ts";
import { estimateAll } from "../estimate.ts";
import type { ProviderClient } from "../request.ts";
import type { BatchOptions, Embedded, Embedder, TextKind } from "../types.ts";

const TASKS: Readonly<Record<TextKind, string>> = { query: "RETRIEVAL_QUERY", document: "RETRIEVAL_DOCUMENT" };

/** A job carries its requests itself, up to 20 MB. */
const JOB_TEXTS = 2000;
const REQUEST_MS = 120_000;

const valuesIn = (value: unknown): unknown => (isRecord(value) && isRecord(value["embedding"]) ? value["embedding"]["values"] : undefined);

/** Answers of a finished job, by the names of its requests. */
function answersOf(job: unknown): ReadonlyMap<string, unknown> {
  const output = isRecord(job) && isRecord(job["metadata"]) ? job["metadata"]["output"] : undefined;
  const response = isRecord(job) ? job["response"] : undefined;
  const holder = [output, response].find((value) => isRecord(value) && value["inlinedResponses"] !== undefined);
  const inlined = isRecord(holder) ? holder["inlinedResponses"] : undefined;
  const rows = isRecord(inlined) ? inlined["inlinedResponses"] : inlined;
  const found = new Map<string, unknown>();
  for (const row of Array.isArray(rows) ? rows : []) {
    const key = isRecord(row) && isRecord(row["metadata"]) ? row["metadata"]["key"] : undefined;
    if (isRecord(row) && typeof key === "string") found.set(key, valuesIn(row["response"]));
  }
  return found;
}

/** Google's own interface. */
export function geminiEmbedder(client: ProviderClient): Embedder {
  const { model } = client.access;
  const name = `models/${model.replace(/^models\//, "")}`;
  const contentOf = (text: string, kind: TextKind): object => ({ content: { parts: [{ text }] }, taskType: TASKS[kind] });

  async function job(texts: readonly string[], options: BatchOptions): Promise<readonly unknown[]> {
    const requests = texts.map((text, at) => ({ request: { model: name, ...contentOf(text, "document") }, metadata: { key: String(at) } }));
    const body = { batch: { displayName: "openclaw-memory", inputConfig: { requests: { requests } } } };
    const made = await client.ask({ path: `/${name}:asyncBatchEmbedContent`, body, timeoutMs: REQUEST_MS, signal: options.signal });
    const id = isRecord(made) ? made["name"] : undefined;
    if (typeof id !== "string") throw new AppError("UNAVAILABLE", "gemini started a batch but returned no name");
    const done = await poll(options, async () => {
      const now = await client.ask({ path: `/${id}`, timeoutMs: REQUEST_MS, signal: options.signal });
      const state = isRecord(now) && isRecord(now["metadata"]) ? String(now["metadata"]["state"]) : "";
      if (isRecord(now) && isRecord(now["error"])) throw new AppError("UNAVAILABLE", `gemini's batch failed: ${String(now["error"]["message"]).slice(0, 200)}`);
      if (/FAILED|CANCELLED|EXPIRED/.test(state)) throw new AppError("UNAVAILABLE", `gemini's batch ended as ${state}`);
      return /SUCCEEDED/.test(state) || (isRecord(now) && now["done"] === true) ? now : undefined;
    });
    const answers = answersOf(done);
    return texts.map((_, at) => answers.get(String(at)));
  }

  return {
    id: "gemini",
    model,
    maxInputTokens: 2048,
    maxTexts: 100,
    async embed(texts, { kind, timeoutMs, signal }): Promise<Embedded> {
      const [first] = texts;
      if (texts.length === 1 && first !== undefined) {
        const value = await client.ask({ path: `/${name}:embedContent`, body: contentOf(first, kind), timeoutMs, signal });
        return { vectors: checkVectors("gemini", [valuesIn(value)], 1), tokens: estimateAll(texts) };
      }
      const requests = texts.map((text) => ({ model: name, ...contentOf(text, kind) }));
      const value = await client.ask({ path: `/${name}:batchEmbedContents`, body: { requests }, timeoutMs, signal });
      const rows = isRecord(value) && Array.isArray(value["embeddings"]) ? value["embeddings"] : [];
      const vectors = rows.map((row) => (isRecord(row) ? row["values"] : undefined));
      return { vectors: checkVectors("gemini", vectors, texts.length), tokens: estimateAll(texts) };
    },
    async batch(texts, options) {
      const vectors: unknown[] = [];
      for (let at = 0; at < texts.length; at += JOB_TEXTS) vectors.push(...(await job(texts.slice(at, at + JOB_TEXTS), options)));
      return { vectors: checkVectors("gemini", vectors, texts.length), tokens: estimateAll(texts) };
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}
