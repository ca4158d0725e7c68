import { describe, expect, test } from "vitest";
import { accessRequest, inGroup, KINDS, inboundEvent } from "./access.fixture.ts";
import { effectiveChannelConfig, decideAccess, type AccessDecision } from "../index.ts";

const telegram = (section: object) => ({ telegram: section });
const brief = ({ allow, reason }: AccessDecision): string => `${allow ? "yes" : "no"} ${reason}`;

describe("direct messages", () => {
  test.each([
    ["a channel without settings offers pairing", {}, [], "no dm-pairing"],
    ["who was paired may write", {}, ["7"], "yes dm-pairing"],
    ["who is listed may write", { allowFrom: [7] }, [], "yes dm-allowlist"],
    ["a list may spell ids with the channel's name", { dmPolicy: "allowlist", allowFrom: ["telegram:7"] }, [], "yes dm-allowlist"],
    ["… and with its short name", { dmPolicy: "allowlist", allowFrom: ["tg:7"] }, [], "yes dm-allowlist"],
    ["who is not listed may not", { dmPolicy: "allowlist", allowFrom: ["8"] }, [], "no dm-allowlist"],
    ["who was paired counts beside a list", { dmPolicy: "allowlist", allowFrom: ["8"] }, ["7"], "yes dm-pairing"],
    ["open with a star lets everybody in", { dmPolicy: "open", allowFrom: ["*"] }, [], "yes dm-open"],
    ["open without a star is closed", { dmPolicy: "open", allowFrom: ["8"] }, [], "no dm-allowlist"],
    ["open without a list is closed", { dmPolicy: "open" }, [], "no dm-allowlist"],
    ["disabled keeps everybody out, also the paired", { dmPolicy: "disabled", allowFrom: ["*"] }, ["7"], "no dm-disabled"],
    ["the older dm.policy is read", { dm: { policy: "disabled" } }, [], "no dm-disabled"],
    ["the older dm.enabled is read", { dm: { enabled: false }, allowFrom: ["7"] }, [], "no dm-disabled"],
    ["a channel that is off takes nothing", { enabled: false, allowFrom: ["7"] }, [], "no channel-disabled"],
    ["a policy that nobody knows is pairing", { dmPolicy: "everyone" }, [], "no dm-pairing"],
  ] as const)("%s", (_name, section, approved, verdict) => {
    expect(brief(decideAccess(accessRequest(telegram(section), inboundEvent(), { approved: new Set(approved) })))).toBe(verdict);
  });

  test("a pairing code is offered for messages, not for reactions and the like", () => {
    const offered = KINDS.filter((kind) => {
      const verdict = decideAccess(accessRequest({}, inboundEvent({ kind })));
      return !verdict.allow && verdict.pairing;
    });
    expect(offered).toEqual(["message", "command"]);
    expect(decideAccess(accessRequest({}, inboundEvent({ sender: { id: " " } })))).toMatchObject({ allow: false, pairing: false });
    expect(decideAccess(accessRequest(telegram({ dmPolicy: "allowlist" }), inboundEvent()))).toMatchObject({ allow: false, pairing: false });
  });

  test("an alternative id of the sender counts, a name does not", () => {
    const section = telegram({ allowFrom: ["7", "anna", "@anna"] });
    expect(decideAccess(accessRequest(section, inboundEvent({ sender: { id: "x", otherIds: ["7"] } }))).allow).toBe(true);
    expect(decideAccess(accessRequest(section, inboundEvent({ sender: { id: "x", name: "7", username: "7", tag: "7", e164: "7" } }))).allow).toBe(false);
  });

  test("a sender's own id is never stripped of a prefix", () => {
    expect(decideAccess(accessRequest(telegram({ allowFrom: ["7"] }), inboundEvent({ sender: { id: "telegram:7" } }))).allow).toBe(false);
    expect(decideAccess(accessRequest(telegram({ allowFrom: ["7"] }), inboundEvent({ sender: { id: "*" } }))).allow).toBe(false);
  });

  test("bots are refused unless allowed", () => {
    const bot = inboundEvent({ sender: { isBot: true } });
    expect(brief(decideAccess(accessRequest(telegram({ allowFrom: ["7"] }), bot)))).toBe("no bot-sender");
    expect(decideAccess(accessRequest(telegram({ allowFrom: ["7"], allowBots: true }), bot)).allow).toBe(true);
  });

  test("the decision names the configuration key", () => {
    expect(decideAccess(accessRequest({ telegram: { accounts: { default: { dmPolicy: "disabled" } } } }, inboundEvent()))).toMatchObject({
      path: "channels.telegram.accounts.default.dmPolicy",
      why: 'direct messages are disabled: channels.telegram.accounts.default.dmPolicy is "disabled"',
    });
  });
});

