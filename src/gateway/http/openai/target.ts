import { createHash } from "node:crypto";
import { isPrintable } from "../../../base/printable.ts";
import type { IncomingHttpHeaders } from "node:http";
import type { Ids } from "../../../base/ids.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import { resolveSessionKey } from "../../../protocol/index.ts";
import { agentIds } from "./models.ts";

/** Which agent and session a request is for, and the id of its run. */
export interface RunTarget {
  readonly runId: string;
  /** Canonical. */
  readonly sessionKey: string;
  /** The caller named the run, so it may come back for the answer: a lost connection does not end it. */
  readonly resumable: boolean;
}

export interface TargetInput {
  readonly headers: IncomingHttpHeaders;
  readonly model: string;
  readonly user: string | undefined;
  /** `openai` or `openresponses`: the part of the session key that tells the endpoints apart. */
  readonly space: "openai" | "openresponses";
  /** What ids of this endpoint start with. */
  readonly idPrefix: "chatcmpl_" | "resp_";
}

export type TargetChoice = { readonly ok: true; readonly target: RunTarget } | { readonly ok: false; readonly message: string };

const MODEL_AGENT = /^(?:openclaw[:/]|agent:)([a-z0-9][a-z0-9_-]{0,63})$/i;
const KEY_LENGTH = 512;

const fail = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message });

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  return text === "" ? undefined : text;
}

const digest = (parts: readonly unknown[]): string => createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);

/** The agent that the caller names by header or model. */
function namedAgent({ headers, model }: TargetInput): string | undefined {
  const named = header(headers, "x-openclaw-agent-id") ?? header(headers, "x-openclaw-agent") ?? MODEL_AGENT.exec(model.trim())?.[1];
  return named?.toLowerCase();
}

/** Chooses by headers, model and user, in that order. A repeated `Idempotency-Key` gives the same run and session again. */
export function chooseTarget(config: OpenClawConfig, ids: Ids, input: TargetInput): TargetChoice {
  const { headers, space } = input;
  const known = agentIds(config);
  const named = namedAgent(input);
  if (named !== undefined && !known.includes(named)) return fail(`unknown agent id "${named.slice(0, 80)}"`);
  const agent = named ?? known[0];

  const idempotencyKey = header(headers, "idempotency-key");
  const session = header(headers, "x-openclaw-session-key");
  const user = input.user?.trim();
  // Where it goes is part of the key, so that nobody gets another session's answer by repeating it.
  const unique = idempotencyKey === undefined ? ids.uuid() : digest([idempotencyKey, agent, session, user]);
  const rest = user ? `${space}-user:${user.toLowerCase()}` : `${space}:${unique}`;
  const written = session ?? `agent:${agent}:${rest}`;
  if (written.length > KEY_LENGTH || !isPrintable(written)) return fail(`the session key or user must be printable and at most ${KEY_LENGTH} characters`);

  const scope = config.session?.scope ?? "per-sender";
  const resolved = resolveSessionKey(written, { defaultAgentId: agent, scope }, known);
  if (!resolved.ok) return fail(resolved.message);
  const { key: sessionKey, agentId: owner } = resolved;
  if (sessionKey === "unknown" || (sessionKey === "global" && scope !== "global")) return fail(`malformed session key "${written}"`);
  if (named !== undefined && named !== owner) return fail(`agent "${named}" does not match session key agent "${owner}"`);
  return { ok: true, target: { runId: input.idPrefix + unique, sessionKey, resumable: idempotencyKey !== undefined } };
}
