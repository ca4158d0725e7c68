/** What a request asks for: checked, and with the texts of its mapping filled in. */
import { AppError } from "../../base/errors.ts";
import { THINKING_LEVELS } from "../../base/thinking.ts";
import { defaultAgentId, type OpenClawConfig } from "../../config/index.ts";
import { resolveSessionKey, type ThinkingLevel } from "../../protocol/index.ts";
import { oneLine } from "../../tools/index.ts";
import { fill, type Mapping, type TemplateValues } from "./mappings.ts";

export type WakeMode = "now" | "next-heartbeat";
type Fields = Readonly<Record<string, unknown>>;

/** A line for the main session. */
export interface WakeAction {
  readonly kind: "wake";
  readonly text: string;
  readonly mode: WakeMode;
  /** Anybody may have written the text. */
  readonly isForeign?: boolean;
}

/** A run of an agent in a session. */
export interface AgentAction {
  readonly kind: "agent";
  readonly message: string;
  readonly name: string;
  readonly agentId: string;
  /** Canonical. */
  readonly sessionKey: string;
  readonly wakeMode: WakeMode;
  readonly deliver: boolean;
  readonly channel: string;
  readonly to?: string;
  readonly model?: string;
  /** The run fails where the model cannot be used. */
  readonly isModelRequired?: boolean;
  readonly thinking?: ThinkingLevel;
  readonly timeoutSeconds?: number;
  /** The message is marked as text from outside. */
  readonly isMarked: boolean;
  /** It is mail. */
  readonly isMail: boolean;
}

export type HookAction = WakeAction | AgentAction;

const bad = (message: string): AppError => new AppError("INVALID_INPUT", message);
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.toWellFormed().trim() : undefined);
const MAX_NAME = 64;
/** The longest time that a timer can wait. */
const MAX_TIMEOUT_S = 2_000_000;

/** A field that may be absent. */
function optionalText(fields: Fields, field: string): string | undefined {
  const value = fields[field] ?? undefined;
  if (value !== undefined && typeof value !== "string") throw bad(`${field} must be a string`);
  return textOf(value);
}

function modeOf(value: unknown, field: "mode" | "wakeMode"): WakeMode {
  if (value === undefined || value === null) return "now";
  if (value !== "now" && value !== "next-heartbeat") throw bad(`${field} must be now|next-heartbeat`);
  return value;
}

/** The body of `wake`. */
export function wakeAction({ text, mode }: Fields): WakeAction {
  const written = textOf(text);
  if (written === undefined) throw bad("text required");
  return { kind: "wake", text: written, mode: modeOf(mode, "mode") };
}

/** The agent that a request is for. One that is not configured is the default one. */
function agentOf(asked: string | undefined, config: OpenClawConfig): string {
  const { agents, hooks } = config;
  const fallback = defaultAgentId(config);
  const named = asked?.toLowerCase();
  if (named === undefined) return fallback;
  const allowed = hooks?.allowedAgentIds?.map((id) => id.trim().toLowerCase());
  if (allowed && !allowed.includes("*") && !allowed.includes(named)) throw bad("agentId is not allowed by hooks.allowedAgentIds");
  return (agents?.list ?? []).some(({ id }) => id.toLowerCase() === named) ? named : fallback;
}

interface SessionFacts {
  /** The key that the sender chose. */
  readonly asked?: string | undefined;
  /** The key that the mapping sets. */
  readonly mapped?: string | undefined;
  readonly agentId: string;
  readonly uuid: () => string;
}

/** The session of a run: its key as it was written, and as it is stored. */
function sessionOf({ asked, mapped, agentId, uuid }: SessionFacts, config: OpenClawConfig): { readonly written: string; readonly key: string } {
  const { hooks } = config;
  if (asked !== undefined && hooks?.allowRequestSessionKey !== true)
    throw bad("sessionKey is disabled for external /hooks/agent payloads; set hooks.allowRequestSessionKey to true to let senders choose the session");
  const written = asked ?? mapped ?? textOf(hooks?.defaultSessionKey) ?? `hook:${uuid()}`;
  const prefixes = (hooks?.allowedSessionKeyPrefixes ?? []).map((prefix) => prefix.trim()).filter((prefix) => prefix !== "");
  if (prefixes.length > 0 && !prefixes.some((prefix) => written.toLowerCase().startsWith(prefix.toLowerCase())))
    throw bad(`sessionKey must start with one of: ${prefixes.join(", ")}`);
  const naming = { defaultAgentId: agentId, mainKey: config.session?.mainKey ?? "main", scope: config.session?.scope ?? "per-sender" } as const;
  const listed = (config.agents?.list ?? []).map(({ id }) => id.toLowerCase());
  const resolved = resolveSessionKey(written, naming, [agentId, ...listed]);
  if (!resolved.ok) throw bad(`sessionKey: ${resolved.message}`);
  // A key may name an agent as well: the same rule holds for it.
  if (resolved.agentId !== agentId) agentOf(resolved.agentId, config);
  return { written: resolved.key.replace(/^agent:[^:]+:/, ""), key: resolved.key };
}

