import { describe, expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Tool } from "../tool.ts";
import { decidePolicy, type PolicyVerdict } from "./decide.ts";
import { builtinSubjects, explainTools } from "./explain.ts";
import { groupPolicy, type GroupSender } from "./group.ts";
import { policyLayers, type LayerFacts } from "./layers.ts";
import { distinctTools, type PolicySubject } from "./names.ts";

const TOOLS: readonly PolicySubject[] = [
  ...builtinSubjects(),
  { name: "memory_search", source: { kind: "plugin", id: "memory-core" } },
  { name: "memory_get", source: { kind: "plugin", id: "memory-core" } },
  { name: "lobster", source: { kind: "plugin", id: "lobster" }, optional: true },
];

function decide(config: OpenClawConfig, facts: Partial<LayerFacts> = {}, owner = true): readonly PolicyVerdict[] {
  return decidePolicy(TOOLS, { layers: policyLayers({ config, agentId: "main", sandboxed: false, ...facts }), owner });
}
const there = (verdicts: readonly PolicyVerdict[]): string => verdicts.flatMap(({ tool, allowed }) => (allowed ? [tool] : [])).join(" ");
const about = (verdicts: readonly PolicyVerdict[], name: string): PolicyVerdict => verdicts.find(({ tool }) => tool === name)!;

const FILES = "read edit write apply_patch grep find ls";
const SESSIONS = "sessions_list sessions_history sessions_send sessions_spawn subagents session_status";

