import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { HijackedCall } from "./hijacked-model.ts";

/** One answer: a text in the pieces that it is streamed in, or calls. */
export type PlannedAnswer = { readonly say: readonly string[] } | { readonly calls: readonly HijackedCall[] };

/** A provider whose model gives the answers that were planned, in order, whatever it is asked; `done` after them. */
export interface TalkingModel extends AsyncDisposable {
  readonly url: string;
  /** Bodies of everything it was asked. */
  readonly requests: readonly string[];
  plan(...answers: readonly PlannedAnswer[]): void;
}

export async function startTalkingModel(): Promise<TalkingModel> {
  const requests: string[] = [];
  const planned: PlannedAnswer[] = [];
  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    requests.push(body);
    const answer = planned.shift() ?? { say: ["done"] };
    const base = { id: "c", object: "chat.completion.chunk", created: 1, model: "m1" };
    const send = (delta: object, finish_reason: string | null = null): void =>
      void response.write(
        `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\n`,
      );
    response.writeHead(200, { "content-type": "text/event-stream" });
    if ("say" in answer) for (const content of answer.say) send({ role: "assistant", content });
    else {
      const tool_calls = answer.calls.map(({ name, args }, index) => ({
        index,
        id: `call_${requests.length}_${index}`,
        type: "function",
        function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
      }));
      send({ role: "assistant", tool_calls });
    }
    send({}, "say" in answer ? "stop" : "tool_calls");
    response.end("data: [DONE]\n\n");
  }
  const server = createServer((request, response) => void reply(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    plan: (...answers) => void planned.push(...answers),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
