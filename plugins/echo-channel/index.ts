import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createEcho } from "./channel.ts";

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
  },
});