/** Where the answer goes. */
function deliveryOf({ deliver, channel, to }: Fields, { channels }: OpenClawConfig): Pick<AgentAction, "deliver" | "channel" | "to"> {
  const known = ["last", ...Object.keys(channels ?? {}).filter((id) => id !== "defaults")];
  const asked = channel === undefined ? "last" : textOf(channel)?.toLowerCase();
  if (asked === undefined || !known.includes(asked)) throw bad(`channel must be ${known.join("|")}`);
  if (deliver !== undefined && deliver !== null && typeof deliver !== "boolean") throw bad("deliver must be true or false");
  // Ids of chats are numbers on some platforms.
  const target = optionalText({ to: typeof to === "number" ? String(to) : to }, "to");
  return { deliver: deliver !== false, channel: asked, ...(target === undefined ? {} : { to: target }) };
}

/** Settings of the run. */
function settingsOf({ model, thinking, timeoutSeconds = 0 }: Fields): Pick<AgentAction, "model" | "thinking" | "timeoutSeconds"> {
  const chosen = textOf(model);
  if (model !== undefined && chosen === undefined) throw bad("model required");
  const level = THINKING_LEVELS.find((known) => known === textOf(thinking)?.toLowerCase());
  if (thinking !== undefined && level === undefined) throw bad(`thinking must be one of ${THINKING_LEVELS.join(", ")}`);
  if (typeof timeoutSeconds !== "number" || !Number.isFinite(timeoutSeconds) || timeoutSeconds < 0) throw bad("timeoutSeconds must be a number of seconds");
  return {
    ...(chosen === undefined ? {} : { model: chosen }),
    ...(level === undefined ? {} : { thinking: level }),
    ...(timeoutSeconds === 0 ? {} : { timeoutSeconds: Math.min(timeoutSeconds, MAX_TIMEOUT_S) }),
  };
}

export interface ActionDeps {
  readonly config: OpenClawConfig;
  readonly uuid: () => string;
}

/** The body of `agent`. With `mapping`, the fields are those that the mapping made of a request. */
export function agentAction(fields: Fields, { config, uuid }: ActionDeps, mapping?: Mapping): AgentAction {
  const message = textOf(fields["message"]);
  if (message === undefined) throw bad(mapping ? "hook mapping requires message" : "message required");
  const agentId = agentOf(optionalText(fields, "agentId"), config);
  const key = optionalText(fields, "sessionKey");
  const session = sessionOf({ ...(mapping ? { mapped: key } : { asked: key }), agentId, uuid }, config);
  const isMail = session.written.startsWith("hook:gmail:");
  const isUnsafe = mapping !== undefined && fields["allowUnsafeExternalContent"] === true;
  const gmail = isMail ? config.hooks?.gmail : undefined;
  return {
    kind: "agent",
    message,
    name: oneLine(optionalText(fields, "name") ?? "", MAX_NAME) || "Hook",
    agentId,
    sessionKey: session.key,
    wakeMode: modeOf(fields["wakeMode"], "wakeMode"),
    ...deliveryOf(fields, config),
    ...settingsOf({ ...fields, model: fields["model"] ?? gmail?.model, thinking: fields["thinking"] ?? gmail?.thinking }),
    ...(fields["model"] === undefined ? {} : { isModelRequired: true }),
    isMarked: !isUnsafe && (session.written.startsWith("hook:") || mapping?.signed !== undefined),
    isMail,
  };
}

/** What a mapping makes of a request. `overrides` are what its transform returned. */
export function mappedAction(mapping: Mapping, values: TemplateValues, overrides: Fields, deps: ActionDeps): HookAction {
  const filled = (template: string | undefined): string | undefined => (template === undefined ? undefined : fill(template, values));
  const {
    messageTemplate,
    textTemplate,
    sessionKey,
    name,
    to,
    label: _,
    signed,
    path: _path,
    source: _source,
    transform: _transform,
    id: _id,
    ...rest
  } = mapping;
  const key = filled(sessionKey)?.trim();
  const own = {
    ...rest,
    message: filled(messageTemplate),
    text: filled(textTemplate),
    name: filled(name),
    to: filled(to),
    // A key that ends where its id should stand names nothing.
    sessionKey: key?.endsWith(":") ? undefined : key,
  };
  const fields = { ...own, ...overrides };
  const kind = overrides["kind"] ?? fields["action"];
  if (kind !== undefined && kind !== "agent" && kind !== "wake") throw bad("action must be agent|wake");
  if (kind !== "wake") return agentAction(fields, deps, mapping);
  const text = textOf(fields.text);
  if (text === undefined) throw bad("hook mapping requires text");
  return {
    kind: "wake",
    text,
    mode: "mode" in overrides ? modeOf(overrides["mode"], "mode") : modeOf(fields["wakeMode"], "wakeMode"),
    ...(signed ? { isForeign: true } : {}),
  };
}
