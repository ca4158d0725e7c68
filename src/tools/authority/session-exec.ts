/** How far a session's choice holds, and who may make it. The same rules at the moment it is set and at the moment it is used. */
import type { OpenClawConfig } from "../../config/index.ts";
import {
  ASK_LEVELS,
  SECURITY_LEVELS,
  stricterAsk,
  stricterSecurity,
  configuredExec,
  EXEC_HOSTS,
  type ExecAsk,
  type ExecSecurity,
  type ConfiguredExec,
  type ExecOverride,
} from "../exec/settings.ts";
import type { ExecHost } from "../exec/environment.ts";
import type { ChoiceField, ExecGrant, SessionChoice } from "./choice.ts";

/** From strict to free. `on` and `ask` are the same. */
export const ELEVATED_LEVELS = ["off", "on", "ask", "full"] as const;
export type ElevatedChoice = (typeof ELEVATED_LEVELS)[number];
const ELEVATED_RANK: Readonly<Record<ElevatedChoice, number>> = { off: 0, on: 1, ask: 1, full: 2 };

/** What decides about a session's choice besides the choice itself. */
export interface ChoiceFacts {
  readonly config: OpenClawConfig;
  readonly agentId: string;
  /** The session works in a sandbox. */
  readonly sandboxed: boolean;
}

/** The turn that would use it. */
export interface ChoiceUse extends ChoiceFacts {
  /** Everybody whom the turn answers is an owner. */
  readonly owner: boolean;
  /** The grantor of a value may still grant it. */
  readonly stillMay: (grant: ExecGrant, field: ChoiceField) => boolean;
}

/** How a value stands to the configuration: within it, past what it leaves open (then it needs a grant), or past what it says. */
type Standing = "within" | "open" | "beyond";

const known = <const T extends readonly string[]>(values: T, value: string | undefined): T[number] | undefined => {
  const written = value?.toLowerCase();
  return values.find((one) => one === written);
};

/** A key that is not set leaves its default open to the owner; one that is set is the limit for everybody. */
const looser = (isSet: boolean): Standing => (isSet ? "beyond" : "open");

function standingOfHost(value: ExecHost, { host, isSet }: ConfiguredExec, sandboxed: boolean): Standing {
  // Only the configuration lets commands out of a sandbox.
  if (sandboxed) return value === "sandbox" || value === host ? "within" : "beyond";
  // Without a sandbox these two are the same machine under the same rules.
  const machine = (one: ExecHost): string => (one === "node" ? "node" : "gateway");
  return machine(value) === machine(host) ? "within" : looser(isSet.host);
}

function standingOf(field: ChoiceField, value: string, { config, agentId, sandboxed }: ChoiceFacts): Standing {
  const base = configuredExec(config, agentId);
  if (field === "execHost") {
    const host = known(EXEC_HOSTS, value);
    return host === undefined ? "beyond" : standingOfHost(host, base, sandboxed);
  }
  if (field === "execSecurity") {
    const security = known(SECURITY_LEVELS, value);
    if (security === undefined) return "beyond";
    return stricterSecurity(security, base.security) === security ? "within" : looser(base.isSet.security);
  }
  if (field === "execAsk") {
    const ask = known(ASK_LEVELS, value);
    if (ask === undefined) return "beyond";
    return stricterAsk(ask, base.ask) === ask ? "within" : looser(base.isSet.ask);
  }
  if (field === "execNode") return value === base.node ? "within" : looser(base.node !== undefined);
  const level = known(ELEVATED_LEVELS, value);
  if (level === undefined) return "beyond";
  return ELEVATED_RANK[level] <= ELEVATED_RANK[elevatedBase(config)] ? "within" : "open";
}

/** What holds where nobody chose, for those whom the gates of `tools.elevated` let through. */
const elevatedBase = (config: OpenClawConfig): ElevatedChoice => config.agents?.defaults?.elevatedDefault ?? "on";

/** Whether one value of the choice holds in a turn. */
function holds(field: ChoiceField, choice: SessionChoice, use: ChoiceUse): boolean {
  const value = choice[field];
  if (value === undefined) return false;
  const standing = standingOf(field, value, use);
  if (standing !== "open") return standing === "within";
  const grant = choice.granted?.[field];
  return grant !== undefined && (grant.holds === "session" || use.owner) && use.stillMay(grant, field);
}

