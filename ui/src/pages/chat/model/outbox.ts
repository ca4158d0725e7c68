import type { Attachment, Draft } from "./state.ts";

/** A message that the gateway has not accepted yet, as this browser keeps it. */
export interface Unsent extends Draft {
  readonly runId: string;
  readonly sessionKey: string;
  readonly ts: number;
  /** Why the gateway refused it. It is not sent again by itself then. */
  readonly error?: string | undefined;
}

type Stored = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** Messages of every session of this browser that are not accepted yet. Other tabs see the same. */
export interface Outbox {
  all(): readonly Unsent[];
  /** False when the browser does not keep it: it lives as long as the page. */
  put(message: Unsent): boolean;
  remove(runId: string): void;
  /** Another tab put or removed something. */
  onForeign(listener: () => void): Disposable;
}

const PREFIX = "openclaw.unsent.";

function parsed(text: string | null): Unsent | undefined {
  try {
    const value = JSON.parse(text ?? "null") as Partial<Unsent> | null;
    if (typeof value?.runId !== "string" || typeof value.sessionKey !== "string" || typeof value.text !== "string") return undefined;
    const attachments = Array.isArray(value.attachments) ? (value.attachments as readonly Attachment[]) : [];
    return { ...value, runId: value.runId, sessionKey: value.sessionKey, text: value.text, ts: Number(value.ts) || 0, attachments };
  } catch {
    return undefined;
  }
}

function browserStorage(): Stored | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

/** One key for each message, so that tabs do not write over each other. */
export function createOutbox(storage: Stored | undefined = browserStorage(), events: EventTarget = globalThis): Outbox {
  return {
    all() {
      if (!storage) return [];
      const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at)).filter((key): key is string => key?.startsWith(PREFIX) ?? false);
      return keys
        .map((key) => parsed(storage.getItem(key)))
        .filter((message): message is Unsent => message !== undefined)
        .toSorted((a, b) => a.ts - b.ts);
    },
    put(message) {
      try {
        storage?.setItem(PREFIX + message.runId, JSON.stringify(message));
        return storage !== undefined;
      } catch {
        // Full, or forbidden.
        return false;
      }
    },
    remove(runId) {
      try {
        storage?.removeItem(PREFIX + runId);
      } catch {
        // Forbidden: there is nothing to remove.
      }
    },
    onForeign(listener) {
      const heard = (event: Event): void => {
        if ((event as StorageEvent).key?.startsWith(PREFIX) ?? true) listener();
      };
      events.addEventListener("storage", heard);
      return { [Symbol.dispose]: () => events.removeEventListener("storage", heard) };
    },
  };
}
