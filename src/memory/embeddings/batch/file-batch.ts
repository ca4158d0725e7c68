import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import { checkVectors, rowsOf } from "../answers.ts";
import { estimateAll } from "../estimate.ts";
import type { ProviderClient } from "../request.ts";
import type { BatchOptions, Embedded } from "../types.ts";
import { poll } from "./poll.ts";

/** How a provider wants its batches. */
export interface FileBatch extends BatchOptions {
  /** Requests in one job. */
  readonly maxRequests: number;
  /** One line of the uploaded file. */
  readonly line: (text: string, name: string) => object;
  /** The body that begins the job. */
  readonly job: (fileId: string) => object;
}

const REQUEST_MS = 120_000;
const BOUNDARY = "openclaw-memory-batch-boundary";

/** A form with a file, as both providers take it. */
function upload(lines: string): { readonly type: string; readonly bytes: Uint8Array } {
  const part = (headers: string, body: string): string => `--${BOUNDARY}\r\ncontent-disposition: form-data; ${headers}\r\n\r\n${body}\r\n`;
  const text = `${part('name="purpose"', "batch")}${part('name="file"; filename="memory.jsonl"\r\ncontent-type: application/jsonl', lines)}--${BOUNDARY}--\r\n`;
  return { type: `multipart/form-data; boundary=${BOUNDARY}`, bytes: Buffer.from(text) };
}

const textAt = (value: unknown, key: string): string | undefined => (isRecord(value) && typeof value[key] === "string" ? value[key] : undefined);

/** The first error of a job's error file, to say why it failed. */
async function firstError(client: ProviderClient, fileId: string | undefined, signal: AbortSignal): Promise<string> {
  if (fileId === undefined) return "";
  const lines = String(await client.ask({ path: `/files/${fileId}/content`, timeoutMs: REQUEST_MS, signal, text: true }));
  const message = /"message"\s*:\s*"((?:[^"\\]|\\.){1,200})/.exec(lines)?.[1];
  return message === undefined ? "" : `: ${message}`;
}

/** Vectors by the names of their requests. */
function readOutput(lines: string): { readonly vectors: ReadonlyMap<string, unknown>; readonly tokens: number } {
  const vectors = new Map<string, unknown>();
  let tokens = 0;
  for (const line of lines.split("\n")) {
    if (line.trim() === "") continue;
    let row: unknown;
    try {
      row = JSON.parse(line);
    } catch {
      continue; // A torn line: its request has no vector, which is an error below.
    }
    const name = textAt(row, "custom_id");
    const body = isRecord(row) && isRecord(row["response"]) ? row["response"]["body"] : undefined;
    const found = rowsOf(body);
    if (name !== undefined && found.vectors.length > 0) vectors.set(name, found.vectors[0]);
    tokens += found.tokens ?? 0;
  }
  return { vectors, tokens };
}

async function runJob(
  client: ProviderClient,
  texts: readonly string[],
  batch: FileBatch,
): Promise<{ readonly vectors: readonly unknown[]; readonly tokens: number }> {
  const { signal } = batch;
  const { id } = client.access;
  const lines = texts.map((text, at) => JSON.stringify(batch.line(text, String(at)))).join("\n");
  const file = textAt(await client.ask({ path: "/files", raw: upload(`${lines}\n`), timeoutMs: REQUEST_MS, signal }), "id");
  if (file === undefined) throw new AppError("UNAVAILABLE", `${id} accepted a batch file but returned no id`);
  const job = textAt(await client.ask({ path: "/batches", body: batch.job(file), timeoutMs: REQUEST_MS, signal }), "id");
  if (job === undefined) throw new AppError("UNAVAILABLE", `${id} started a batch but returned no id`);
  const output = await poll(batch, async () => {
    const now = await client.ask({ path: `/batches/${job}`, timeoutMs: REQUEST_MS, signal });
    const status = textAt(now, "status") ?? "";
    if (["failed", "expired", "cancelled", "canceled"].includes(status)) {
      throw new AppError("UNAVAILABLE", `${id}'s batch ended as ${status}${await firstError(client, textAt(now, "error_file_id"), signal)}`);
    }
    if (status !== "completed") return undefined;
    const done = textAt(now, "output_file_id");
    if (done === undefined) throw new AppError("UNAVAILABLE", `${id}'s batch has no output${await firstError(client, textAt(now, "error_file_id"), signal)}`);
    return done;
  });
  const { vectors, tokens } = readOutput(String(await client.ask({ path: `/files/${output}/content`, timeoutMs: REQUEST_MS, signal, text: true })));
  return { vectors: texts.map((_, at) => vectors.get(String(at))), tokens: tokens || estimateAll(texts) };
}

/** Embeds with a file that is uploaded, a job over it, and the file of answers. Several jobs run side by side. */
export async function runFileBatch(client: ProviderClient, texts: readonly string[], batch: FileBatch): Promise<Embedded> {
  const parts: (readonly string[])[] = [];
  for (let at = 0; at < texts.length; at += batch.maxRequests) parts.push(texts.slice(at, at + batch.maxRequests));
  const results: { readonly vectors: readonly unknown[]; readonly tokens: number }[] = [];
  for (let at = 0; at < parts.length; at += batch.settings.concurrency) {
    results.push(...(await Promise.all(parts.slice(at, at + batch.settings.concurrency).map((part) => runJob(client, part, batch)))));
  }
  const vectors = checkVectors(
    client.access.id,
    results.flatMap((result) => result.vectors),
    texts.length,
  );
  return { vectors, tokens: results.reduce((sum, { tokens }) => sum + tokens, 0) };
}
