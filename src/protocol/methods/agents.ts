import { method } from "../method.ts";
import { amount, choice, closed, count, done, effect, filled, flag, list, maybe, moment, none, text } from "../pieces.ts";

const fileFields = {
  name: filled(),
  path: text(),
  missing: flag(),
  size: maybe(amount()),
  updatedAtMs: maybe(moment()),
};
const FileWithContent = closed({
  ...fileFields,
  content: maybe(text()),
  hash: maybe(text({ description: "For `agents.files.set` and `.restore`; absent while there is no such file." })),
});
const seenHash = maybe(
  text({ description: "Hash of the file as the caller has seen it: refused with `CONFLICT` if it has changed. Empty: the file must not exist." }),
);
const fileVersion = { agentId: filled(), name: filled(), id: filled({ maxLength: 200 }) };

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
    summary: "Lists all agents and the default one.",
  }),
  "agents.create": method({
    access: "operator.admin",
    params: effect({ name: filled(), workspace: filled(), emoji: maybe(text()), avatar: maybe(text()), template: maybe(filled()) }),
    result: done({ agentId: filled(), name: filled(), workspace: filled() }),
    effect: true,
    module: "agent",
    summary: "Adds an agent with a workspace and its first files. Its id is derived from its name. `template` selects its files and permissions.",
  }),
  "agents.templates": method({
    access: "operator.read",
    params: none(),
    result: closed({ templates: list(closed({ id: filled(), label: filled(), summary: filled() })) }),
    effect: false,
    module: "agent",
    summary: "Lists the templates for new agents.",
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
      "Removes an agent and the bindings that route to it, stops its turns, and disables its scheduled jobs. Its files are moved to `trash` in the state folder, unless other agents need them.",
  }),
  "agents.files.list": method({
    access: "operator.read",
    params: closed({ agentId: filled() }),
    result: closed({ agentId: filled(), workspace: text(), files: list(closed(fileFields)) }),
    effect: false,
    module: "agent",
    summary: "Lists the workspace files that shape an agent.",
  }),
  "agents.files.get": method({
    access: "operator.read",
    params: closed({ agentId: filled(), name: filled() }),
    result: closed({ agentId: filled(), workspace: text(), file: FileWithContent }),
    effect: false,
    module: "agent",
    summary: "Returns one of these files.",
  }),
  "agents.files.find": method({
    access: "operator.read",
    params: closed({
      agentId: filled(),
      query: maybe(text({ maxLength: 200, description: "Part of the path, or some of its letters in order. Without it: the top-level entries." })),
      limit: maybe(count({ default: 30, maximum: 100 })),
    }),
    result: closed({
      agentId: filled(),
      files: list(
        closed({ path: filled({ description: "Relative to the workspace, with `/`, as the agent's tools read it." }), kind: choice(["file", "folder"]) }),
      ),
      incomplete: flag({ description: "The workspace has more files than were searched." }),
    }),
    effect: false,
    module: "agent",
    summary: "Finds files and folders of a workspace by name, best match first. Hidden ones and `node_modules` are skipped, and links are not followed.",
  }),
  "agents.files.set": method({
    access: "operator.admin",
    params: effect({ agentId: filled(), name: filled(), content: text(), hash: seenHash }),
    result: done({ agentId: filled(), workspace: text(), file: FileWithContent }),
    effect: true,
    module: "agent",
    summary: "Writes one of these files. Both the old and the new text are stored as versions.",
  }),
  "agents.files.versions": method({
    access: "operator.read",
    params: closed({ agentId: filled(), name: filled() }),
    result: closed({
      agentId: filled(),
      name: filled(),
      versions: list(
        closed({
          id: filled(),
          at: moment(),
          by: choice(["page", "agent", "outside"], { description: "`agent`: found after a run that used tools; `outside`: unknown." }),
          runId: maybe(filled()),
          bytes: amount(),
          hash: text(),
          current: flag(),
        }),
      ),
    }),
    effect: false,
    module: "agent",
    summary: "Lists versions of one of these files, newest first: at most 50, 4 MB in total, 90 days.",
  }),
  "agents.files.version": method({
    access: "operator.read",
    params: closed(fileVersion),
    result: closed({ ...fileVersion, content: text(), before: maybe(text({ description: "The previous version, if still stored." })) }),
    effect: false,
    module: "agent",
    summary: "Returns a version of one of these files.",
  }),
  "agents.files.restore": method({
    access: "operator.admin",
    params: effect({ ...fileVersion, hash: seenHash }),
    result: done({ agentId: filled(), workspace: text(), file: FileWithContent }),
    effect: true,
    module: "agent",
    summary: "Restores a version of one of these files.",
  }),
  "agent.identity.get": method({
    access: "operator.read",
    params: closed({ agentId: maybe(filled()), sessionKey: maybe(text()) }),
    result: closed({ agentId: filled(), name: maybe(text()), avatar: maybe(text()), emoji: maybe(text()) }),
    effect: false,
    module: "agent",
    summary: "Returns an agent's name and appearance.",
  }),
};
