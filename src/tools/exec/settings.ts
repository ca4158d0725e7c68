import type { OpenClawConfig } from "../../config/index.ts";
import type { ExecHost } from "./environment.ts";

/** From strict to free. */
export const SECURITY_LEVELS = ["deny", "allowlist", "full"] as const;
/** From free to strict. */
export const ASK_LEVELS = ["off", "on-miss", "always"] as const;
export type ExecSecurity = (typeof SECURITY_LEVELS)[number];
export type ExecAsk = (typeof ASK_LEVELS)[number];

export function stricterSecurity(a: ExecSecurity, b: ExecSecurity): ExecSecurity {
  return SECURITY_LEVELS.indexOf(a) < SECURITY_LEVELS.indexOf(b) ? a : b;
}

export function stricterAsk(a: ExecAsk, b: ExecAsk): ExecAsk {
  return ASK_LEVELS.indexOf(a) > ASK_LEVELS.indexOf(b) ? a : b;
}

/** What was chosen with `/exec` for one session. */
export interface ExecOverride {
  readonly host?: ExecHost;
  readonly security?: ExecSecurity;
  readonly ask?: ExecAsk;
  readonly node?: string;
}

export interface ExecSettings {
  readonly host: ExecHost;
  readonly security: ExecSecurity;
  /** Of commands that run on this machine after all, because the session is in no sandbox. */
  readonly hostSecurity: ExecSecurity;
  readonly ask: ExecAsk;
  /** What the configuration sets and the session narrowed: `/elevated full` does not go past it. */
  readonly limit: { readonly security: ExecSecurity; readonly ask: ExecAsk };
  /** The session said `security=deny`: nothing runs, in a sandbox either. */
  readonly denied: boolean;
  readonly node?: string | undefined;
  readonly pathPrepend: readonly string[];
  readonly safeBins?: readonly string[] | undefined;
  /** Variables that commands inherit besides the usual ones. */
  readonly passEnv: readonly string[];
  readonly backgroundMs: number;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly cleanupMs?: number | undefined;
  readonly notifyOnExit: boolean;
  readonly notifyOnExitEmptySuccess: boolean;
  /** 0 is never. */
  readonly approvalRunningNoticeMs: number;
}

type Written = Readonly<Record<string, unknown>>;

export const EXEC_HOSTS = ["sandbox", "gateway", "node"] as const satisfies readonly ExecHost[];
/** What a call may ask for with `yieldMs`. */
export const YIELD_MS = { min: 10, max: 120_000 };
const DEFAULTS = { backgroundMs: 10_000, timeoutSec: 1800, noticeMs: 10_000 };

/** What the configuration says, the agent's keys over everybody's. */
function writtenFor(config: OpenClawConfig, agentId: string): Written {
  const agent = config.agents?.list?.find(({ id }) => id.toLowerCase() === agentId.toLowerCase());
  return { ...((config.tools?.exec ?? {}) as Written), ...((agent?.tools?.exec ?? {}) as Written) };
}

/** The rules for commands on this machine before a session chooses, and which of them the configuration sets itself. */
export interface ConfiguredExec {
  readonly host: ExecHost;
  readonly security: ExecSecurity;
  readonly ask: ExecAsk;
  readonly node: string | undefined;
  readonly isSet: { readonly host: boolean; readonly security: boolean; readonly ask: boolean };
}

export function configuredExec(config: OpenClawConfig, agentId: string): ConfiguredExec {
  const written = writtenFor(config, agentId);
  const host = oneOf(EXEC_HOSTS, written["host"]);
  const security = oneOf(SECURITY_LEVELS, written["security"]);
  const ask = oneOf(ASK_LEVELS, written["ask"]);
  return {
    host: host ?? "sandbox",
    security: security ?? "allowlist",
    ask: ask ?? "on-miss",
    node: textOf(written["node"]),
    isSet: { host: host !== undefined, security: security !== undefined, ask: ask !== undefined },
  };
}

/** The strictest of what the configuration sets and the session chose; what nobody said limits nothing. */
function limitOf(written: Written, override: ExecOverride): ExecSettings["limit"] {
  const set = { security: oneOf(SECURITY_LEVELS, written["security"]) ?? "full", ask: oneOf(ASK_LEVELS, written["ask"]) ?? "off" } as const;
  return { security: stricterSecurity(set.security, override.security ?? "full"), ask: stricterAsk(set.ask, override.ask ?? "off") };
}

/**
 * The session's choice, then the agent's, then everybody's, then what is built in. The choice is the part that holds (`heldExec`): nothing here asks
 * whether it may be made.
 */
export function execSettings(config: OpenClawConfig, agentId: string, override: ExecOverride = {}): ExecSettings {
  const written = writtenFor(config, agentId);
  const chosen: Written = { ...written, ...override };
  const host = oneOf(EXEC_HOSTS, chosen["host"]) ?? "sandbox";
  return {
    host,
    security: oneOf(SECURITY_LEVELS, chosen["security"]) ?? (host === "sandbox" ? "deny" : "allowlist"),
    hostSecurity: oneOf(SECURITY_LEVELS, chosen["security"]) ?? "allowlist",
    ask: oneOf(ASK_LEVELS, chosen["ask"]) ?? "on-miss",
    limit: limitOf(written, override),
    denied: override.security === "deny",
    node: textOf(chosen["node"]),
    pathPrepend: textsOf(chosen["pathPrepend"]) ?? [],
    safeBins: textsOf(chosen["safeBins"]),
    passEnv: textsOf(chosen["passEnv"]) ?? [],
    backgroundMs: numberOf(chosen["backgroundMs"]) ?? DEFAULTS.backgroundMs,
    timeoutMs: (numberOf(chosen["timeoutSec"]) ?? DEFAULTS.timeoutSec) * 1000,
    cleanupMs: numberOf(chosen["cleanupMs"]),
    notifyOnExit: chosen["notifyOnExit"] !== false,
    notifyOnExitEmptySuccess: chosen["notifyOnExitEmptySuccess"] === true,
    approvalRunningNoticeMs: numberOf(chosen["approvalRunningNoticeMs"]) ?? DEFAULTS.noticeMs,
  };
}

/** A call may make things stricter, never freer. Values that are not known are ignored. */
export function forCall(settings: ExecSettings, params: Readonly<Record<string, unknown>>): ExecSettings {
  const security = oneOf(SECURITY_LEVELS, params["security"]);
  const ask = oneOf(ASK_LEVELS, params["ask"]);
  return {
    ...settings,
    security: security ? stricterSecurity(security, settings.security) : settings.security,
    hostSecurity: security ? stricterSecurity(security, settings.hostSecurity) : settings.hostSecurity,
    ask: ask ? stricterAsk(ask, settings.ask) : settings.ask,
    limit: {
      security: security ? stricterSecurity(security, settings.limit.security) : settings.limit.security,
      ask: ask ? stricterAsk(ask, settings.limit.ask) : settings.limit.ask,
    },
  };
}

/** The host that a call names, if it is one. */
export function askedHost(params: Readonly<Record<string, unknown>>): ExecHost | undefined {
  return oneOf(EXEC_HOSTS, params["host"]);
}

function oneOf<const T extends readonly string[]>(values: T, value: unknown): T[number] | undefined {
  const written = typeof value === "string" ? value.trim().toLowerCase() : undefined;
  return values.find((known) => known === written);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
