import { method } from "../method.ts";
import { choice, closed, filled, flag, free, list, maybe, text } from "../pieces.ts";

const source = choice(["core", "plugin", "channel"]);

const Verdict = closed({
  name: filled(),
  allowed: flag(),
  layer: maybe(text({ description: "The policy step that decided." })),
  path: maybe(text({ description: "Its path in the configuration." })),
  entry: maybe(text({ description: "The entry there that decided." })),
  why: text(),
  source: text({ description: "`core`, `plugin:<id>` or `channel:<id>`." }),
});

const FileDecision = closed({ decision: choice(["allow", "ask", "deny"]), why: text() });

const FileAnswer = closed({
  path: filled({ description: "The real path." }),
  read: FileDecision,
  write: FileDecision,
});

const Listed = closed({
  name: filled(),
  label: maybe(text()),
  description: text(),
  source,
  pluginId: maybe(filled()),
  ownerOnly: maybe(flag()),
  optional: maybe(flag()),
  parameters: free(),
});

/** The tools that agents can use, and who may use them. */
export const toolsMethods = {
  "tools.catalog": method({
    access: "operator.read",
    params: closed({ agentId: maybe(filled()) }),
    result: closed({ agentId: filled(), tools: list(Listed) }),
    effect: false,
    module: "tools",
    summary: "Lists all tools that an agent could have.",
  }),
  "tools.explain": method({
    access: "operator.read",
    params: closed({
      sessionKey: maybe(filled()),
      agentId: maybe(filled()),
      tool: maybe(filled()),
      path: maybe(filled({ description: "An absolute file path: the response includes what the agent may do with it." })),
    }),
    result: closed({ agentId: filled(), sessionKey: filled(), tools: list(Verdict), file: maybe(FileAnswer) }),
    effect: false,
    module: "tools",
    summary: "Returns for each tool whether a session may use it, and what decided that.",
  }),
};
