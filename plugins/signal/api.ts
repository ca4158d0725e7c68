/** What the channel asks of Signal, whichever program speaks for it. */
import { ChannelError, type Fields, type FilePart, recordsOf, type Refusal, textOf, wholeOf } from "openclaw/plugin-sdk/channel-kit";
import type { RichText } from "openclaw/plugin-sdk/rich-text";
import type { Target } from "./target.ts";

/** Who the account is. */
export interface Self {
  readonly number: string | undefined;
  readonly uuid: string | undefined;
}

export interface Mention {
  readonly start: number;
  readonly length: number;
  /** A number or a bare uuid. */
  readonly author: string;
}

export interface Outgoing {
  readonly target: Target;
  /** Without links: their addresses are in the text. */
  readonly rich: RichText;
  readonly mentions: readonly Mention[];
  readonly files?: readonly FilePart[] | undefined;
  readonly quote?: { readonly timestamp: number; readonly author: string; readonly message: string } | undefined;
  /** The message that this one takes the place of. */
  readonly editOf?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Reaction {
  readonly target: Target;
  /** Who wrote the message. */
  readonly author: string;
  readonly timestamp: number;
  readonly emoji: string;
  readonly remove: boolean;
}

export interface FileRef {
  readonly id: string;
  readonly target: Target;
}

export interface GroupFacts {
  readonly id: string;
  readonly name: string;
  readonly members: readonly string[];
}

export interface ListenOptions {
  readonly self: Self;
  readonly signal: AbortSignal;
  /** The last event that is stored, where events have ids. */
  readonly lastId: string | undefined;
  opened(): void;
  alive(): void;
  event(message: unknown, id: string | undefined): void;
  /** Something came that is no event. */
  garbage(what: string): void;
}

export interface Listener {
  /** Resolves with what ended it. Never rejects. */
  readonly ended: Promise<unknown>;
  flow(isOpen: boolean): void;
}

export interface SignalApi {
  readonly form: "native" | "container";
  /** Resolves when the program answers. */
  check(signal?: AbortSignal): Promise<void>;
  /** Rejects with `permanent` where the account is not on that machine. */
  self(signal?: AbortSignal): Promise<Self>;
  listen(options: ListenOptions): Listener;
  /** Resolves with the time that names the message. */
  send(message: Outgoing): Promise<number>;
  typing(target: Target, isOn: boolean, signal?: AbortSignal): Promise<void>;
  markRead(person: string, timestamp: number): Promise<void>;
  react(reaction: Reaction): Promise<void>;
  remove(target: Target, timestamp: number): Promise<void>;
  file(ref: FileRef, maxBytes: number, signal: AbortSignal): Promise<Buffer>;
  groups(): Promise<readonly GroupFacts[]>;
  close(): void;
}

export const RPC_MS = 10_000;
/** Sending to a large group takes long. */
export const SEND_MS = 60_000;

export const ACCOUNT_FIX = "link or register the number with signal-cli on that machine, or correct channels.signal.account";
const TRUST_FIX = "their safety number changed: check it, then run signal-cli trust for them";
const CAPTCHA_FIX = "Signal requires a captcha: see signal-cli submitRateLimitChallenge";

/** What each end of a message means. A network failure of signal-cli says nothing about what Signal's server took. */
const RESULTS: Readonly<Record<string, Omit<Refusal, "reason">>> = {
  UNREGISTERED_FAILURE: { status: 404, delivery: "failed", description: "they are not on Signal" },
  IDENTITY_FAILURE: { status: 403, delivery: "failed", description: "their identity key is not trusted", fix: TRUST_FIX },
  INVALID_PRE_KEY_FAILURE: { status: 400, delivery: "failed", description: "their keys cannot be used" },
  NETWORK_FAILURE: { status: 502, delivery: "unknown", description: "signal-cli could not reach Signal" },
};

/** Why nobody got a message; undefined where someone did. */
export function refusalIn(results: unknown): Refusal | undefined {
  const all = recordsOf(results);
  if (all.length === 0 || all.some(({ type }) => type === "SUCCESS")) return undefined;
  // What can be tried again counts more than what cannot.
  const limited = all.find(({ type }) => type === "RATE_LIMIT_FAILURE");
  const [first] = [limited, all.find(({ type }) => type === "NETWORK_FAILURE"), all[0]].filter((found) => found !== undefined);
  const reason = textOf(first?.["type"]) ?? "unknown result";
  if (!limited) return { reason, ...(RESULTS[reason] ?? { status: 502, delivery: "unknown" }) };
  return { status: 429, reason, retryAfterMs: waitOf(limited), ...(textOf(limited["token"]) ? { fix: CAPTCHA_FIX } : {}) };
}

const LIMIT_MS = 60_000;

const waitOf = (result: Fields): number => {
  const seconds = wholeOf(result["retryAfterSeconds"]);
  return seconds === undefined ? LIMIT_MS : seconds * 1000;
};

/** Errors of signal-cli itself. */
export const CODES: Readonly<Record<number, Omit<Refusal, "reason">>> = {
  [-1]: { status: 400, delivery: "failed" },
  [-2]: { status: 500, delivery: "unknown" },
  [-3]: { status: 502, delivery: "unknown" },
  [-4]: { status: 403, delivery: "failed", fix: TRUST_FIX },
  [-5]: { status: 429, retryAfterMs: LIMIT_MS },
  [-6]: { status: 403, delivery: "failed", fix: CAPTCHA_FIX },
  [-32_601]: { status: 404, delivery: "failed" },
  [-32_603]: { status: 500, delivery: "unknown" },
};

/** A refusal that was in an answer which looked like a success. */
export function refused(action: string, { status = 502, reason, description, retryAfterMs, delivery, fix }: Refusal): ChannelError {
  const state = delivery ?? (status === 429 ? "retry" : "unknown");
  const text = [reason, description].filter(Boolean).join(": ");
  return new ChannelError(`Signal refused ${action}: ${text}${fix === undefined ? "" : `; ${fix}`}`, {
    action,
    status,
    description: text,
    reason,
    delivery: { state, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  });
}

/** A file as signal-cli takes it without a path on its machine. */
export function dataUri({ data, fileName, mimeType }: FilePart): string {
  const name = fileName === undefined ? "" : `;filename=${encodeURIComponent(fileName)}`;
  return `data:${mimeType ?? "application/octet-stream"}${name};base64,${Buffer.from(data).toString("base64")}`;
}
