import { systemClock, type Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";

/** The event of an internal hook. It is shared: handlers push messages for the user, and may add to `context` where the host reads it back. */
export interface InternalHookEvent {
  type: string;
  action: string;
  sessionKey: string;
  context: Record<string, unknown>;
  timestamp: Date;
  messages: string[];
}
export type InternalHookHandler = (event: InternalHookEvent) => unknown;

export interface InternalHookRegistration {
  /** The plugin that it belongs to; without it the hook came from a file. */
  readonly pluginId?: string;
  readonly name?: string;
  readonly description?: string;
  readonly entry?: unknown;
  /** `false`: declared, not called. */
  readonly register?: boolean;
}

export interface InternalHooks {
  /** Registers under `type` or `type:action` keys. Throws `INVALID_INPUT` without a name, a key or a handler. */
  register(keys: string | readonly string[], handler: InternalHookHandler, registration: InternalHookRegistration): Disposable;
  /** Calls the handlers of the type, then those of the action, one after the other. Resolves to texts for the user. */
  trigger(type: string, action: string, sessionKey: string, context?: Record<string, unknown>): Promise<string[]>;
  /** Whether anything would be called. */
  has(type: string, action: string): boolean;
}

export interface InternalHooksDeps {
  readonly log: Logger;
  /** `hooks.internal.enabled`, read at every trigger. */
  readonly enabled: () => boolean;
  readonly clock?: Clock;
  /** Milliseconds for one handler. */
  readonly budgetMs?: number;
}

interface Registered {
  readonly handler: InternalHookHandler;
  readonly pluginId: string | undefined;
  readonly name: string;
}

/** How the log names a hook. */
const shown = ({ pluginId, name }: Pick<Registered, "pluginId" | "name">): string =>
  pluginId === undefined ? `the hook ${name}` : `plugin ${pluginId}: its internal hook ${name}`;

export function createInternalHooks({ log, enabled, clock = systemClock, budgetMs = 30_000 }: InternalHooksDeps): InternalHooks {
  const byKey = new Map<string, Set<Registered>>();
  const found = (type: string, action: string): Registered[] => [...(byKey.get(type) ?? []), ...(byKey.get(`${type}:${action}`) ?? [])];

  async function call(registered: Registered, event: InternalHookEvent): Promise<void> {
    const { handler, pluginId } = registered;
    const fields = { hook: `${event.type}:${event.action}`, ...(pluginId === undefined ? {} : { pluginId }) };
    const { promise: expired, resolve } = Promise.withResolvers<"expired">();
    using _timer = clock.after(budgetMs, () => resolve("expired"));
    try {
      const ended = await Promise.race([expired, Promise.resolve(handler(event))]);
      if (ended === "expired") log.warn(`${shown(registered)} took longer than ${budgetMs} ms and was abandoned`, fields);
    } catch (error) {
      log.error(`${shown(registered)} failed: ${messageOf(error)}`, fields);
    }
  }

  return {
    register(keys, handler, { pluginId, name, register }) {
      const wanted = (typeof keys === "string" ? [keys] : [...keys]).map((key) => key.trim()).filter((key) => key !== "");
      const expect = (what: string) =>
        new AppError("INVALID_INPUT", `an internal hook${pluginId === undefined ? "" : ` of ${pluginId}`} is ignored: ${what}`, {
          details: { pluginId, keys: wanted },
        });
      if (typeof name !== "string" || name.trim() === "") throw expect("it has no name; pass { name } as the third argument");
      if (wanted.length === 0) throw expect("it names no event such as command:new");
      if (typeof handler !== "function") throw expect(`its handler must be a function, but is ${typeof handler}`);
      if (register === false) return { [Symbol.dispose]() {} };
      const registered: Registered = { handler, pluginId, name };
      for (const key of wanted) byKey.set(key, (byKey.get(key) ?? new Set()).add(registered));
      return {
        [Symbol.dispose]() {
          for (const key of wanted) byKey.get(key)?.delete(registered);
        },
      };
    },
    async trigger(type, action, sessionKey, context = {}) {
      if (!enabled()) return [];
      const called = found(type, action);
      if (called.length === 0) return [];
      const event: InternalHookEvent = { type, action, sessionKey, context, timestamp: new Date(clock.now()), messages: [] };
      for (const registered of called) await call(registered, event);
      return Array.isArray(event.messages) ? event.messages.filter((message) => typeof message === "string") : [];
    },
    has: (type, action) => enabled() && found(type, action).length > 0,
  };
}
