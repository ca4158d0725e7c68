import { randomUUID } from "node:crypto";
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { fieldsOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import { readJsonWebhookBodyOrReject } from "openclaw/plugin-sdk/webhook-request-guards";
import { createEcho } from "./channel.ts";

const MAX_BYTES = 64 * 1024;

export default definePluginEntry({
  id: "echo-channel",
  name: "Echo channel",
  description: "A channel that stores what is sent over it, for testing.",
  register(api) {
    const echo = createEcho();
    api.registerChannel({ plugin: echo.channel });
    api.registerHttpRoute({
      path: "/plugins/echo-channel/sent",
      auth: "gateway",
      match: "exact",
      handler(_request, response) {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ sent: echo.sent }));
      },
    });
    api.registerHttpRoute({
      path: "/plugins/echo-channel/say",
      auth: "gateway",
      match: "exact",
      async handler(req, res) {
        const answer = (status: number, body: object): void => void res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
        if (req.method !== "POST") return answer(405, { error: "POST a message: { from, text, id? }" });
        const body = await readJsonWebhookBodyOrReject({ req, res, maxBytes: MAX_BYTES });
        if (!body.ok) return;
        const { from, text, id = randomUUID() } = fieldsOf(body.value) ?? {};
        if (textOf(from) === undefined || typeof text !== "string" || typeof id !== "string") return answer(400, { error: "expected { from, text, id? }" });
        const taken = await echo.receive({ from: String(from), text, id });
        return taken ? answer(202, taken) : answer(503, { error: "the account is not running" });
      },
    });
  },
});
