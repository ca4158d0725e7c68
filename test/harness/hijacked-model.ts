import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** What a model was sent, as a provider sees it. */
export interface SentMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
}

export interface SentTool {
  readonly name: string;
  readonly parameters: { readonly properties?: Readonly<Record<string, { readonly type?: string; readonly enum?: readonly string[] }>> };
}

export interface SentRequest {
  readonly messages: readonly SentMessage[];
  readonly tools: readonly SentTool[];
}

/** A provider whose model does what the message tells it to: `CALLS [{"name","args"}]` and nothing else. */
export interface HijackedModel extends AsyncDisposable {
  /** Address of its API. */
  readonly url: string;
  /** Everything it was ever asked. */
  readonly requests: readonly SentRequest[];
}

export interface HijackedCall {
  readonly name: string;
  /** A text is sent as it is, whatever it says. */
  readonly args: Readonly<Record<string, unknown>> | string;
}

/** The message that makes the model call. */
export const orders = (calls: readonly HijackedCall[]): string => `CALLS ${JSON.stringify(calls)}`;

export const textOf = (content: unknown): string =>
  typeof content === "string" ? content : Array.isArray(content) ? content.map((part) => (part as { text?: string }).text ?? "").join("") : "";

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

/** Sums up when that is asked. Calls while nothing was called since the last message; says `done` after that. */
function deltaFor(messages: readonly SentMessage[], asked: number): { readonly content?: string; readonly tool_calls?: readonly unknown[] } {
  const at = messages.findLastIndex(({ role }) => role === "user");
  if (messages.slice(at).some(({ role }) => role === "tool")) return { content: "done" };
  if (textOf(messages[at]?.content).includes("<conversation>"))
    return { content: "A summary of what was said so far: stories were shared, a file was written, and a command was stopped." };
  const found = /CALLS (\[.*\])/s.exec(textOf(messages[at]?.content))?.[1];
  if (found === undefined) return { content: "nothing to do" };
  const calls = JSON.parse(found) as readonly HijackedCall[];
  const tool_calls = calls.map(({ name, args }, index) => ({
    index,
    id: `call_${asked}_${index}`,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  }));
  return { tool_calls };
}

export async function startHijackedModel(): Promise<HijackedModel> {
  const requests: SentRequest[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { messages, tools = [] } = JSON.parse(body) as { messages?: readonly SentMessage[]; tools?: readonly { function: SentTool }[] };
      // Its provider is also asked for embeddings, which this one does not have.
      if (!messages) {
        response.writeHead(404).end();
        return;
      }
      requests.push({ messages, tools: tools.map((tool) => tool.function) });
      const delta = { role: "assistant", ...deltaFor(messages, requests.length) };
      const base = { id: "c", object: "chat.completion.chunk", created: 1, model: "m1" };
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`);
      const finish_reason = delta.tool_calls ? "tool_calls" : "stop";
      response.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta: {}, finish_reason }], usage })}\n\n`);
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
