import { method } from "../method.ts";
import { amount, choice, closed, done, effect, filled, flag, list, maybe, moment, none, text } from "../pieces.ts";

const fileFields = {
  name: filled(),
  path: text(),
  missing: flag(),
  size: maybe(amount()),
  updatedAtMs: maybe(moment()),
};
const FileWithContent = closed({ ...fileFields, content: maybe(text()) });

/** Agents and the files that shape them. */
export const agentsMethods = {
  "agents.list": method({
    access: "operator.read",
    params: none(),
    result: closed({
      defaultId: filled(),
      mainKey: filled(),
      scope: choice(["per-sender", "global"]),
      agents: list(
        closed({
          id: filled(),
          name: maybe(text()),
          identity: maybe(closed({ name: maybe(text()), theme: maybe(text()), emoji: maybe(text()), avatar: maybe(text()), avatarUrl: maybe(text()) })),
        }),
      ),
    }),
    effect: false,
    module: "agent",
    summary: "All agents and which one is the default.",
  }),
  "agents.create": method({
    access: "operator.admin",
    params: effect({ name: filled(), workspace: filled(), emoji: maybe(text()), avatar: maybe(text()), template: maybe(filled()) }),
    result: done({ agentId: filled(), name: filled(), workspace: filled() }),
    effect: true,
    module: "agent",
    summary: "Adds an agent with a workspace and its first files. Its id is made of its name. `template` chooses its files and what it may do.",
  }),
  "agents.templates": method({
    access: "operator.read",
    params: none(),
    result: closed({ templates: list(closed({ id: filled(), label: filled(), summary: filled() })) }),
    effect: false,
    module: "agent",
    summary: "What an agent can begin with.",
  }),
  "agents.update": method({
    access: "operator.admin",
    params: effect({
      agentId: filled(),
      name: maybe(filled()),
      workspace: maybe(filled()),
      model: maybe(filled()),
      avatar: maybe(text()),
    }),
    result: done({ agentId: filled() }),
    effect: true,
    module: "agent",
    summary: "Changes an agent.",
  }),
  "agents.delete": method({
    access: "operator.admin",
    params: effect({ agentId: filled(), deleteFiles: maybe(flag({ default: true })) }),
    result: done({ agentId: filled(), removedBindings: amount(), disabledJobs: maybe(list(closed({ id: filled(), name: text() }))) }),
    effect: true,
    module: "agent",
    summary:
      "Removes an agent and what routes to it, stops its turns, and switches off its scheduled jobs. Its files are not erased: they go to `trash` in the state folder, unless other agents need them.",
  }),
  "agents.files.list": method({
    access: "operator.read",
    params: closed({ agentId: filled() }),
    result: closed({ agentId: filled(), workspace: text(), files: list(closed(fileFields)) }),
    effect: false,
    module: "agent",
    summary: "The files of a workspace that shape its agent.",
  }),
  "agents.files.get": method({
    access: "operator.read",
    params: closed({ agentId: filled(), name: filled() }),
    result: closed({ agentId: filled(), workspace: text(), file: FileWithContent }),
    effect: false,
    module: "agent",
    summary: "One of these files.",
  }),
  "agents.files.set": method({
    access: "operator.admin",
    params: effect({ agentId: filled(), name: filled(), content: text() }),
    result: done({ agentId: filled(), workspace: text(), file: FileWithContent }),
    effect: true,
    module: "agent",
    summary: "Writes one of these files.",
  }),
  "agent.identity.get": method({
    access: "operator.read",
    params: closed({ agentId: maybe(filled()), sessionKey: maybe(text()) }),
    result: closed({ agentId: filled(), name: maybe(text()), avatar: maybe(text()), emoji: maybe(text()) }),
    effect: false,
    module: "agent",
    summary: "How an agent calls and shows itself.",
  }),
};
