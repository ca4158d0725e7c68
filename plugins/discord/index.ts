import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createDiscordPlugin } from "./channel.ts";

export default definePluginEntry({
  id: "discord",
  name: "Discord",
  description: "A Discord bot in direct messages, servers, threads and forums.",
  register(api) {
    const channel = createDiscordPlugin({
      // Only for tests, which bring a server of their own.
      apiRoot: process.env["OPENCLAW_TEST_DISCORD_API_ROOT"],
      pluralkitRoot: process.env["OPENCLAW_TEST_DISCORD_PLURALKIT_ROOT"],
      runtime: api.runtime,
    });
    api.registerChannel({ plugin: channel });
    api.lifecycle?.onDispose?.(() => channel[Symbol.dispose]());
  },
});
