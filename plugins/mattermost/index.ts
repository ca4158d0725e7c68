import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createMattermostPlugin } from "./channel.ts";

export default definePluginEntry({
  id: "mattermost",
  name: "Mattermost",
  description: "A Mattermost bot in direct messages, channels, groups and threads.",
  register(api) {
    const channel = createMattermostPlugin({ openStore: () => api.runtime.state.openKeyedStore?.({ namespace: "positions" }) });
    api.registerChannel({ plugin: channel });
    api.lifecycle?.onDispose?.(() => channel[Symbol.dispose]());
  },
});
