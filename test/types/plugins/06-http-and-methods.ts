import type { IncomingMessage, ServerResponse } from "node:http";
import { definePluginEntry, type GatewayRequestHandlerOptions } from "openclaw/plugin-sdk/plugin-entry";
import { readJsonBodyWithLimit, rejectNonPostWebhookRequest } from "openclaw/plugin-sdk";

async function webhook(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (rejectNonPostWebhookRequest(req, res)) return;
  const body = await readJsonBodyWithLimit(req, { maxBytes: 1024 });
  res.statusCode = body.ok ? 200 : body.code === "INVALID_JSON" ? 400 : 413;
  res.end(body.ok ? JSON.stringify(body.value) : body.error);
}

export default definePluginEntry({
  id: "hooks-in",
  name: "Hooks in",
  description: "A webhook and a method.",
  register(api) {
    api.registerHttpRoute({ path: "/hooks-in", handler: webhook, auth: "plugin", match: "exact" });
    api.registerHttpHandler((req, res) => {
      if (req.url !== "/ping") return false;
      res.end("pong");
      return true;
    });
    api.registerGatewayMethod("hooksIn.last", async ({ params, respond }: GatewayRequestHandlerOptions) => {
      if (typeof params["id"] !== "string") return respond(false, undefined, { code: "INVALID_REQUEST", message: "id is required" });
      respond(true, { id: params["id"] });
    });
    api.registerHook(["command:new", "message"], async (event) => void event.messages.push(`seen ${event.action}`), { name: "seen", description: "Says so." });
  },
});
