/**
 * A model that knows one task of ten steps: open, name and password, sign in, search, find, choose, order, fill the form, send it, download. It reads the
 * refs from the last result, as a model would, and sends a form in the call that fills it.
 */
import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

interface Request {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly unknown[];
}

/** What one run of the task asked for. */
export interface TaskRun {
  readonly calls: number;
  readonly tokens: number;
  /** Tokens of the messages of all requests, without the system prompt and the tools. */
  readonly conversation: number;
  /** The last result. */
  readonly end: string;
}

export interface TaskModel extends AsyncDisposable {
  readonly baseUrl: string;
  /** The run since the last call of this. */
  take(): TaskRun;
}

/** Outlines have more tokens in a character than prose has. */
const CHARS_PER_TOKEN = 3.5;
const tokensOf = (value: unknown): number => Math.ceil((typeof value === "string" ? value : JSON.stringify(value)).length / CHARS_PER_TOKEN);

const textOf = (content: unknown): string =>
  typeof content === "string" ? content : Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("\n") : "";

function refOf(page: string, name: string): string {
  const line = page.split("\n").find((one) => one.includes(`"${name}`));
  const ref = /\[(e\d+)\]/.exec(line ?? "")?.[1];
  if (ref === undefined) throw new Error(`no ref for ${name} in:\n${page}`);
  return ref;
}

type Step = (page: string) => Readonly<Record<string, unknown>>;
const act = (request: Readonly<Record<string, unknown>>) => ({ action: "act", request });

const stepsFor = (site: string): readonly Step[] => [
  () => ({ action: "open", targetUrl: `${site}/` }),
  (page) =>
    act({
      kind: "fill",
      fields: [
        { ref: refOf(page, "User"), value: "ada" },
        { ref: refOf(page, "Password"), value: "lamp" },
      ],
      submit: true,
    }),
  (page) => act({ kind: "click", ref: refOf(page, "Search") }),
  (page) => act({ kind: "type", ref: refOf(page, "Find"), text: "lamp", submit: true }),
  (page) => act({ kind: "click", ref: refOf(page, "Blue lamp") }),
  (page) => act({ kind: "click", ref: refOf(page, "Order") }),
  (page) =>
    act({
      kind: "fill",
      fields: [
        { ref: refOf(page, "Name"), value: "Ada" },
        { ref: refOf(page, "Amount"), value: 2 },
        { ref: refOf(page, "Size"), value: "Large" },
        { ref: refOf(page, "Gift"), value: true },
      ],
      submit: true,
    }),
  (page) => act({ kind: "click", ref: refOf(page, "Invoice") }),
];

async function read(request: IncomingMessage): Promise<Request> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString("utf8")) as Request;
}

/** What belongs to this run: everything after the last message of the user. */
const resultsOf = ({ messages }: Request): readonly string[] =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === "user"))
    .filter(({ role }) => role === "tool")
    .map(({ content }) => textOf(content));

export async function startTaskModel(site: string): Promise<TaskModel> {
  const steps = stepsFor(site);
  const nothing = (): TaskRun => ({ calls: 0, tokens: 0, conversation: 0, end: "" });
  let run = nothing();
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const asked = await read(request);
      const results = resultsOf(asked);
      const conversation = tokensOf(asked.messages.filter(({ role }) => role !== "system"));
      const tokens = run.tokens + conversation + tokensOf(asked.messages.filter(({ role }) => role === "system")) + tokensOf(asked.tools ?? []);
      const step = steps[results.length];
      run = { calls: run.calls + (step ? 1 : 0), tokens, conversation: run.conversation + conversation, end: results.at(-1) ?? "" };
      const args = step?.(results.at(-1) ?? "");
      const call = { index: 0, id: `call_${results.length}`, type: "function", function: { name: "browser", arguments: JSON.stringify(args) } };
      const delta = args ? { tool_calls: [call] } : { content: "done" };
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const choice of [
        { index: 0, delta, finish_reason: null },
        { index: 0, delta: {}, finish_reason: args ? "tool_calls" : "stop" },
      ])
        response.write(`data: ${JSON.stringify({ id: "task", object: "chat.completion.chunk", model: "task", choices: [choice] })}\n\n`);
      response.end("data: [DONE]\n\n");
    };
    answer().catch((error: unknown) => {
      console.error(error);
      response.writeHead(400).end(JSON.stringify({ error: { message: String(error) } }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    take() {
      const done = run;
      run = nothing();
      return done;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
