/** The hooks that are part of this program, known without their code. */
import type { Hook } from "../hook.ts";

const hook = (name: string, emoji: string, events: readonly string[], description: string, config: readonly string[] = ["workspace.dir"]): Hook => ({
  name,
  description,
  source: "openclaw-bundled",
  key: name,
  events,
  exportName: "default",
  emoji,
  always: false,
  os: [],
  requires: { bins: [], anyBins: [], env: [], config },
  install: [],
});

export const BUNDLED_HOOKS: readonly Hook[] = [
  hook("boot-md", "🚀", ["gateway:startup"], "Run BOOT.md of each agent's workspace when the gateway starts"),
  hook("bootstrap-extra-files", "📎", ["agent:bootstrap"], "Show the agent more workspace files, chosen by path patterns"),
  hook("command-logger", "📝", ["command"], "Log every command to logs/commands.log in the state folder", []),
  hook("session-memory", "💾", ["command:new"], "Save the conversation to the workspace's memory folder when /new is used"),
];
