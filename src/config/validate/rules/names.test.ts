import { describe, expect, test } from "vitest";
import { parseDocument } from "../../document/index.ts";
import { formatIssue, validateConfig } from "../index.ts";
import { readFileSync } from "node:fs";

const judged = { complete: true } as const;
const found = (config: unknown, names: Parameters<typeof validateConfig>[1] = { sections: { names: judged } }) =>
  validateConfig(config, names).map((issue) => `${issue.severity} ${formatIssue(issue)}`);

test("a name in a deny list that means nothing is an error with the nearest name", () => {
  expect(found({ tools: { deny: ["exce", "group:runtme", "exec", "group:fs"] } })).toEqual([
    'error tools.deny[0]: no tool, group or plugin is called "exce", so this denies nothing; did you mean "exec"?',
    'error tools.deny[1]: no group of tools is called "group:runtme", so this denies nothing; did you mean "group:runtime"?',
  ]);
});

describe("every list is looked at", () => {
  const policy = { allow: ["raed"], deny: ["wrte"] };
  test.each<[string, unknown]>([
    ["tools", { tools: policy }],
    ["tools.byProvider.openai", { tools: { byProvider: { openai: policy } } }],
    ["tools.sandbox.tools", { tools: { sandbox: { tools: policy } } }],
    ["tools.subagents.tools", { tools: { subagents: { tools: policy } } }],
    ["agents.list[0].tools", { agents: { list: [{ id: "a", tools: policy }] } }],
    ["agents.list[0].tools.byProvider.openai", { agents: { list: [{ id: "a", tools: { byProvider: { openai: policy } } }] } }],
    ["agents.list[0].tools.sandbox.tools", { agents: { list: [{ id: "a", tools: { sandbox: { tools: policy } } }] } }],
    ["gateway.tools", { gateway: { tools: policy } }],
    ["channels.x.groups.g.tools", { channels: { x: { groups: { g: { tools: policy } } } } }],
    ["channels.x.groups.g.toolsBySender.s", { channels: { x: { groups: { g: { toolsBySender: { s: policy } } } } } }],
  ])("%s", (at, config) => {
    expect(found(config)).toEqual([
      `warning ${at}.allow[0]: no tool, group or plugin is called "raed"; did you mean "read"?`,
      `error ${at}.deny[0]: no tool, group or plugin is called "wrte", so this denies nothing; did you mean "write"?`,
    ]);
  });
});

test("a pattern that matches nothing is reported, one that matches something is not", () => {
  expect(found({ tools: { deny: ["sessions_*", "*", "EXEC", " bash ", "wbe_*", "telegram"] } })).toEqual([
    'error tools.deny[4]: no tool fits "wbe_*", so this denies nothing',
  ]);
});

test("tools of documented versions and of plugins that are known are names", () => {
  const documented = "cron nodes browser canvas tts sessions_spawn memory_search whatsapp_login llm-task lobster voice_call memory-core group:plugins".split(
    " ",
  );
  expect(found({ tools: { deny: documented } })).toEqual([]);
  const sections = { names: { complete: true, tools: ["weather_now"], plugins: ["weather"] } };
  expect(found({ tools: { deny: ["weather_now", "Weather", "weather_*"] } }, { sections })).toEqual([]);
});

test("what a plugin might bring is not judged before the plugins are known; groups are", () => {
  const config = { tools: { deny: ["exce", "group:runtme"] } };
  expect(found(config, {})).toHaveLength(1);
  expect(found(config, { sections: { names: { complete: false, tools: ["x"] } } })).toEqual([expect.stringContaining("group:runtme")]);
});

test("a command of nodes that is denied has to be named right; nodes may bring others", () => {
  expect(found({ gateway: { nodes: { denyCommands: ["system.rnu", "camera.*", "system.run", "acme.launch", ""], allowCommands: ["system.rnu"] } } })).toEqual([
    'error gateway.nodes.denyCommands[0]: no command of a node is called "system.rnu", so this denies nothing; did you mean "system.run"?',
    'error gateway.nodes.denyCommands[1]: no command of a node is called "camera.*", so this denies nothing: commands are listed one by one, without patterns or arguments',
    'error gateway.nodes.denyCommands[4]: no command of a node is called "", so this denies nothing: commands are listed one by one, without patterns or arguments',
  ]);
});

test("a plugin that is to be kept out has to be named right", () => {
  expect(found({ plugins: { deny: ["telegarm", "memory-lancedb"] } })).toEqual([
    'error plugins.deny[0]: plugin not found: "telegarm", so this blocks nothing; did you mean "telegram"?',
  ]);
});

