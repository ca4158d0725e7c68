import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { vectorOf } from "./vectors.ts";

/** What goes wrong with one request. `silent` never answers; `refused` is an error page. */
export type EmbeddingFault =
  | { readonly status: number; readonly retryAfter?: string; readonly message?: string }
  | "silent"
  | "reset"
  | "torn"
  | "null-values"
  | "nan"
  | "zero"
  | "other-dims"
  | "too-few"
  | "redirect";

export interface EmbeddingRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The texts to embed, in whatever form they came. */
  readonly texts: readonly string[];
  readonly body: unknown;
}

/** Stands in for OpenAI, Mistral, Voyage (`/v1`), Gemini (`/v1beta`) and Ollama (`/api`), over a real socket. */
export interface EmbeddingServer extends AsyncDisposable {
  readonly origin: string;
  /** Every request that came, in order. */
  readonly requests: EmbeddingRequest[];
  /** Texts that were embedded and answered. */
  readonly texts: string[];
  /** Decides about each request for vectors; `count` is how many came before it. */
  fault: (request: EmbeddingRequest, count: number) => EmbeddingFault | undefined;
  /** Lets a job end in another way than with its vectors. */
  batchFault: (count: number) => "failed" | "no-output" | "torn" | undefined;
  /** A job is done after it was looked at this often. */
  looks: number;
  /** Numbers in a vector. */
  dims: number;
}

interface Form {
  readonly texts: (body: never) => readonly string[];
  readonly answer: (vectors: readonly unknown[], tokens: number) => unknown;
}

const textOfContent = (content: { readonly parts: readonly { readonly text: string }[] }): string => content.parts.map(({ text }) => text).join("");
const inputOf = ({ input }: { readonly input: string | readonly string[] }): readonly string[] => [input].flat();

/** The forms that requests and answers have, by the end of the path. */
const FORMS: readonly (readonly [RegExp, Form])[] = [
  [
    /\/v1\/embeddings$/,
    {
      texts: inputOf,
      answer: (vectors, tokens) => ({
        object: "list",
        data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })).toReversed(),
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      }),
    },
  ],
  [/:embedContent$/, { texts: ({ content }: { content: never }) => [textOfContent(content)], answer: ([values]) => ({ embedding: { values } }) }],
  [
    /:batchEmbedContents$/,
    {
      texts: ({ requests }: { requests: { content: never }[] }) => requests.map(({ content }) => textOfContent(content)),
      answer: (vectors) => ({ embeddings: vectors.map((values) => ({ values })) }),
    },
  ],
  [/\/api\/embed$/, { texts: inputOf, answer: (embeddings, prompt_eval_count) => ({ embeddings, prompt_eval_count }) }],
];

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

/** The file of a form. */
const fileIn = (form: string): string => /filename="[^"]*"[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(form)?.[1] ?? "";

interface Job {
  readonly lines: readonly string[];
  looks: number;
}

