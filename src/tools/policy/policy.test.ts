import { describe, expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Tool, ToolSource } from "../tool.ts";
import { decidePolicy } from "./decide.ts";
import { policyLayers, type LayerFacts } from "./layers.ts";

const CORE =
  "read write edit apply_patch exec process browser canvas nodes cron message gateway agents_list sessions_list sessions_history sessions_send sessions_spawn subagents session_status web_search web_fetch image".split(
    " ",
  );
const OWNER_ONLY = new Set(["cron", "gateway"]);
const tool = (name: string, source: ToolSource = { kind: "core" }, rest: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  parameters: { type: "object" },
  source,
  ...(OWNER_ONLY.has(name) ? { ownerOnly: true } : {}),
  run: () => Promise.reject(new Error("never")),
  ...rest,
});
const PLUGIN: ToolSource = { kind: "plugin", id: "weather" };
const TOOLS = [...CORE.map((name) => tool(name)), tool("forecast", PLUGIN), tool("radar", PLUGIN, { optional: true })];

function allowed(config: OpenClawConfig, facts: Partial<LayerFacts> = {}, owner = true, warnings: string[] = []): string[] {
  const layers = policyLayers({ config, agentId: "main", sandboxed: false, ...facts });
  return decidePolicy(TOOLS, { layers, owner, warn: (text) => warnings.push(text) })
    .filter((verdict) => verdict.allowed)
    .map((verdict) => verdict.tool);
}

