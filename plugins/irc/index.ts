import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createIrcPlugin } from "./channel.ts";

export default definePluginEntry({
  id: "irc",
  name: "IRC",
  description: "Classic networks: channels and private messages.",
  register(api) {
    api.registerChannel({ plugin: createIrcPlugin({ env: process.env }) });
  },
});
