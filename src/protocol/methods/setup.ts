import { AnsweringSchema } from "../answering.ts";
import { method } from "../method.ts";
import { amount, anything, choice, closed, count, done, effect, filled, flag, list, map, maybe, moment, none, text, texts } from "../pieces.ts";

const Issue = closed({
  path: text(),
  message: text(),
  line: maybe(count()),
  column: maybe(count()),
  fix: maybe(text({ description: "What to do." })),
});

const Change = closed({ path: text(), kind: choice(["added", "removed", "changed"]), before: maybe(anything()), after: maybe(anything()) });

const Reload = closed({
  kind: choice(["none", "hot", "restart"]),
  paths: list(closed({ path: text(), does: text({ description: "What this change causes." }) })),
});

const written = { path: text(), hash: text(), reload: Reload };

/** Configuration that is looked at before it is written, and taken back afterwards. Ours. */
export const configViewMethods = {
  "config.check": method({
    access: "operator.admin",
    params: closed({ raw: text({ description: "JSON5: the whole file. Hidden secrets stay unchanged." }) }),
    result: closed({
      valid: flag(),
      issues: list(Issue),
      warnings: list(Issue),
      changes: list(Change, { description: "Compared to the current file. Secrets are hidden." }),
      reload: Reload,
    }),
    effect: false,
    module: "config",
    summary: "Checks a configuration: its problems, what it would change, and whether that needs a restart. Nothing is written.",
  }),
  "config.edit": method({
    access: "operator.admin",
    params: closed({
      raw: maybe(text({ description: "JSON5 to edit. Without it: the file." })),
      set: maybe(list(closed({ path: filled({ description: "Dots and brackets." }), value: anything() }))),
      unset: maybe(texts()),
    }),
    result: closed({ raw: text({ description: "Secrets hidden; comments and order kept." }) }),
    effect: false,
    module: "config",
    summary: "Returns the text of the configuration with values set and removed, for an editor. Nothing is written.",
  }),
  "config.versions": method({
    access: "operator.admin",
    params: none(),
    result: closed({
      versions: list(closed({ id: filled(), at: moment(), bytes: amount(), hash: text(), current: flag(), valid: flag() }), { description: "Newest first." }),
    }),
    effect: false,
    module: "config",
    summary: "Lists the last versions of the configuration file.",
  }),
  "config.version": method({
    access: "operator.admin",
    params: closed({ id: filled() }),
    result: closed({
      id: filled(),
      raw: text({ description: "Secrets hidden." }),
      changes: list(Change, { description: "What restoring it would change." }),
    }),
    effect: false,
    module: "config",
    summary: "Returns one of the last versions of the configuration file.",
  }),
  "config.restore": method({
    access: "operator.admin",
    params: effect({ id: filled(), baseHash: filled() }),
    result: done(written),
    effect: true,
    module: "config",
    summary: "Restores one of the last versions of the configuration file.",
  }),
};

/** Only where this field has this value; a field with choices that nobody set has its first one. */
const When = closed({ path: filled(), is: filled() });

const Field = closed({
  path: filled({ description: "Below the channel's section." }),
  label: text(),
  help: maybe(text()),
  secret: flag(),
  required: flag(),
  placeholder: maybe(text()),
  choices: maybe(list(closed({ value: filled(), label: filled() }), { description: "The first one is the default." })),
  value: maybe(text({ description: "What is set now, of a field with choices." })),
  when: maybe(When),
});

/** One thing in a drawn window; exactly one of its kinds is set. */
const Drawn = closed({
  text: maybe(text()),
  field: maybe(text({ description: "Label of an input; `value` is what it holds." })),
  value: maybe(text()),
  button: maybe(text()),
  switch: maybe(text({ description: "Label of a switch that is on." })),
  command: maybe(text({ description: "A line of a terminal." })),
  mine: maybe(text({ description: "A chat message that the user writes." })),
  theirs: maybe(text({ description: "A chat message that the user gets." })),
  code: maybe(text({ description: "A QR code, with this text below it." })),
});

