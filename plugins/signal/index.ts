import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createSignalPlugin } from "./channel.ts";

export default definePluginEntry({
  id: "signal",
  name: "Signal",
  description: "A number on Signal, through signal-cli or its container.",
  register(api) {
    const channel = createSignalPlugin({ openStore: () => api.runtime.state.openKeyedStore?.({ namespace: "positions" }) });
    api.registerChannel({ plugin: channel });
    api.lifecycle?.onDispose?.(() => channel[Symbol.dispose]());
  },
});
