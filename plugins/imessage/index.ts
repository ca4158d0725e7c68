import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createIMessagePlugin } from "./channel.ts";

export default definePluginEntry({
  id: "imessage",
  name: "iMessage",
  description: "iMessage and SMS of a Mac, through the program imsg.",
  register(api) {
    const channel = createIMessagePlugin({
      openStore: () => api.runtime.state.openKeyedStore?.({ namespace: "positions" }),
      run: (argv, options) => api.runtime.system.runCommandWithTimeout(argv, options),
    });
    api.registerChannel({ plugin: channel });
  },
});