export async function startEmbeddingServer(dims = 64): Promise<EmbeddingServer> {
  const files = new Map<string, string>();
  const jobs = new Map<string, Job>();
  let asked = 0;
  let began = 0;

  const vectorsFor = (texts: readonly string[], fault: EmbeddingFault | undefined): readonly unknown[] => {
    const used = fault === "too-few" ? texts.slice(1) : texts;
    return used.map((text) => {
      if (fault === "zero") return Array.from({ length: state.dims }, () => 0);
      const vector: unknown[] = vectorOf(text, fault === "other-dims" ? state.dims + 1 : state.dims);
      if (fault === "null-values") vector[0] = null;
      return vector;
    });
  };

  function send(response: ServerResponse, value: unknown, fault?: EmbeddingFault): void {
    const text = fault === "nan" ? JSON.stringify(value).replace(/\[-?[\d.e-]+,/, "[NaN,") : JSON.stringify(value);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(fault === "torn" ? text.slice(0, Math.floor(text.length / 2)) : text);
  }

  function refuse(response: ServerResponse, { status, retryAfter, message = "something is wrong" }: Exclude<EmbeddingFault, string>): void {
    response.writeHead(status, { "content-type": "application/json", ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }) });
    response.end(JSON.stringify({ error: { message } }));
  }

  /** The JSONL of a job's answers. */
  function outputOf(lines: readonly string[], fault: ReturnType<EmbeddingServer["batchFault"]>): string {
    const rows = lines.map((line) => {
      const { custom_id, body } = JSON.parse(line) as { custom_id: string; body: { input: string | string[] } };
      const texts = inputOf(body);
      state.texts.push(...texts);
      const data = texts.map((text, index) => ({ index, embedding: vectorOf(text, state.dims) }));
      return JSON.stringify({ custom_id, response: { status_code: 200, body: { data, usage: { total_tokens: 1 } } } });
    });
    const text = rows.toReversed().join("\n");
    return fault === "torn" ? text.slice(0, text.length - 100) : text;
  }

  function fileApi(request: IncomingMessage, response: ServerResponse, path: string, text: string): boolean {
    if (path.endsWith("/v1/files") && request.method === "POST") {
      const id = `file-${files.size}`;
      files.set(id, fileIn(text));
      send(response, { id });
    } else if (path.endsWith("/v1/batches") && request.method === "POST") {
      const { input_file_id } = JSON.parse(text) as { input_file_id: string };
      const id = `batch-${jobs.size}`;
      jobs.set(id, { lines: (files.get(input_file_id) ?? "").trim().split("\n"), looks: 0 });
      send(response, { id, status: "validating" });
    } else if (/\/v1\/batches\/[^/]+$/.test(path)) {
      const id = path.slice(path.lastIndexOf("/") + 1);
      const job = jobs.get(id);
      if (!job || ++job.looks < state.looks) return (send(response, { id, status: "in_progress" }), true);
      const fault = state.batchFault(began);
      began += 1;
      const output = `${id}-output`;
      files.set(output, fault === "failed" ? "" : outputOf(job.lines, fault));
      files.set(`${id}-errors`, `${JSON.stringify({ response: { body: { error: { message: "the job was refused" } } } })}\n`);
      if (fault === "failed") send(response, { id, status: "failed", error_file_id: `${id}-errors` });
      else send(response, { id, status: "completed", ...(fault === "no-output" ? {} : { output_file_id: output }) });
    } else if (/\/v1\/files\/[^/]+\/content$/.test(path)) {
      response.end(files.get(path.split("/").at(-2) ?? "") ?? "");
    } else return false;
    return true;
  }

  function geminiJobs(request: IncomingMessage, response: ServerResponse, path: string, text: string): boolean {
    type Requests = { batch: { inputConfig: { requests: { requests: { request: { content: never }; metadata: { key: string } }[] } } } };
    if (path.endsWith(":asyncBatchEmbedContent")) {
      const { batch } = JSON.parse(text) as Requests;
      const id = `batches/b${jobs.size}`;
      jobs.set(id, { lines: batch.inputConfig.requests.requests.map((line) => JSON.stringify(line)), looks: 0 });
      send(response, { name: id, metadata: { state: "BATCH_STATE_PENDING" } });
      return true;
    }
    const id = /batches\/b\d+$/.exec(path)?.[0];
    const job = id === undefined ? undefined : jobs.get(id);
    if (!job || request.method !== "GET") return false;
    if (++job.looks < state.looks) return (send(response, { name: id, metadata: { state: "BATCH_STATE_RUNNING" } }), true);
    const fault = state.batchFault(began);
    began += 1;
    if (fault === "failed") return (send(response, { name: id, done: true, error: { message: "the job was refused" } }), true);
    const inlinedResponses = job.lines.map((line) => {
      const row = JSON.parse(line) as Requests["batch"]["inputConfig"]["requests"]["requests"][number];
      const content = textOfContent(row.request.content);
      state.texts.push(content);
      return { metadata: row.metadata, response: { embedding: { values: vectorOf(content, state.dims) } } };
    });
    send(response, { name: id, done: true, metadata: { state: "BATCH_STATE_SUCCEEDED", output: { inlinedResponses: { inlinedResponses } } } });
    return true;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    const text = await bodyOf(request);
    const form = FORMS.find(([pattern]) => pattern.test(path))?.[1];
    const body: unknown = form ? JSON.parse(text) : text;
    const seen: EmbeddingRequest = { path, headers: request.headers, texts: form ? form.texts(body as never) : [], body };
    state.requests.push(seen);
    if (!form) {
      if (!fileApi(request, response, path, text) && !geminiJobs(request, response, path, text)) refuse(response, { status: 404, message: `no ${path} here` });
      return;
    }
    const fault = state.fault(seen, asked);
    asked += 1;
    if (fault === "silent") return;
    if (fault === "reset") return void request.socket.destroy();
    if (fault === "redirect") return void response.writeHead(307, { location: `${state.origin}/elsewhere` }).end();
    if (typeof fault === "object") return refuse(response, fault);
    if (fault === undefined) state.texts.push(...seen.texts);
    send(response, form.answer(vectorsFor(seen.texts, fault), seen.texts.length * 3), fault);
  }

  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const state: EmbeddingServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    texts: [],
    fault: () => undefined,
    batchFault: () => undefined,
    looks: 2,
    dims,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return state;
}