describe("which tools there are", () => {
  test("without a policy all of them, except optional ones", () => {
    expect(allowed({})).toEqual([...CORE, "forecast"]);
  });

  test("owner-only tools are for owners", () => {
    expect(allowed({}, {}, false)).not.toContain("cron");
    expect(allowed({}, {}, false)).not.toContain("gateway");
  });

  test.each<[string, NonNullable<OpenClawConfig["tools"]>, readonly string[]]>([
    ["a profile is a list to start from", { profile: "minimal" }, ["session_status"]],
    ["alsoAllow adds to the profile", { profile: "minimal", alsoAllow: ["read"] }, ["read", "session_status"]],
    [
      "the coding profile has files, commands, sessions and images",
      { profile: "coding" },
      [
        "read",
        "write",
        "edit",
        "apply_patch",
        "exec",
        "process",
        "sessions_list",
        "sessions_history",
        "sessions_send",
        "sessions_spawn",
        "subagents",
        "session_status",
        "image",
      ],
    ],
    ["a group stands for its tools", { allow: ["group:web"] }, ["web_search", "web_fetch"]],
    ["names have other names and any case", { allow: [" BASH ", "Read"] }, ["read", "apply_patch", "exec"]],
    [
      "a star stands for any text",
      { allow: ["sessions_*", "web*h"] },
      ["sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "web_search", "web_fetch"],
    ],
    ["deny wins over allow", { allow: ["read", "exec"], deny: ["exec", "apply_patch"] }, ["read"]],
    ["a plugin's id allows its tools, optional ones too", { allow: ["read", "weather"] }, ["read", "forecast", "radar"]],
    ["so does group:plugins", { allow: ["read", "group:plugins"] }, ["read", "forecast", "radar"]],
    ["an optional tool can be named", { alsoAllow: ["radar"] }, [...CORE, "forecast", "radar"]],
    ["a star does not name an optional tool", { allow: ["*"] }, [...CORE, "forecast"]],
  ])("%s", (_, tools, expected) => {
    expect(allowed({ tools })).toEqual(expected);
  });

  test("an allow list that names no built-in tool is ignored, and that is said", () => {
    const warnings: string[] = [];
    expect(allowed({ tools: { allow: ["forecast", "nonsense"] } }, {}, true, warnings)).toContain("read");
    expect(warnings).toEqual([
      'tools.allow[1]: "nonsense" is not a known tool, group or plugin',
      "tools.allow names no built-in tool and is ignored; to add tools of plugins to the built-in ones use alsoAllow",
    ]);
  });

  test("every layer narrows: agent, provider, group, subagent, sandbox", () => {
    const config: OpenClawConfig = {
      tools: { deny: ["browser"], byProvider: { "google/gemini": { deny: ["exec"] }, google: { deny: ["read"] } } },
      agents: { list: [{ id: "family", tools: { allow: ["read", "exec", "message", "sessions_list"], deny: ["message"] } }] },
    };
    expect(allowed(config, { agentId: "family" })).toEqual(["read", "apply_patch", "exec", "sessions_list"]);
    expect(allowed(config, { agentId: "family", provider: "Google", modelId: "gemini" })).toEqual(["read", "apply_patch", "sessions_list"]);
    expect(allowed(config, { agentId: "family", provider: "google", modelId: "other" })).toEqual(["apply_patch", "exec", "sessions_list"]);
    expect(allowed(config, { agentId: "family", group: { at: "channels.x.groups.y.tools", deny: ["exec"] } })).not.toContain("exec");
    expect(allowed(config, { agentId: "family", subagent: { depth: 1, maxDepth: 1 } })).toEqual(["read", "apply_patch", "exec"]);
    expect(allowed({}, { sandboxed: true })).not.toContain("browser");
    expect(allowed({}, { sandboxed: true })).toContain("exec");
    expect(allowed({ tools: { sandbox: { tools: { allow: [], deny: ["exec"] } } } }, { sandboxed: true })).toContain("browser");
  });

  test("a list that names built-in tools which this run does not have still means what it says", () => {
    const layers = policyLayers({ config: { tools: { allow: ["read"] } }, agentId: "main", sandboxed: false });
    expect(decidePolicy([tool("web_fetch"), tool("forecast", PLUGIN)], { layers, owner: true }).filter((one) => one.allowed)).toEqual([]);
  });

  test("an unknown tool is reported, with the likely intended name; unknown names do no harm", () => {
    const warnings: string[] = [];
    const tools = { allow: ["read", "exce", "constructor", "__proto__", "group:fss", "weather", "forecast", "sess*"], deny: ["write", "brwser"] };
    expect(allowed({ tools }, {}, true, warnings)).toEqual([
      "read",
      "sessions_list",
      "sessions_history",
      "sessions_send",
      "sessions_spawn",
      "session_status",
      "forecast",
      "radar",
    ]);
    expect(warnings).toEqual([
      'tools.allow[1]: "exce" is not a known tool, group or plugin; did you mean "exec"?',
      'tools.allow[2]: "constructor" is not a known tool, group or plugin',
      'tools.allow[3]: "__proto__" is not a known tool, group or plugin',
      'tools.allow[4]: "group:fss" is not a known tool, group or plugin; did you mean "group:fs"?',
      'tools.deny[1]: "brwser" is not a known tool, group or plugin; did you mean "browser"?',
    ]);
  });

  test("some tools are the owner's by name, no matter who registers them", () => {
    const layers = policyLayers({ config: {}, agentId: "main", sandboxed: false });
    const login = tool("whatsapp_login", { kind: "channel", id: "whatsapp" });
    expect(decidePolicy([login], { layers, owner: false })).toEqual([
      { tool: "whatsapp_login", allowed: false, layer: "owner", why: "only the owner may use it" },
    ]);
  });

  test("a pattern does not name an optional tool, in whatever spelling its own name is written", () => {
    expect(allowed({ tools: { alsoAllow: ["rad*"] } })).not.toContain("radar");
    expect(allowed({ tools: { alsoAllow: ["RADAR"] } })).toContain("radar");
    const odd = tool("WeatherNow", PLUGIN);
    const layers = policyLayers({ config: { tools: { deny: ["weathernow"] } }, agentId: "main", sandboxed: false });
    expect(decidePolicy([odd], { layers, owner: true })[0]!.allowed).toBe(false);
  });
});
