import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createSlackPlugin } from "./channel.ts";

export default definePluginEntry({
  id: "slack",
  name: "Slack",
  description: "A Slack app in direct messages, channels and threads.",
  register(api) {
    const channel = createSlackPlugin({
      // Only for tests, which bring a server of their own.
      apiRoot: process.env["OPENCLAW_TEST_SLACK_API_ROOT"],
      runtime: api.runtime,
      log: api.logger,
    });
    api.registerChannel({ plugin: channel });
    api.lifecycle?.onDispose?.(() => channel[Symbol.dispose]());
  },
});
