import type { OpenClawConfig } from "../../config/index.ts";
import { decidePolicy } from "../policy/decide.ts";
import { policyLayers } from "../policy/layers.ts";
import { isSandboxed, mainKeyOf, sandboxSettings, type SandboxBackendName, type SandboxBrowserSettings, type SandboxSettings } from "./settings.ts";

type Source = "agent" | "global" | "default";

interface ListSource {
  readonly source: Source;
  readonly key: string;
}

/** Why a session's tools work where they do, and what to change to have it otherwise. */
export interface SandboxExplanation {
  readonly docsUrl: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly mainSessionKey: string;
  readonly sandbox: Pick<SandboxSettings, "mode" | "scope" | "workspaceAccess" | "workspaceRoot"> & {
    readonly perSession: boolean;
    readonly backend: SandboxBackendName;
    readonly sessionIsSandboxed: boolean;
    /** `usable`: it is there, the backend has one, and the tool policy of the sandbox lets the session have the tool. */
    readonly browser: Pick<SandboxBrowserSettings, "enabled" | "image" | "headless" | "enableNoVnc" | "autoStart" | "allowHostControl"> & {
      readonly usable: boolean;
      /** Settings that keep the session from using it. */
      readonly missing: readonly string[];
    };
    readonly tools: {
      readonly allow: readonly string[];
      readonly deny: readonly string[];
      readonly sources: { readonly allow: ListSource; readonly deny: ListSource };
    };
  };
  readonly elevated: {
    readonly enabled: boolean;
    readonly channel?: string;
    readonly allowedByConfig: boolean;
    readonly alwaysAllowedByConfig: boolean;
    readonly allowFrom: { readonly global?: readonly string[]; readonly agent?: readonly string[] };
    readonly failures: readonly { readonly gate: string; readonly key: string }[];
  };
  readonly fixIt: readonly string[];
}

export interface ExplainInput {
  readonly config: OpenClawConfig;
  readonly agentId: string;
  /** The agent's main session when absent. */
  readonly sessionKey?: string | undefined;
  readonly stateDir: string;
}

export const SANDBOX_DOCS = "https://docs.openclaw.ai/sandbox";

/** Keys of sessions that belong to no channel begin with one of these. */
const NO_CHANNEL = new Set(["main", "cron", "hook", "subagent", "openai", "openai-user", "openresponses-user", "group", "channel", "direct", "thread"]);

export function explainSandbox({ config, agentId, sessionKey, stateDir }: ExplainInput): SandboxExplanation {
  const settings = sandboxSettings(config, agentId, stateDir);
  const mainSessionKey = mainKeyOf(config, agentId);
  const key = sessionKey ?? mainSessionKey;
  const { mode, scope, workspaceAccess, workspaceRoot, backend } = settings;
  const [, , first = ""] = key.split(":");
  const channel = key.split(":").length > 3 && !NO_CHANNEL.has(first) ? first : undefined;
  return {
    docsUrl: SANDBOX_DOCS,
    agentId,
    sessionKey: key,
    mainSessionKey,
    sandbox: {
      mode,
      scope,
      perSession: scope === "session",
      workspaceAccess,
      workspaceRoot,
      backend,
      sessionIsSandboxed: isSandboxed(settings, key, mainSessionKey),
      browser: browserOf(config, agentId, settings),
      tools: toolLists(config, agentId),
    },
    elevated: elevation(config, agentId, channel),
    fixIt: [
      "agents.defaults.sandbox.mode=off",
      "agents.list[].sandbox.mode=off",
      "tools.sandbox.tools.allow",
      "tools.sandbox.tools.deny",
      "agents.list[].tools.sandbox.tools.allow",
      "agents.list[].tools.sandbox.tools.deny",
      "tools.elevated.enabled",
      ...(settings.browser.enabled ? browserOf(config, agentId, settings).missing : []),
      ...(channel === undefined ? [] : [`tools.elevated.allowFrom.${channel}`]),
    ],
  };
}

function browserOf(config: OpenClawConfig, agentId: string, { backend, browser }: SandboxSettings): SandboxExplanation["sandbox"]["browser"] {
  const { enabled, image, headless, enableNoVnc, autoStart, allowHostControl } = browser;
  const [verdict] = decidePolicy([{ name: "browser", source: { kind: "core" } }], { layers: policyLayers({ config, agentId, sandboxed: true }), owner: true });
  const missing = [
    ...(enabled ? [] : ["agents.defaults.sandbox.browser.enabled=true"]),
    ...(backend === "docker" ? [] : ["agents.defaults.sandbox.backend=docker"]),
    ...(verdict?.allowed === true ? [] : [verdict?.at ?? "tools.sandbox.tools.allow"]),
  ];
  return { enabled, image, headless, enableNoVnc, autoStart, allowHostControl, usable: missing.length === 0, missing };
}

function toolLists(config: OpenClawConfig, agentId: string): SandboxExplanation["sandbox"]["tools"] {
  const layer = policyLayers({ config, agentId, sandboxed: true }).find(({ name }) => name === "sandbox");
  const own = agentOf(config, agentId)?.tools?.sandbox?.tools;
  const all = config.tools?.sandbox?.tools;
  const source = (list: "allow" | "deny"): ListSource => {
    if (own?.[list]) return { source: "agent", key: `agents.list[].tools.sandbox.tools.${list}` };
    return { source: all?.[list] ? "global" : "default", key: `tools.sandbox.tools.${list}` };
  };
  const names = (list: readonly { readonly entry: string }[] | undefined): readonly string[] => (list ?? []).map(({ entry }) => entry);
  return { allow: names(layer?.allow), deny: names(layer?.deny), sources: { allow: source("allow"), deny: source("deny") } };
}

function elevation(config: OpenClawConfig, agentId: string, channel: string | undefined): SandboxExplanation["elevated"] {
  const all = config.tools?.elevated;
  const own = agentOf(config, agentId)?.tools?.elevated;
  const listed = (from: Readonly<Record<string, readonly (string | number)[]>> | undefined): readonly string[] | undefined =>
    channel === undefined ? undefined : from?.[channel]?.map(String);
  const [global, agent] = [listed(all?.allowFrom), listed(own?.allowFrom)];
  const failures = [
    ...(all?.enabled === false ? [{ gate: "enabled", key: "tools.elevated.enabled" }] : []),
    ...(own?.enabled === false ? [{ gate: "enabled", key: "agents.list[].tools.elevated.enabled" }] : []),
    ...(channel !== undefined && !global?.length ? [{ gate: "allowFrom", key: `tools.elevated.allowFrom.${channel}` }] : []),
    ...(channel !== undefined && agent?.length === 0 ? [{ gate: "allowFrom", key: `agents.list[].tools.elevated.allowFrom.${channel}` }] : []),
  ];
  const everybody = (list: readonly string[] | undefined, otherwise: boolean): boolean => list?.includes("*") ?? otherwise;
  return {
    enabled: all?.enabled !== false && own?.enabled !== false,
    ...(channel === undefined ? {} : { channel }),
    allowedByConfig: channel !== undefined && failures.length === 0,
    alwaysAllowedByConfig: channel !== undefined && failures.length === 0 && everybody(global, false) && everybody(agent, true),
    allowFrom: { ...(global ? { global } : {}), ...(agent ? { agent } : {}) },
    failures,
  };
}

function agentOf(config: OpenClawConfig, agentId: string) {
  return config.agents?.list?.find(({ id }) => id.toLowerCase() === agentId.toLowerCase());
}
