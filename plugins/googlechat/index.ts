import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createGoogleChatPlugin } from "./channel.ts";

export default definePluginEntry({
  id: "googlechat",
  name: "Google Chat",
  description: "A Google Chat app in direct messages, spaces and threads.",
  register(api) {
    const channel = createGoogleChatPlugin({
      // Only for tests, which bring a server of their own.
      apiRoot: process.env["OPENCLAW_TEST_GOOGLECHAT_API_ROOT"],
      openStore: () => api.runtime.state.openKeyedStore?.({ namespace: "typing" }),
    });
    api.registerChannel({ plugin: channel });
    api.lifecycle?.onDispose?.(() => channel[Symbol.dispose]());
  },
});