describe("groups", () => {
  const groupAllowFrom = ["7"];
  test.each([
    ["without settings nobody is answered", {}, "no group-allowlist"],
    ["off", { groupPolicy: "disabled", groupAllowFrom }, "no group-disabled"],
    ["open", { groupPolicy: "open" }, "yes group-open"],
    ["open, but groups are listed and this is not one", { groupPolicy: "open", groups: { "-200": {} } }, "no group-unknown"],
    ["listed senders", { groupAllowFrom }, "yes sender-allowlist"],
    ["without groupAllowFrom the list of direct messages counts", { allowFrom: ["7"] }, "yes sender-allowlist"],
    ["… also where groupAllowFrom is empty", { groupAllowFrom: [], allowFrom: ["7"] }, "yes sender-allowlist"],
    ["groupAllowFrom stands before it", { groupAllowFrom: ["8"], allowFrom: ["7"] }, "no sender-allowlist"],
    ["a star among senders", { groupAllowFrom: ["*"] }, "yes sender-allowlist"],
    ["only these groups", { groupAllowFrom, groups: { "-100": { requireMention: true } } }, "yes sender-allowlist"],
    ["all groups by a star", { groupAllowFrom, groups: { "*": { requireMention: true } } }, "yes sender-allowlist"],
    ["a listed group does not let in who is not listed", { groups: { "-100": {} } }, "no group-allowlist"],
    ["a group that is off", { groupAllowFrom, groups: { "-100": { enabled: false } } }, "no group-disabled"],
    ["a group with senders of its own", { groupPolicy: "open", groups: { "-100": { allowFrom: ["8"] } } }, "no sender-allowlist"],
    ["… names them", { groups: { "-100": { allowFrom: ["7"] } } }, "yes sender-allowlist"],
    ["a group with a policy of its own", { groups: { "-100": { groupPolicy: "open" } } }, "yes group-open"],
  ] as const)("%s", (_name, section, verdict) => {
    expect(brief(decideAccess(accessRequest(telegram(section), inGroup({ mention: { mentioned: true } }))))).toBe(verdict);
  });

  test("the general policy holds where the channel has none", () => {
    const question = (section: object) => accessRequest({ defaults: { groupPolicy: "open" }, ...telegram(section) }, inGroup({ mention: { mentioned: true } }));
    expect(decideAccess(question({}))).toMatchObject({ allow: true, path: "channels.defaults.groupPolicy" });
    expect(brief(decideAccess(question({ groupPolicy: "allowlist" })))).toBe("no group-allowlist");
  });

  test("a topic can be disabled, and have senders and a policy", () => {
    const question = (topic: object) =>
      accessRequest(
        telegram({ groupAllowFrom, groups: { "-100": { topics: { 5: topic } } } }),
        inGroup({ chat: { threadId: 5 }, mention: { mentioned: true } }),
      );
    expect(brief(decideAccess(question({ enabled: false })))).toBe("no topic-disabled");
    expect(brief(decideAccess(question({ allowFrom: ["8"] })))).toBe("no sender-allowlist");
    expect(brief(decideAccess(question({ groupPolicy: "disabled" })))).toBe("no group-disabled");
    expect(brief(decideAccess(question({})))).toBe("yes sender-allowlist");
  });

  test("paired senders may write in groups where that is documented, and only there", () => {
    const allowed = ["telegram", "signal", "irc", "mattermost", "line", "whatsapp", "imessage", "discord"].filter(
      (channel) => decideAccess(accessRequest({}, inGroup(), { plugin: undefined, channel, approved: new Set(["7"]) })).allow,
    );
    expect(allowed).toEqual(["telegram", "signal", "irc", "mattermost", "line"]);
    const special = telegram({ groups: { "-100": { allowFrom: ["8"] } } });
    expect(decideAccess(accessRequest(special, inGroup(), { approved: new Set(["7"]) })).allow).toBe(false);
  });

  test("on irc the allow list applies to direct messages only, and group names are case-insensitive", () => {
    const irc = (section: object) =>
      accessRequest({ irc: section }, inGroup({ chat: { id: "#Dev" }, mention: { mentioned: true } }), { channel: "irc", plugin: undefined });
    expect(brief(decideAccess(irc({ allowFrom: ["7"] })))).toBe("no group-allowlist");
    expect(brief(decideAccess(irc({ groupAllowFrom: ["irc:7"], groups: { "#dev": {} } })))).toBe("yes sender-allowlist");
  });

  test("an inherited object key is not a group or an account", () => {
    expect(brief(decideAccess(accessRequest(telegram({ groupPolicy: "open", groups: { x: {} } }), inGroup({ chat: { id: "constructor" } }))))).toBe(
      "no group-unknown",
    );
    expect(brief(decideAccess(accessRequest({}, inboundEvent(), { channel: "constructor", accountId: "__proto__" })))).toBe("no dm-pairing");
  });

  test("a thread with its own id belongs to its chat", () => {
    const section = telegram({ groupPolicy: "open", groups: { "-100": {} } });
    expect(decideAccess(accessRequest(section, inGroup({ chat: { id: "99", parentId: "-100" } }))).allow).toBe(true);
  });
});

