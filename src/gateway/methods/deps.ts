import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Redactor } from "../../base/redaction.ts";
import type { Config, OpenClawConfig } from "../../config/index.ts";
import type { EventName, EventPayload } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import type { BroadcastOptions } from "../fanout.ts";
import type { Presence } from "../presence.ts";
import type { ExtensionsOf } from "./sessions/rows.ts";

/** Sends an event to every connection that may see it. */
export type Broadcast = <E extends EventName>(event: E, payload: EventPayload<E>, options?: Pick<BroadcastOptions, "form" | "replaceable">) => void;

/** Sends an event to one connection, when it is there and may see it. */
export type SendTo = <E extends EventName>(connId: string, event: E, payload: EventPayload<E>) => boolean;

/** Who is there, as methods need it. */
export type PresenceBoard = Pick<Presence, "list" | "update">;

export interface RestartRequest {
  readonly reason: string;
  readonly delayMs: number;
}

/** What became of a request to restart. */
export interface RestartReport {
  /** False: there will be no restart, and `reason` says why. */
  readonly ok: boolean;
  readonly delayMs: number;
  readonly reason: string;
  /** An earlier request stands for this one. */
  readonly coalesced: boolean;
  readonly pid?: number;
  readonly signal?: string;
  readonly mode?: string;
  readonly cooldownMsApplied?: number;
}

/** Throws where the configuration turns restarts off. */
export function requireRestarts({ commands }: OpenClawConfig): void {
  if (commands?.restart === false) throw new AppError("UNAVAILABLE", "restarts are turned off: commands.restart is false in the configuration");
}

/** What is left on disk for the gateway that comes after a restart; the names are the documented ones. */
export interface SentinelPayload {
  readonly kind: string;
  readonly status: string;
  /** When it was left. */
  readonly ts: number;
  /** The session to notify; the main one without it. */
  readonly sessionKey?: string;
  /** The caller's note. */
  readonly message?: string | null;
  readonly doctorHint?: string | null;
  readonly stats?: { readonly mode?: string; readonly root?: string };
}

/** What every area of methods may use. */
export interface MethodDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** Makes the commands in a text run as they are printed. */
  readonly runnable?: ((text: string) => string) | undefined;
  /** Knows the secrets that are shown to nobody. */
  readonly redactor?: Redactor | undefined;
  /** What plugins show of sessions; gives undefined while none does. */
  readonly extensions?: (() => ExtensionsOf | undefined) | undefined;
  /** Called when a method ends a session: before its transcript is archived, and after. */
  readonly endings?: SessionEndings | undefined;
}

/** A session that a method ends. */
export interface EndingSession {
  readonly key: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Its transcript. */
  readonly file?: string;
  readonly reason: "new" | "reset" | "deleted";
}

export interface SessionEndings {
  /** What runs in a session is about to be stopped, because the session is reset or deleted. */
  stopping?(key: string, how: "reset" | "deleted"): Promise<void>;
  /** Nothing is done before this resolves. */
  ending(session: EndingSession): Promise<void>;
  ended(session: EndingSession, next?: { readonly sessionId: string }): void;
}
