/** Who answers which message. */
import { choice, group, list, openGroup, text, texts } from "./pieces.ts";
import { peerKind } from "./parts.ts";

export const bindings = list(
  "Sends chats to agents; the most specific match wins.",
  group(
    "One binding.",
    {
      agentId: text("Agent that answers."),
      match: group(
        "All given fields must match.",
        {
          channel: text("Channel id."),
          accountId: text("Account; the default one when absent, * is any."),
          peer: group("One chat.", { kind: peerKind, id: text("Its id.") }, ["kind", "id"]),
          guildId: text("Discord server."),
          teamId: text("Slack or Teams team."),
          roles: texts("Discord roles of the sender."),
        },
        ["channel"],
      ),
    },
    ["agentId", "match"],
  ),
);

export const broadcast = openGroup(
  "Chats that several agents answer: chat id to agent ids.",
  { strategy: choice("All at once or one after the other.", ["parallel", "sequential"]) },
  texts("Agents that answer in this chat."),
);