describe("mentions", () => {
  const open = { groupPolicy: "open" };
  const trigger = (section: object, event = inGroup(), more = {}): boolean | undefined => {
    const verdict = decideAccess(accessRequest(telegram({ ...open, ...section }), event, more));
    return verdict.allow ? verdict.trigger : undefined;
  };

  test.each([
    ["asked for by default", {}, false],
    ["by the group", { groups: { "-100": { requireMention: false } } }, true],
    ["by the star", { groups: { "-100": {}, "*": { requireMention: false } } }, true],
    ["the group stands before the star", { groups: { "-100": { requireMention: true }, "*": { requireMention: false } } }, false],
    ["by the channel", { requireMention: false }, true],
  ] as const)("%s", (_name, section, expected) => {
    expect(trigger(section)).toBe(expected);
  });

  test("a topic, the channel's plugin and /activation decide", () => {
    const topics = { groups: { "-100": { requireMention: true, topics: { 5: { requireMention: false } } } } };
    expect([trigger(topics), trigger(topics, inGroup({ chat: { threadId: 5 } }))]).toEqual([false, true]);
    const plugin = { id: "telegram", groups: { resolveRequireMention: () => false } } as never;
    expect(trigger({}, inGroup(), { plugin })).toBe(true);
    expect([trigger({}, inGroup(), { activation: "always" }), trigger({ requireMention: false }, inGroup(), { activation: "mention" })]).toEqual([true, false]);
  });

  test.each([
    ["the platform marked us", { mention: { mentioned: true } }, true],
    ["it answers us", { mention: { implicit: true } }, true],
    ["another user was mentioned", { mention: { others: true } }, false],
    ["a mention cannot be seen there", { mention: { canDetect: false } }, true],
    ["our button was pressed", { kind: "button" }, true],
    ["a name, with signs that nobody sees", { text: "hey cl\u200Baw!" }, true],
    ["another word", { text: "hey claws!" }, false],
  ] as const)("%s", (_name, event, expected) => {
    expect(trigger({}, inGroup(event), { mentionPatterns: [/\bclaw\b/i] })).toBe(expected);
  });

  test("without patterns the agent's name counts", () => {
    const question = accessRequest(telegram(open), inGroup({ text: "Robin, hello" }), { agentId: "main" });
    const cfg = { ...question.cfg, agents: { list: [{ id: "main", identity: { name: "Robin" } }] } };
    expect(decideAccess({ ...question, cfg })).toMatchObject({ allow: true, trigger: true, wasMentioned: true });
  });

  test("an authorized command needs no mention, unless it addresses another bot", () => {
    const section = { groupAllowFrom: ["7"] };
    expect(trigger(section, inGroup({ text: "/status" }))).toBe(true);
    expect(trigger(section, inGroup({ text: "/status", mention: { others: true } }))).toBe(false);
    expect(decideAccess(accessRequest(telegram(section), inGroup({ text: "/status" })))).toMatchObject({ wasMentioned: true, requireMention: true });
    expect(decideAccess(accessRequest(telegram(open), inGroup({ text: "/status" })))).toMatchObject({ allow: false, reason: "command-unauthorised" });
    expect(decideAccess(accessRequest(telegram(open), inGroup({ text: "x", kind: "command" })))).toMatchObject({
      allow: false,
      reason: "command-unauthorised",
    });
    // What a button says is text; those of the gateway come in as commands.
    expect(decideAccess(accessRequest(telegram(open), inGroup({ text: "/status", kind: "button" })))).toMatchObject({ allow: true, wasMentioned: true });
    expect(trigger(open, inGroup({ text: "/status@other", mention: { botUsername: "claw" } }))).toBe(false);
  });

  test("a message that was not addressed to the agent becomes history, with the reason", () => {
    expect(decideAccess(accessRequest(telegram({ ...open, groups: { "*": {} } }), inGroup()))).toMatchObject({
      allow: true,
      trigger: false,
      reason: "not-mentioned",
      path: 'channels.telegram.groups["*"].requireMention',
    });
  });

  test("only messages, commands and buttons start a turn", () => {
    const section = telegram({ allowFrom: ["7"], groupPolicy: "open", requireMention: false });
    for (const make of [inboundEvent, inGroup]) {
      expect(KINDS.filter((kind) => (decideAccess(accessRequest(section, make({ kind }))) as { trigger?: boolean }).trigger)).toEqual([
        "message",
        "command",
        "button",
      ]);
    }
  });
});

