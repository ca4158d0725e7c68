/**
 * A model provider for measurements, in a process of its own: OpenAI chat completions over HTTP, streamed or not.
 * `node bench/drivers/mock-model.ts [--port N] [--chunks N] [--gap MS] [--first MS]` prints its address.
 * The last message of the user may say otherwise: `@chunks=400 @gap=5 @first=50 @hold=3 @tool=read @args={"path":"x"}` (`@args` takes the rest of the line).
 * `@size=52` makes every piece that long; `@times=5` makes that many calls of the tool.
 * `@say=text` is answered with the rest of the line, `\n` in it with a new line; `@in=9000 @out=300` are counted as its tokens.
 * `POST /next` takes a list of such plans, `[{"say": "…"}]`: one for each request that follows, whatever its message says.
 * `GET /stats` gives what was asked for, `GET /last` the last request as it came, `GET /times` when the last thousand came, in milliseconds of the clock that
 * all processes share.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    chunks: { type: "string", default: "4" },
    gap: { type: "string", default: "0" },
    first: { type: "string", default: "0" },
  },
});

interface Plan {
  readonly chunks: number;
  /** Characters of a piece; 0: a counted word. */
  readonly size: number;
  readonly gap: number;
  readonly first: number;
  /** Pieces after which nothing more comes and the line stays open. */
  readonly hold: number;
  readonly tool?: string;
  readonly times: number;
  readonly args: string;
  /** The answer, instead of counted words. */
  readonly say?: string;
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
}

interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly unknown[];
}

const stats = { requests: 0, streamed: 0, toolCalls: 0, toolResults: 0, aborted: 0, bytesIn: 0 };
let last = "";
/** The end of the last message of each, when it came, and when it was answered. */
const times: { readonly text: string; readonly at: number; answeredAt?: number }[] = [];
const MOST_TIMES = 1000;
const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const planned: Partial<Plan>[] = [];

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("\n") : "";
}

/** What belongs to this turn: everything after the last answer that called no tool. */
function turnOf(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.findLastIndex((message) => message.role === "assistant" && !message.tool_calls?.length) + 1);
}

function planOf(turn: readonly Message[]): Plan {
  const text = turn
    .filter((message) => message.role === "user")
    .map((message) => textOf(message.content))
    .join("\n");
  const number = (name: string, otherwise: number): number => Number(new RegExp(`@${name}=(\\d+)`).exec(text)?.[1] ?? otherwise);
  const tool = /@tool=([\w.-]+)/.exec(text)?.[1];
  const say = /@say=(.+)/.exec(text)?.[1]?.replaceAll("\\n", "\n");
  const [input, output] = [number("in", 10), number("out", 5)];
  return {
    chunks: number("chunks", Number(values.chunks)),
    size: number("size", 0),
    gap: number("gap", Number(values.gap)),
    first: number("first", Number(values.first)),
    hold: number("hold", -1),
    times: number("times", 1),
    args: /@args=(.+)/.exec(text)?.[1]?.trim() ?? "{}",
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    ...(say === undefined ? {} : { say }),
    // Once the result is there the answer is text.
    ...(tool !== undefined && !turn.some((message) => message.role === "tool") ? { tool } : {}),
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

function wordAt(at: number, size: number): string {
  const word = at === 0 ? "ok" : ` w${at}`;
  return size === 0 ? word : word.padEnd(size, "abcdefghij").slice(0, size);
}

const wordsOf = (plan: Plan): readonly string[] => plan.say?.split(/(?<=\s)/) ?? Array.from({ length: plan.chunks }, (_, at) => wordAt(at, plan.size));

async function stream(plan: Plan, response: ServerResponse): Promise<void> {
  stats.streamed += 1;
  response.once("close", () => (stats.aborted += response.writableFinished ? 0 : 1));
  if (plan.first > 0) await pause(plan.first);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null = null): boolean =>
    response.write(
      `data: ${JSON.stringify({ id: "mock", object: "chat.completion.chunk", model: "mock", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  if (plan.tool !== undefined) {
    const call = { type: "function", function: { name: plan.tool, arguments: plan.args } };
    send({ tool_calls: Array.from({ length: plan.times }, (_, index) => ({ index, id: `call_${(stats.toolCalls += 1)}`, ...call })) });
  } else {
    for (const [at, word] of wordsOf(plan).entries()) {
      if (at === plan.hold) return;
      if (at > 0 && plan.gap > 0) await pause(plan.gap);
      if (response.destroyed) return;
      send({ content: word });
    }
  }
  send({}, plan.tool === undefined ? "stop" : "tool_calls");
  response.write(`data: ${JSON.stringify({ choices: [], usage: plan.usage })}\n\n`);
  response.end("data: [DONE]\n\n");
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url?.endsWith("/stats")) return json(response, stats);
  if (request.url?.endsWith("/models")) return json(response, { object: "list", data: [{ id: "mock", object: "model" }] });
  if (request.url?.endsWith("/last")) return void response.end(last);
  if (request.url?.endsWith("/times")) return json(response, times);
  const at = now();
  const body = await read(request);
  if (request.url?.endsWith("/next")) {
    planned.push(...(JSON.parse(body) as Partial<Plan>[]));
    return json(response, { planned: planned.length });
  }
  last = body;
  stats.requests += 1;
  stats.bytesIn += body.length;
  const asked = JSON.parse(body) as { readonly messages: readonly Message[]; readonly stream?: boolean };
  const turn = turnOf(asked.messages);
  stats.toolResults += turn.filter((message) => message.role === "tool").length;
  const plan = { ...planOf(turn), ...planned.shift() };
  const time: (typeof times)[number] = { text: textOf(asked.messages.at(-1)?.content).slice(-200), at };
  times.push(time);
  if (times.length > MOST_TIMES) times.shift();
  if (asked.stream) {
    await stream(plan, response);
    time.answeredAt = now();
    return;
  }
  json(response, {
    id: "mock",
    choices: [{ index: 0, message: { role: "assistant", content: wordsOf(plan).join("") }, finish_reason: "stop" }],
    usage: plan.usage,
  });
}

const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
server.listen(Number(values.port), "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`));
