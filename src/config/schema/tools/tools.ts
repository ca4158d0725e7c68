import { advanced, choice, flag, group, map, text, texts } from "../pieces.ts";
import { sandboxTools } from "./agent-tools.ts";
import { elevated, exec, fs } from "./exec.ts";
import { loopDetection } from "./loop-detection.ts";
import { linkTools, mediaTools } from "./media.ts";
import { profiledPolicy, toolPolicy } from "./policy.ts";
import { web } from "./web.ts";

const message = group("The message tool.", {
  allowCrossContextSend: flag("Older switch for sending anywhere.", advanced),
  crossContext: group("Sending to another chat than the one the agent answers.", {
    allowWithinProvider: flag("To other chats of the same channel."),
    allowAcrossProviders: flag("To other channels."),
    marker: group("Note added to such messages.", { enabled: flag("Add it."), prefix: text("Text before."), suffix: text("Text after.") }),
  }),
  broadcast: group("Sending to many chats at once.", { enabled: flag("Allow it.") }),
});

const reach = group("One tool.", { reads: choice("What it brings in.", ["private", "untrusted", "both"]), outbound: flag("It can carry data out.") });

export const tools = group("What agents may do.", {
  ...profiledPolicy,
  web,
  media: mediaTools,
  links: linkTools,
  sessions: group("The session tools.", { visibility: choice("Which sessions an agent sees.", ["self", "tree", "agent", "all"]) }),
  loopDetection,
  taint: group("Asks before data may leave a session that has seen both private data and text of others.", {
    enabled: flag("Ask."),
    tools: map("What a tool reads and whether it can send, by name; * for tools that nobody knows.", reach),
  }),
  message,
  agentToAgent: group("Messages between agents.", { enabled: flag("Allow them."), allow: texts("Agents that take part.") }),
  elevated,
  exec,
  fs,
  subagents: group("Tools of subagents.", { tools: toolPolicy("Which tools a subagent has.") }),
  sandbox: sandboxTools,
});