describe("commands and owners", () => {
  const may = (section: object, commands: object, event = inboundEvent(), more = {}): string => {
    const verdict = decideAccess(accessRequest(telegram(section), event, { commands, ...more }));
    return verdict.allow ? `${verdict.commandAuthorized ? "commands" : "-"} ${verdict.owner ? "owner" : "-"}` : "no";
  };
  const everybody = { dmPolicy: "open", allowFrom: ["*"] };
  const paired = { approved: new Set(["7"]) };

  test.each([
    ["a listed sender is an owner", { allowFrom: ["7"] }, {}, {}, "commands owner"],
    ["a paired one may give commands and is no owner", {}, {}, paired, "commands -"],
    ["everybody may where everybody is let in, and owns nothing", everybody, {}, {}, "commands -"],
    ["commands.allowFrom is the only source", { allowFrom: ["7"] }, { allowFrom: { telegram: ["8"] } }, {}, "- owner"],
    ["… the channel's list before the one for all", { allowFrom: ["7"] }, { allowFrom: { telegram: ["8"], "*": ["7"] } }, {}, "- owner"],
    ["… the one for all", everybody, { allowFrom: { "*": ["7"] } }, {}, "commands -"],
    ["… another channel's is nobody's here", { allowFrom: ["7"] }, { allowFrom: { irc: ["7"] } }, {}, "- owner"],
    ["… a star is anyone", everybody, { allowFrom: { "*": ["*"] } }, {}, "commands -"],
    ["… and an empty one is not set", { allowFrom: ["7"] }, { allowFrom: {} }, {}, "commands owner"],
    ["ownerAllowFrom keeps others out", everybody, { ownerAllowFrom: ["8"] }, {}, "- -"],
    ["… lets its own in", everybody, { ownerAllowFrom: ["telegram:7"] }, {}, "commands owner"],
    ["… is opened by a star, which makes nobody an owner", everybody, { ownerAllowFrom: ["*"] }, {}, "commands -"],
    ["… stands before allowFrom", { allowFrom: ["7"] }, { ownerAllowFrom: ["8"] }, {}, "- -"],
  ] as const)("%s", (_name, section, commands, more, expected) => {
    expect(may(section, commands, inboundEvent(), more)).toBe(expected);
  });

  test("an id of another channel is not an owner on this one", () => {
    const question = accessRequest({ telegram: everybody, irc: {} }, inboundEvent(), { commands: { ownerAllowFrom: ["irc:7"] }, plugin: undefined });
    expect(decideAccess(question)).toMatchObject({ owner: false, commandAuthorized: false, ownerAllowFrom: [] });
  });

  test("an owner gives commands wherever they may write, also where no list names them", () => {
    const discord = { guilds: { "1": {} } };
    const inServer = inboundEvent({ kind: "command", text: "/status", chat: { type: "channel", id: "2", guildId: "1" } });
    const decide = (commands: object) => decideAccess(accessRequest({ discord }, inServer, { channel: "discord", plugin: undefined, commands }));
    expect(decide({ ownerAllowFrom: ["discord:7"] })).toMatchObject({ allow: true, owner: true, commandAuthorized: true });
    expect(decide({ ownerAllowFrom: ["discord:8"] })).toMatchObject({ allow: false, reason: "command-unauthorised" });
    expect(decide({ ownerAllowFrom: ["discord:7"], allowFrom: { "*": ["8"] } })).toMatchObject({ allow: false });
  });

  test("a channel may reserve commands for its owners", () => {
    const plugin = { id: "telegram", commands: { enforceOwnerForCommands: true } } as never;
    expect(may({ allowFrom: ["8"] }, {}, inboundEvent(), { ...paired, plugin })).toBe("- -");
    expect(may({}, {}, inboundEvent(), { ...paired, plugin })).toBe("commands -");
    expect(may(everybody, {}, inboundEvent(), { plugin })).toBe("commands -");
    expect(may({ allowFrom: ["8"] }, {}, inboundEvent({ context: { OwnerAllowFrom: ["7"] } }), { ...paired, plugin })).toBe("commands owner");
  });

  test("in a group a list must allow commands, unless access groups are off", () => {
    const group = inGroup({ mention: { mentioned: true } });
    expect(may({ groupPolicy: "open" }, {}, group)).toBe("- -");
    expect(may({ groupPolicy: "open" }, { useAccessGroups: false }, group)).toBe("commands -");
    expect(may({ groupPolicy: "open", groupAllowFrom: ["7"] }, {}, group)).toBe("commands -");
    expect(may({ groupPolicy: "open", allowFrom: ["7"], groupAllowFrom: ["8"] }, {}, group)).toBe("commands owner");
    expect(may({ groupPolicy: "open", groupAllowFrom: ["8"], ...everybody }, {}, group)).toBe("- -");
  });
});