const Step = closed({
  text: filled(),
  when: maybe(When),
  copy: maybe(
    list(closed({ text: filled(), when: maybe(When) }), {
      description: "Text to paste there. `{gateway}` stands for the public https address of the gateway, `{<path>}` for the value or placeholder of a field.",
    }),
  ),
  picture: maybe(
    closed({
      window: text({ description: "Title of the window." }),
      menu: maybe(texts()),
      shows: maybe(list(Drawn)),
      click: maybe(texts({ description: "Labels to highlight, in this order." })),
    }),
  ),
});

/** The first steps: a model, a channel. Ours. */
export const setupMethods = {
  "setup.status": method({
    access: "operator.read",
    params: none(),
    result: closed({
      answering: AnsweringSchema,
      providers: list(
        closed({
          id: filled(),
          label: text(),
          help: maybe(text()),
          hasKey: flag(),
          from: maybe(text({ description: "Where the key comes from." })),
          model: maybe(text()),
        }),
        { description: "Providers that a key can be added for, the usual ones first." },
      ),
      local: list(closed({ id: filled(), label: text(), url: text(), running: flag(), models: texts() })),
      channels: list(
        closed({
          id: filled(),
          label: text(),
          configured: flag(),
          enabled: flag(),
          help: maybe(text()),
          steps: list(Step, { description: "What to do on the platform before the fields can be filled in." }),
          fields: list(Field),
        }),
      ),
      workspace: text(),
      sessions: amount(),
    }),
    effect: false,
    module: "app",
    summary: "Returns which model answers and why, and what can be added in one step.",
  }),
  "setup.key": method({
    access: "operator.admin",
    params: effect({
      provider: filled(),
      key: maybe(filled({ maxLength: 8192, description: "Absent: the existing one." })),
      model: maybe(filled({ description: "Use this model, whether or not the key could be checked." })),
      check: maybe(flag({ default: true })),
    }),
    result: done({
      provider: filled(),
      model: text({ description: "The model that answers from now on." }),
      offered: maybe(text({ description: "Models that could answer with the key but do not." })),
      checked: choice(["accepted", "refused", "unreachable", "skipped"]),
      detail: maybe(text()),
    }),
    effect: true,
    module: "app",
    summary:
      "Stores a provider's key and selects one of its models. A key that the provider rejects is not stored; a key that could not be checked does not replace a working model.",
  }),
  "setup.local": method({
    access: "operator.admin",
    params: effect({ id: filled(), url: maybe(filled()), model: filled() }),
    result: done({ model: text() }),
    effect: true,
    module: "app",
    summary: "Selects a model that runs on this machine.",
  }),
  "setup.channel": method({
    access: "operator.admin",
    params: effect({ channel: filled(), accountId: maybe(filled()), fields: map(anything()) }),
    result: done({ channel: filled(), accountId: filled(), reload: Reload }),
    effect: true,
    module: "app",
    summary: "Writes a channel's section and enables it.",
  }),
  "route.explain": method({
    access: "operator.read",
    params: closed({
      channel: filled(),
      accountId: maybe(filled()),
      peerKind: maybe(choice(["direct", "group", "channel"])),
      peerId: maybe(filled()),
      parentPeerId: maybe(filled()),
      threadId: maybe(filled()),
      guildId: maybe(filled()),
      teamId: maybe(filled()),
      roles: maybe(texts()),
    }),
    result: closed({
      agentId: filled(),
      sessionKey: filled(),
      matchedBy: filled(),
      because: text({ description: "Why this session was chosen." }),
      binding: maybe(text({ description: "The binding that decided: its place in the configuration." })),
      broadcast: maybe(list(closed({ agentId: filled(), sessionKey: filled() }), { description: "Only these answer." })),
      steps: list(closed({ tier: text(), text: text(), matched: flag() })),
      bindings: list(closed({ path: text(), agentId: text(), tier: text(), text: text(), matched: flag() }), { description: "Result for every binding." }),
    }),
    effect: false,
    module: "routing",
    summary: "Returns which agent and session a message would go to, and why.",
  }),
};
