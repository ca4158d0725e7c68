import { randomUUID } from "node:crypto";
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import type { IncomingMessage } from "node:http";
import { createEcho, type InboundMessage } from "./channel.ts";

const MAX_BYTES = 64 * 1024;

/** The message in a request; undefined when it is none. */
async function readMessage(request: IncomingMessage): Promise<InboundMessage | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BYTES) return undefined;
    parts.push(part);
  }
  try {
    const { from, text, id = randomUUID() } = JSON.parse(Buffer.concat(parts).toString("utf8")) as Partial<InboundMessage>;
    return typeof from === "string" && from !== "" && typeof text === "string" && typeof id === "string" ? { from, text, id } : undefined;
  } catch {
    return undefined;
  }
}

export default definePluginEntry({
  id: "echo-channel",
  name: "Echo channel",
  description: "A channel that keeps what is sent over it, for trying things out.",
  register(api) {
    const echo = createEcho();
    api.registerChannel({ plugin: echo.channel });
    api.registerHttpRoute({
      path: "/plugins/echo-channel/sent",
      auth: "gateway",
      match: "exact",
      handler(_request, response) {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ sent: echo.sent() }));
      },
    });
    api.registerHttpRoute({
      path: "/plugins/echo-channel/say",
      auth: "gateway",
      match: "exact",
      async handler(request, response) {
        const answer = (status: number, body: object): void =>
          void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
        if (request.method !== "POST") return answer(405, { error: "POST a message: { from, text, id? }" });
        const message = await readMessage(request);
        if (!message) return answer(400, { error: "expected { from, text, id? }" });
        const taken = await echo.receive(message);
        return taken ? answer(202, taken) : answer(503, { error: "the account does not run" });
      },
    });
  },
});