test("agents, channels and providers in lists get a remark", () => {
  const config = {
    agents: { list: [{ id: "main", subagents: { allowAgents: ["mian", "*"] }, model: { primary: "opnai/gpt-5.2", fallbacks: ["anthropic/x", "plain"] } }] },
    tools: { agentToAgent: { allow: ["hlper"] }, byProvider: { antropic: { deny: ["exec"] } }, elevated: { allowFrom: { telegarm: ["1"] } } },
    bindings: [{ agentId: "main", match: { channel: "whatsap" } }],
    approvals: { exec: { agentFilter: ["mani"] } },
    commands: { allowFrom: { "*": ["1"], dicsord: ["2"] } },
  };
  expect(found(config).sort()).toEqual([
    'warning agents.list[0].model.primary: no provider is called "opnai"; did you mean "openai"?',
    'warning agents.list[0].subagents.allowAgents[0]: no agent has the id "mian"; did you mean "main"?',
    'warning approvals.exec.agentFilter[0]: no agent has the id "mani"; did you mean "main"?',
    'warning bindings[0].match.channel: no channel is called "whatsap"; did you mean "whatsapp"?',
    'warning commands.allowFrom.dicsord: no channel is called "dicsord"; did you mean "discord"?',
    'warning tools.agentToAgent.allow[0]: no agent has the id "hlper"',
    'warning tools.byProvider.antropic: no provider is called "antropic"; did you mean "anthropic"?',
    'warning tools.elevated.allowFrom.telegarm: no channel is called "telegarm"; did you mean "telegram"?',
  ]);
});

test("the large example names nothing that is not there", () => {
  const document = parseDocument(readFileSync(new URL("../../../../test/fixtures/config/large-600.json5", import.meta.url), "utf8"), "large-600.json5");
  expect(found(document.value).filter((line) => line.startsWith("error"))).toEqual([]);
});

test("owners of a channel that there is not, empty names and skills that do not exist are reported", () => {
  const config = {
    commands: { ownerAllowFrom: ["telegrm:1", "telegram:1", "tg:2", "+49123", 12, "@ann:example.org", "ann!a@host", "*", ""] },
    tools: { deny: [""], allow: [" "] },
    plugins: { deny: [""] },
    skills: { allowBundled: ["githb", "github"] },
    session: { identityLinks: { ann: ["discrd:1", "irc:ann"] } },
  };
  expect(found(config).sort()).toEqual([
    "error plugins.deny[0]: expected the id of a plugin, found an empty text, so this blocks nothing",
    "error tools.deny[0]: expected the name of a tool, found an empty text, so this denies nothing",
    'warning commands.ownerAllowFrom[0]: no channel is called "telegrm", so "telegrm:1" matches nobody; did you mean "telegram"?',
    "warning commands.ownerAllowFrom[8]: expected a sender, found an empty text, which matches nobody",
    'warning session.identityLinks.ann[0]: no channel is called "discrd", so "discrd:1" matches nobody; did you mean "discord"?',
    'warning skills.allowBundled[0]: no bundled skill is called "githb"; did you mean "github"?',
    "warning tools.allow[0]: expected the name of a tool, found an empty text",
  ]);
});

test("a model that its provider's own list does not have is reported with the nearest one; built-in providers have more than a list says", () => {
  const provider = { baseUrl: "http://127.0.0.1:9", models: [{ id: "mine", name: "mine" }] };
  const models = { providers: { acme: provider, openai: provider } };
  expect(found({ models, agents: { defaults: { model: { primary: "acme/mnie", fallbacks: ["acme/other", "openai/gpt-x", "acme/mine"] } } } })).toEqual([
    'warning agents.defaults.model.primary: models.providers.acme.models has no model "mnie"; did you mean "mine"?',
    'warning agents.defaults.model.fallbacks[0]: models.providers.acme.models has no model "other"',
  ]);
  expect(found({ models, agents: { list: [{ id: "main", model: "acme/mine" }] } })).toEqual([]);
});

test("a section of a channel that is nearly called like one is reported, others may be a plugin's", () => {
  expect(found({ channels: { telegramm: { botToken: "x" }, telegram: {}, defaults: {}, "our-own-chat": {} } })).toEqual([
    'warning channels.telegramm: no channel is called "telegramm", so nothing reads this; did you mean "telegram"?',
  ]);
  expect(found({ channels: { telegramm: {} } }, { sections: { names: { complete: true, channels: ["telegramm"] } } })).toEqual([]);
  expect(found({ channels: { telegramm: {} } }, {})).toEqual([]);
});

test("an agent's id has to be one that session keys can have", () => {
  const ids = ["a b", "Main.Work_2", " ok ", "ä", "-x", "agent:x"];
  expect(found({ agents: { list: ids.map((id) => ({ id })) } })).toEqual(
    [
      [0, '"a b"', ', such as "a-b"'],
      [3, '"ä"', ""],
      [4, '"-x"', ', such as "x"'],
      [5, '"agent:x"', ', such as "agent-x"'],
    ].map(
      ([at, id, such]) =>
        `error agents.list[${at}].id: no session can have the agent id ${id}; use letters, digits, ".", "_" and "-", a letter or digit first${such}`,
    ),
  );
});