/** The part of a session's choice about `exec` that holds in a turn: what narrows always does, what widens with a grant and within the configuration. */
export function heldExec(choice: SessionChoice | undefined, use: ChoiceUse): ExecOverride {
  if (!choice) return {};
  const value = (field: ChoiceField): string | undefined => (holds(field, choice, use) ? choice[field] : undefined);
  const host = known(EXEC_HOSTS, value("execHost"));
  const security = known(SECURITY_LEVELS, value("execSecurity"));
  const ask = known(ASK_LEVELS, value("execAsk"));
  const node = value("execNode");
  return {
    ...(host === undefined ? {} : { host }),
    ...(security === undefined ? {} : { security }),
    ...(ask === undefined ? {} : { ask }),
    ...(node === undefined ? {} : { node }),
  };
}

/** The level of `/elevated` that holds in a turn, where the gates of `tools.elevated` let its sender through. */
export function heldElevated(choice: SessionChoice | undefined, use: ChoiceUse): ElevatedChoice {
  const chosen = choice && holds("elevatedLevel", choice, use) ? known(ELEVATED_LEVELS, choice.elevatedLevel) : undefined;
  return chosen ?? elevatedBase(use.config);
}

/** A change that is asked for. Null takes the choice away: the configuration holds again. */
export type ChoiceChange = Readonly<Partial<Record<ChoiceField, string | null>>>;

/** A change that goes past the configuration, for the reply to it. */
export interface Beyond {
  readonly field: ChoiceField;
  readonly value: string;
  /** It would leave the sandbox. */
  readonly sandbox: boolean;
}

export interface JudgedChange {
  /** The session gets more than it has now: that is for the owner, or for a client with `operator.admin`. */
  readonly widens: boolean;
  /** Nobody may do this. */
  readonly beyond: readonly Beyond[];
  /** Fields whose new value needs a grant to hold. */
  readonly needsGrant: readonly ChoiceField[];
}

interface Effective {
  readonly host: ExecHost;
  readonly security: ExecSecurity;
  readonly ask: ExecAsk;
  readonly node: string | undefined;
  readonly elevated: ElevatedChoice;
}

/** What an owner's turn would have with a choice. */
function effective(choice: SessionChoice | undefined, facts: ChoiceFacts): Effective {
  const base = configuredExec(facts.config, facts.agentId);
  const use: ChoiceUse = { ...facts, owner: true, stillMay: () => true };
  const { host = base.host, security = base.security, ask = base.ask, node = base.node } = heldExec(choice, use);
  return { host, security, ask, node, elevated: heldElevated(choice, use) };
}

function isLooser(next: Effective, now: Effective, sandboxed: boolean): boolean {
  const inside = (host: ExecHost): boolean => host === "sandbox" && sandboxed;
  const machine = (host: ExecHost): string => (inside(host) ? "inside" : host === "node" ? "node" : "gateway");
  return (
    (machine(next.host) !== machine(now.host) && !inside(next.host)) ||
    stricterSecurity(next.security, now.security) !== next.security ||
    stricterAsk(next.ask, now.ask) !== next.ask ||
    next.node !== now.node ||
    ELEVATED_RANK[next.elevated] > ELEVATED_RANK[now.elevated]
  );
}

/** What a change would do to a session. */
export function judgeChange(change: ChoiceChange, current: SessionChoice | undefined, facts: ChoiceFacts): JudgedChange {
  const beyond: Beyond[] = [];
  const needsGrant: ChoiceField[] = [];
  const next: Record<string, unknown> = { ...current };
  const granted: Record<string, ExecGrant> = { ...current?.granted };
  for (const [name, value] of Object.entries(change)) {
    const field = name as ChoiceField;
    delete granted[field];
    if (value === null || value === undefined) {
      delete next[field];
      continue;
    }
    next[field] = value;
    const standing = standingOf(field, value, facts);
    if (standing === "beyond") beyond.push({ field, value, sandbox: field === "execHost" && facts.sandboxed });
    if (standing !== "open") continue;
    needsGrant.push(field);
    granted[field] = { by: "client", holds: "session", value };
  }
  const widens = needsGrant.length > 0 || isLooser(effective({ ...next, granted }, facts), effective(current, facts), facts.sandboxed);
  return { widens, beyond, needsGrant };
}
