/** A feature that configurations of the reference system may set up and that this version does not have. */
export interface UnavailableArea {
  /** Begins the sentence "… is not available in this version". */
  readonly name: string;
  /** Dotted paths of its settings; `*` stands for any key or item. */
  readonly paths: readonly string[];
  /** What to do instead, when there is something. */
  readonly instead?: string;
}

/** Remove an area, or a path of it, when its feature is built: the list may only get shorter. */
export const UNAVAILABLE: readonly UnavailableArea[] = [
  { name: "cron", paths: ["cron"] },
  { name: "the heartbeat", paths: ["agents.defaults.heartbeat", "agents.list.*.heartbeat"] },
  { name: "the browser", paths: ["browser", "agents.defaults.sandbox.browser", "agents.list.*.sandbox.browser"] },
  { name: "the canvas", paths: ["canvasHost"] },
  { name: "talk mode", paths: ["talk"] },
  { name: "text to speech", paths: ["messages.tts"] },
  { name: "memory search", paths: ["memory", "agents.defaults.memorySearch", "agents.list.*.memorySearch"] },
  {
    name: "the webhook endpoint",
    paths: ["hooks.enabled", "hooks.token", "hooks.path", "hooks.presets", "hooks.mappings", "hooks.transformsDir", "hooks.gmail"],
  },
  { name: "loading hooks from files", paths: ["hooks.internal.handlers", "hooks.internal.load"], instead: "a plugin can register them" },
  { name: "starting Tailscale Serve or Funnel", paths: ["gateway.tailscale"], instead: "run tailscale serve or tailscale funnel yourself" },
  { name: "understanding of links", paths: ["tools.links"] },
  { name: "understanding of audio and video", paths: ["tools.media", "audio"] },
  { name: "session maintenance", paths: ["session.maintenance"], instead: "store.retention says how long data is kept" },
  { name: "discovery on the network", paths: ["discovery"] },
  { name: "the node host", paths: ["nodeHost"] },
  { name: "a context engine from a plugin", paths: ["plugins.slots.contextEngine"] },
  { name: "an environment for one plugin", paths: ["plugins.entries.*.env"], instead: "set variables in env.vars" },
  { name: "turning off streaming for one model", paths: ["agents.defaults.models.*.streaming"] },
];