const FAMILY: OpenClawConfig = {
  agents: {
    list: [
      { id: "personal", sandbox: { mode: "off" } },
      {
        id: "family",
        sandbox: { mode: "all", scope: "agent" },
        tools: {
          allow: ["exec", "read", "sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "session_status"],
          deny: ["write", "edit", "apply_patch", "browser", "canvas", "nodes", "cron"],
        },
      },
      { id: "reader", sandbox: { mode: "all", scope: "agent" }, tools: { allow: ["read"], deny: ["exec", "write", "edit", "apply_patch"] } },
    ],
  },
};

describe("the documented examples", () => {
  test.each<[string, OpenClawConfig, Partial<LayerFacts>, string]>([
    ["the profile minimal", { tools: { profile: "minimal" } }, {}, "session_status"],
    ["the profile coding", { tools: { profile: "coding" } }, {}, `${FILES} exec process ${SESSIONS} image image_generate memory_search memory_get`],
    ["the profile messaging", { tools: { profile: "messaging" } }, {}, "message sessions_list sessions_history sessions_send session_status"],
    [
      "the profile full",
      { tools: { profile: "full" } },
      {},
      `${FILES} exec process browser canvas nodes cron message tts gateway agents_list ${SESSIONS} skills_search web_search web_fetch image image_generate memory_search memory_get`,
    ],
    ["a profile that nobody knows has no opinion", { tools: { profile: "constructor" as never, allow: ["read"] } }, {}, "read"],
    [
      "an agent's profile stands before the general one",
      { tools: { profile: "coding" }, agents: { list: [{ id: "main", tools: { profile: "minimal", alsoAllow: ["message"] } }] } },
      {},
      "message session_status",
    ],
    [
      "the family agent",
      FAMILY,
      { agentId: "family", sandboxed: true },
      "read exec sessions_list sessions_history sessions_send sessions_spawn session_status",
    ],
    ["an agent that only reads, in a sandbox", FAMILY, { agentId: "reader", sandboxed: true }, "read"],
    ["the same, whatever the case of its id", FAMILY, { agentId: "Reader" }, "read"],
    ["a sandbox without a policy", {}, { sandboxed: true }, `${FILES} exec process ${SESSIONS} image`],
    [
      "a sandbox with the browser",
      { tools: { sandbox: { tools: { allow: ["browser", "group:web"], deny: [] } } } },
      { sandboxed: true },
      "browser web_search web_fetch image",
    ],
    [
      "an agent's sandbox lists stand before the general ones, each on its own",
      {
        tools: { sandbox: { tools: { allow: ["read", "exec"], deny: ["exec"] } } },
        agents: { list: [{ id: "main", tools: { sandbox: { tools: { deny: ["read"] } } } }] },
      },
      { sandboxed: true },
      "apply_patch exec image",
    ],
    ["a provider's profile", { tools: { byProvider: { "google-antigravity": { profile: "minimal" } } } }, { provider: "google-antigravity" }, "session_status"],
    [
      "one model of a provider",
      { tools: { profile: "coding", byProvider: { "openai/gpt-5.2": { allow: ["group:fs", "sessions_list"] } } } },
      { provider: "openai", modelId: "gpt-5.2" },
      `${FILES} sessions_list`,
    ],
    [
      "an agent's rule for a provider",
      { tools: { allow: ["read", "exec"] }, agents: { list: [{ id: "main", tools: { byProvider: { OpenAI: { deny: ["exec", "apply_patch"] } } } }] } },
      { provider: "openai", modelId: "x" },
      "read",
    ],
    ["deny wins over allow in every layer", { tools: { allow: ["*"], deny: ["*"] } }, {}, ""],
    [
      "no layer gives back what another took",
      { tools: { deny: ["exec"] }, agents: { list: [{ id: "main", tools: { allow: ["exec", "read"] } }] } },
      {},
      "read apply_patch",
    ],
    [
      "a subagent that may have children",
      { tools: { allow: ["group:sessions", "group:memory", "read", "cron"] } },
      { subagent: { depth: 1, maxDepth: 2 } },
      "read sessions_list sessions_history sessions_spawn subagents",
    ],
    ["the deepest subagent", { tools: { allow: ["group:sessions", "read"] } }, { subagent: { depth: 2, maxDepth: 2 } }, "read subagents"],
    [
      "a subagent's own lists",
      { tools: { subagents: { tools: { allow: ["read", "exec"], deny: ["exec"] } } } },
      { subagent: { depth: 1, maxDepth: 1 } },
      "read apply_patch",
    ],
  ])("%s", (_, config, facts, expected) => {
    expect(there(decide(config, facts))).toBe(expected);
  });

  test("an optional tool is there for a subagent too, once its plugin is named", () => {
    expect(there(decide({ tools: { alsoAllow: ["lobster"] } }, { subagent: { depth: 1, maxDepth: 1 } })).split(" ")).toContain("lobster");
  });
});

describe("each decision says what made it", () => {
  test.each<[string, OpenClawConfig, Partial<LayerFacts>, string, Partial<PolicyVerdict>]>([
    ["nothing", {}, {}, "read", { allowed: true, layer: "default", why: "no policy list applies" }],
    ["a list that adds to everything", { tools: { alsoAllow: ["lobster"] } }, {}, "read", { allowed: true, layer: "default" }],
    [
      "a profile",
      { tools: { profile: "coding" } },
      {},
      "exec",
      { allowed: true, layer: "profile", at: "tools.profile", entry: "group:runtime", why: "part of the profile coding" },
    ],
    [
      "a profile it is not in",
      { tools: { profile: "coding" } },
      {},
      "cron",
      { allowed: false, layer: "profile", at: "tools.profile", why: "not part of the profile coding (tools.profile)" },
    ],
    [
      "an addition to a profile",
      { tools: { profile: "coding", alsoAllow: ["cron"] } },
      {},
      "cron",
      { allowed: true, layer: "global", at: "tools.alsoAllow[0]", entry: "cron" },
    ],
    ["an agent's list", FAMILY, { agentId: "family" }, "exec", { allowed: true, layer: "agent", at: "agents.list[1].tools.allow[0]", entry: "exec" }],
    [
      "an agent's list, before what a sandbox has by itself",
      FAMILY,
      { agentId: "family", sandboxed: true },
      "exec",
      { allowed: true, layer: "agent", entry: "exec" },
    ],
    ["what a sandbox has by itself", {}, { sandboxed: true }, "exec", { allowed: true, layer: "sandbox", at: "tools.sandbox.tools.allow", entry: "exec" }],
    [
      "an agent's denial",
      FAMILY,
      { agentId: "family" },
      "cron",
      { allowed: false, layer: "agent", at: "agents.list[1].tools.deny[6]", entry: "cron", why: '"cron" is denied by agents.list[1].tools.deny[6]' },
    ],
    [
      "an agent's list it is not in",
      FAMILY,
      { agentId: "family" },
      "tts",
      { allowed: false, layer: "agent", at: "agents.list[1].tools.allow", why: "not in the list agents.list[1].tools.allow" },
    ],
    [
      "a provider",
      { tools: { byProvider: { Google: { deny: ["ex*"] } } } },
      { provider: "google" },
      "exec",
      { allowed: false, layer: "provider", at: 'tools.byProvider["Google"].deny[0]', entry: "ex*" },
    ],
    [
      "the standard of a sandbox",
      {},
      { sandboxed: true },
      "browser",
      { allowed: false, layer: "sandbox", at: "tools.sandbox.tools.deny", entry: "browser", why: "not available in a sandbox unless a list allows it" },
    ],
    ["not being in a sandbox's list", {}, { sandboxed: true }, "message", { allowed: false, layer: "sandbox", at: "tools.sandbox.tools.allow" }],
    [
      "being a subagent",
      {},
      { subagent: { depth: 1, maxDepth: 1 } },
      "gateway",
      { allowed: false, layer: "subagent", entry: "gateway", why: "never available to subagents" },
    ],
    [
      "the depth of a subagent",
      {},
      { subagent: { depth: 1, maxDepth: 1 } },
      "sessions_spawn",
      { allowed: false, layer: "subagent", at: "agents.defaults.subagents.maxSpawnDepth" },
    ],
    ["being optional", {}, {}, "lobster", { allowed: false, layer: "optional" }],
    [
      "a group",
      {},
      { group: { at: "channels.x.groups.y.tools", deny: ["exec"] } },
      "exec",
      { allowed: false, layer: "group", at: "channels.x.groups.y.tools.deny[0]", entry: "exec" },
    ],
  ])("%s", (_, config, facts, name, expected) => {
    expect(about(decide(config, facts), name)).toMatchObject(expected);
  });

  test("and not being the owner, before everything else", () => {
    expect(about(decide({ tools: { allow: ["cron"] } }, {}, false), "cron")).toEqual({
      tool: "cron",
      allowed: false,
      layer: "owner",
      why: "only the owner may use it",
    });
  });

  test("in the words of the protocol", () => {
    const rows = explainTools(TOOLS, decide({ tools: { deny: ["memory_get"] } }));
    expect(rows.find(({ name }) => name === "memory_get")).toEqual({
      name: "memory_get",
      allowed: false,
      layer: "global",
      path: "tools.deny[0]",
      entry: "memory_get",
      why: '"memory_get" is denied by tools.deny[0]',
      source: "plugin:memory-core",
    });
    expect(rows.find(({ name }) => name === "read")).toEqual({ name: "read", allowed: true, layer: "default", why: "no policy list applies", source: "core" });
  });
});

describe("what a group says", () => {
  const config = {
    channels: {
      whatsapp: {
        groups: {
          "120363@G.us": { tools: { deny: ["exec"] }, toolsBySender: { "+4912": { alsoAllow: ["exec"] }, "@Ada": { allow: ["read"] } } },
          "*": { tools: { allow: ["message"] }, toolsBySender: { "*": { deny: ["*"] } } },
          bare: {},
        },
        accounts: { work: { groups: { "*": { tools: { deny: ["web_fetch"] } } } }, home: {} },
      },
      irc: { groups: { "#chan": { toolsBySender: { someone: { allow: ["exec"] } } } } },
    },
  } as OpenClawConfig;
  const GROUP = "agent:main:whatsapp:group:120363@g.us";
  const at = 'channels.whatsapp.groups["120363@G.us"]';

  test.each<
    [string, { sessionKey: string; sender?: GroupSender; accountId?: string; spawnedBy?: string; channel?: string; groupId?: string }, string | undefined]
  >([
    ["its own tools, whatever the case of its id", { sessionKey: GROUP }, `${at}.tools`],
    ["in a thread of it too", { sessionKey: `${GROUP}:thread:7` }, `${at}.tools`],
    ["a sender by id comes first", { sessionKey: GROUP, sender: { id: "+4912" } }, `${at}.toolsBySender["+4912"]`],
    ["or by number", { sessionKey: GROUP, sender: { id: "4912@s.whatsapp.net", e164: "+4912" } }, `${at}.toolsBySender["+4912"]`],
    ["or by a user name", { sessionKey: GROUP, sender: { id: "7", username: "ada" } }, `${at}.toolsBySender["@Ada"]`],
    ["a sender called * is nobody special", { sessionKey: "agent:main:irc:channel:#chan", sender: { id: "*" } }, undefined],
    [
      "an unknown group has the entry *, with its senders first",
      { sessionKey: "agent:main:whatsapp:group:other" },
      'channels.whatsapp.groups["*"].toolsBySender["*"]',
    ],
    ["so has one whose entry says nothing", { sessionKey: "agent:main:whatsapp:group:bare" }, 'channels.whatsapp.groups["*"].toolsBySender["*"]'],
    ["an account with groups of its own has only those", { sessionKey: GROUP, accountId: "work" }, 'channels.whatsapp.accounts.work.groups["*"].tools'],
    ["an account without has the channel's", { sessionKey: GROUP, accountId: "home" }, `${at}.tools`],
    ["a subagent has what its parent has", { sessionKey: "agent:main:subagent:1", spawnedBy: GROUP }, `${at}.tools`],
    ["facts of the run say the group too", { sessionKey: "agent:main:main", channel: "WhatsApp", groupId: "120363@g.us" }, `${at}.tools`],
    ["a direct chat has none", { sessionKey: "agent:main:whatsapp:direct:+4912" }, undefined],
    ["nor has a channel that is not configured", { sessionKey: "agent:main:signal:group:x" }, undefined],
    ["nor does a name of Object's", { sessionKey: "agent:main:constructor:group:__proto__" }, undefined],
  ])("%s", (_, facts, expected) => {
    expect(groupPolicy({ config, ...facts })?.at).toBe(expected);
  });

  test("is a layer like others", () => {
    const group = groupPolicy({ config, sessionKey: GROUP });
    expect(about(decide(config, { group }), "exec")).toMatchObject({ allowed: false, layer: "group", at: `${at}.tools.deny[0]` });
  });
});

test("nothing stands in for a built-in tool: the first of a name is the one, and a plugin called like a tool brings none", () => {
  const tool = (name: string, source: Tool["source"]): Tool => ({
    name,
    source,
    description: "",
    parameters: {},
    run: () => Promise.reject(new Error("never")),
  });
  const warnings: string[] = [];
  const core = { kind: "core" } as const;
  const plugin = (id: string) => ({ kind: "plugin", id }) as const;
  const kept = distinctTools(
    [
      tool("Bash", plugin("evil")),
      tool("READ", plugin("evil")),
      tool("exec", core),
      tool("dice", plugin("a")),
      tool("Dice", plugin("b")),
      tool("helper", plugin("Cron")),
    ],
    (text) => warnings.push(text),
  );
  expect(kept.map(({ name }) => name)).toEqual(["exec", "dice"]);
  expect(warnings).toHaveLength(4);
  expect(warnings[0]).toBe("another tool is called exec; the one of plugin evil is skipped");
  expect(warnings[3]).toBe("the plugin Cron has the name of a built-in tool; its tool helper is skipped: rename the plugin");
});
