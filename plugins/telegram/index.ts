import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createTelegramPlugin } from "./channel.ts";

export default definePluginEntry({
  id: "telegram",
  name: "Telegram",
  description: "A Telegram bot in private chats, groups, topics and channels.",
  register(api) {
    const channel = createTelegramPlugin({
      // Only for tests, which bring a server of their own.
      apiRoot: process.env["OPENCLAW_TEST_TELEGRAM_API_ROOT"],
      runtime: api.runtime,
      log: api.logger,
    });
    api.registerChannel({ plugin: channel });
    api.lifecycle?.onDispose?.(() => channel[Symbol.dispose]());
  },
});
