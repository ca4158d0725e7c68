import { flag, group, list, text, texts } from "../pieces.ts";
import { groupChat, modelRef } from "../parts.ts";
import { agentTools } from "../tools/agent-tools.ts";
import { agentDefaults } from "./defaults.ts";
import { heartbeat } from "./heartbeat.ts";
import { memorySearch } from "./memory-search.ts";
import { sandbox } from "./sandbox.ts";
import { humanDelay } from "./streaming.ts";
import { agentSubagents } from "./subagents.ts";

const agent = group(
  "One agent.",
  {
    id: text("Its id: part of session keys and folder names."),
    default: flag("Answers messages that no binding routes elsewhere."),
    name: text("Name shown to people."),
    workspace: text("Folder of its files."),
    agentDir: text("Folder of its credentials and model list; no two agents may share one."),
    model: modelRef("Its model."),
    skills: texts("Skills it may use; all when absent, none when empty."),
    memorySearch,
    humanDelay,
    heartbeat,
    identity: group("Identity that people see.", {
      name: text("Name it answers to."),
      theme: text("Character in a few words."),
      emoji: text("Emoji for reactions and lists."),
      avatar: text("Picture: a file of the workspace, an http address or data:."),
    }),
    groupChat: groupChat("Its behaviour in groups."),
    subagents: agentSubagents,
    sandbox,
    tools: agentTools,
  },
  ["id"],
);

export const agents = group("The agents of this gateway.", { defaults: agentDefaults, list: list("All agents; one called main when empty.", agent) });
