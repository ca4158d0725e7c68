import { join } from "node:path";
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createWhatsAppPlugin } from "./channel.ts";
import { createLoginTool } from "./tool.ts";

export default definePluginEntry({
  id: "whatsapp",
  name: "WhatsApp",
  description: "Your own number, linked by QR code.",
  register(api) {
    const { runtime } = api;
    const channel = createWhatsAppPlugin({
      credentialsDir: process.env["OPENCLAW_OAUTH_DIR"]?.trim() || join(runtime.state.resolveStateDir(), "credentials"),
      // Only for tests, which bring a server of their own.
      url: process.env["OPENCLAW_TEST_WHATSAPP_URL"],
      runtime,
      log: api.logger,
    });
    api.registerChannel({ plugin: channel });
    api.registerTool(
      createLoginTool({ accounts: channel.accounts, logins: channel.logins, config: () => runtime.config.current?.() ?? runtime.config.loadConfig() }),
    );
    api.lifecycle?.onDispose?.(() => void channel.logins.cancelAll());
  },
});