test("in a group every allowed sender may stop and narrow; their other commands are dropped", () => {
  const judged = (text: string, mentioned: boolean, commands: object = { ownerAllowFrom: ["telegram:1"] }) => {
    const mention = { ...(mentioned ? { mentioned } : {}), botUsername: "us" };
    const verdict = decideAccess(accessRequest(telegram({ groupPolicy: "open" }), inGroup({ text, mention }), { commands }));
    return verdict.allow ? `${verdict.trigger ? "turn" : "heard"}${verdict.commandAuthorized ? " commands" : ""}` : verdict.reason;
  };
  for (const stop of ["/stop", "/STOP@us", "/stop:"]) expect([stop, judged(stop, false)]).toEqual([stop, "turn"]);
  expect(judged("/stop@them", false)).toBe("heard");
  expect([judged("stop", false), judged("stop", true)]).toEqual(["heard", "turn"]);
  expect([judged("/exec security=deny", false), judged("/exec security=deny", true), judged("/elevated off", true)]).toEqual(["heard", "turn", "turn"]);
  expect([judged("/status", true), judged("/think high", true), judged("/bash ls", true, { bash: true })]).toEqual(Array(3).fill("command-unauthorised"));
});

describe("the settings of an account", () => {
  const cfg = {
    channels: { telegram: { dmPolicy: "disabled", groupPolicy: "open", allowFrom: ["1"], accounts: { Work: { allowFrom: ["2"] }, loose: {} } } },
  } as const;

  test("override its channel's, and defaults come last", () => {
    expect(effectiveChannelConfig(cfg as never, "telegram", "work")).toEqual({ dmPolicy: "disabled", groupPolicy: "open", allowFrom: ["2"] });
    expect(effectiveChannelConfig({}, "telegram", "x")).toEqual({ dmPolicy: "pairing", groupPolicy: "allowlist" });
    expect(effectiveChannelConfig({ channels: { defaults: { groupPolicy: "disabled" } } }, "irc", "x")).toMatchObject({ groupPolicy: "disabled" });
  });

  test("an account without settings is as strict as its channel", () => {
    expect(brief(decideAccess({ ...accessRequest({}, inboundEvent()), cfg, accountId: "loose" }))).toBe("no dm-disabled");
  });

  test("an account is disabled with its channel", () => {
    expect(brief(decideAccess(accessRequest(telegram({ enabled: false, accounts: { default: { enabled: true } } }), inboundEvent())))).toBe(
      "no channel-disabled",
    );
  });
});

test("a plugin that throws allows nobody", () => {
  const boom = (): never => {
    throw new Error("boom");
  };
  const plugin = { id: "telegram", config: { formatAllowFrom: boom }, groups: { resolveRequireMention: boom } } as never;
  expect(decideAccess(accessRequest(telegram({ dmPolicy: "allowlist", allowFrom: ["7"] }), inboundEvent(), { plugin })).allow).toBe(false);
  expect(decideAccess(accessRequest(telegram({ groupPolicy: "open" }), inGroup(), { plugin }))).toMatchObject({ allow: true, trigger: false });
  const star = { id: "telegram", config: { formatAllowFrom: () => ["*"] } } as never;
  expect(decideAccess(accessRequest(telegram({ dmPolicy: "open", allowFrom: ["8"] }), inboundEvent(), { plugin: star })).allow).toBe(false);
});
