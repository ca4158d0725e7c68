import type { Shelf } from "../../../base/shelf.ts";
import type { Attachment, Draft } from "./state.ts";

/** A message that the gateway has not accepted yet, as this browser keeps it. */
export interface Unsent extends Draft {
  readonly runId: string;
  readonly sessionKey: string;
  readonly ts: number;
  /** Why the gateway refused it. It is not sent again by itself then. */
  readonly error?: string | undefined;
  /** How many attachments are on the shelf instead of here. */
  readonly shelved?: number | undefined;
}

type Stored = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** Messages of every session of this browser that are not accepted yet. Other tabs see the same. */
export interface Outbox {
  all(): readonly Unsent[];
  /** False when the browser does not keep it: it lives as long as the page then. */
  put(message: Unsent): Promise<boolean>;
  remove(runId: string): void;
  /** Those of a message, wherever they are; undefined when they are gone. */
  attachments(message: Unsent): Promise<readonly Attachment[] | undefined>;
  /** Another tab put or removed something. */
  onForeign(listener: () => void): Disposable;
}

export interface OutboxOptions {
  readonly storage?: Stored | undefined;
  readonly events?: EventTarget;
  /** For attachments that are too large to stand beside the text. */
  readonly shelf?: Pick<Shelf, "load" | "put" | "remove"> | undefined;
}

const PREFIX = "openclaw.unsent.";
/** Letters of attachments that are kept beside the text. Browsers keep about five million of everything. */
const BESIDE = 500_000;

const place = (runId: string): string => `unsent.${runId}`;
const sizeOf = (attachments: readonly Attachment[]): number => attachments.reduce((sum, { content }) => sum + content.length, 0);

function parsed(text: string | null): Unsent | undefined {
  try {
    const value = JSON.parse(text ?? "null") as Partial<Unsent> | null;
    if (typeof value?.runId !== "string" || typeof value.sessionKey !== "string" || typeof value.text !== "string") return undefined;
    const attachments = Array.isArray(value.attachments) ? (value.attachments as readonly Attachment[]) : [];
    const shelved = typeof value.shelved === "number" ? value.shelved : undefined;
    return { ...value, runId: value.runId, sessionKey: value.sessionKey, text: value.text, ts: Number(value.ts) || 0, attachments, shelved };
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

/** Messages by key, one key for each, so that tabs do not write over each other. */
function createPile(storage: Stored | undefined) {
  return {
    all(): readonly Unsent[] {
      if (!storage) return [];
      const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at)).filter((key): key is string => key?.startsWith(PREFIX) ?? false);
      return keys
        .map((key) => parsed(storage.getItem(key)))
        .filter((message): message is Unsent => message !== undefined)
        .toSorted((a, b) => a.ts - b.ts);
    },
    put(message: Unsent): boolean {
      try {
        storage?.setItem(PREFIX + message.runId, JSON.stringify(message));
        return storage !== undefined;
      } catch {
        // Full, or forbidden.
        return false;
      }
    },
    /** Gives what was there. */
    take(runId: string): Unsent | undefined {
      try {
        const there = parsed(storage?.getItem(PREFIX + runId) ?? null);
        storage?.removeItem(PREFIX + runId);
        return there;
      } catch {
        // Forbidden: there is nothing to remove.
        return undefined;
      }
    },
  };
}

export function createOutbox({ storage = browserStorage(), events = globalThis, shelf }: OutboxOptions = {}): Outbox {
  const pile = createPile(storage);
  /** Messages whose attachments are on their way to the shelf. */
  const moving = new Map<string, Unsent>();

  /** The text waits for the attachments: without them it would be another message. */
  async function shelve(message: Unsent, to: NonNullable<typeof shelf>): Promise<boolean> {
    const { runId, attachments } = message;
    moving.set(runId, message);
    const onShelf = await to.put(place(runId), attachments, sizeOf(attachments), { firm: true });
    const latest = moving.get(runId);
    if (latest && latest !== message) return onShelf;
    moving.delete(runId);
    const kept = latest !== undefined && pile.put(onShelf ? { ...message, attachments: [], shelved: attachments.length } : message);
    if (onShelf && !kept) await to.remove(place(runId));
    return kept;
  }

  return {
    all: pile.all,
    put: async (message) => (!shelf || sizeOf(message.attachments) <= BESIDE ? pile.put(message) : shelve(message, shelf)),
    remove(runId) {
      const there = pile.take(runId);
      moving.delete(runId);
      if (there?.shelved) void shelf?.remove(place(runId));
    },
    async attachments({ runId, attachments, shelved }) {
      return shelved ? ((await shelf?.load(place(runId))) as readonly Attachment[] | undefined) : attachments;
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
