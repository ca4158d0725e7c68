/** Inputs that wait on disk, not in memory, until those before them in their session are answered. */
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { InboxRow, Store } from "../../store/index.ts";
import { inboundOf, type Group, type Inbound } from "../inbound.ts";
import type { OpenItems } from "../items.ts";

/**
 * What a previous process left may be any number of inputs. Of each session only some are in memory; new ones of a session whose older ones wait here
 * wait behind them.
 */
export interface Backlog {
  /** Puts messages that belong together behind those of their session. `isNew`: this process accepted them. */
  add(messages: Group, isNew: boolean): void;
  /** Whether a new message of the session has to wait for others here, or for those that are still being found. */
  has(sessionKey: string): boolean;
  /** Nothing is read before this is disposed: until what a previous process left is found, newer messages could be answered before older ones. */
  hold(): Disposable;
  /** Messages of a session that wait here. */
  depth(sessionKey: string): number;
  /** Messages in all, with those that are being ended. */
  readonly size: number;
  /** Reads what comes next, when there is space for it. Call it when an item of the session has ended. */
  advance(sessionKey: string): void;
  /** Takes messages out and ends them: all of a session that came before the given row, or those of one run. `ended` resolves with how many there were. */
  end(which: { readonly sessionKey: string; readonly runId?: string | undefined; readonly before: number }, why: string): EndedLeft;
  /** Undefined: the run does not wait here. Resolves when it does not any more; false: it is left for the next process. */
  passed(runId: string): Promise<boolean> | undefined;
  /** Nothing is read any more: what waits is on disk for the next process. */
  close(): void;
}

interface EndedLeft {
  readonly runIds: readonly string[];
  readonly ended: Promise<number>;
}

interface BacklogDeps {
  readonly store: Pick<Store, "read">;
  readonly clock: Pick<Clock, "after">;
  readonly log: Logger;
  readonly open: Pick<OpenItems, "size" | "inSession">;
  /** Takes messages up; resolves when newer ones of the session cannot overtake them any more. It must not reject. */
  begin(messages: Group, isNew: boolean): Promise<void>;
  /** Ends messages that will not be answered. It must not reject. */
  cancel(messages: Group, why: string): Promise<void>;
}

/** Messages on disk that belong together. Thousands may wait: only what finds them is held. */
interface Left {
  readonly ids: readonly number[];
  readonly isNew: boolean;
  readonly runId: string | undefined;
  readonly live: Inbound["live"];
}

interface SessionBacklog {
  list: Left[];
  isReading: boolean;
  /** It is in the queue of sessions that may read more. */
  isQueued: boolean;
}

/** Entries of a session that are read at once, and how few of its items are open when that happens. */
const PAGE = 20;
const FEW = 2;
/** Above so many open messages nothing is read. */
const MOST_OPEN = 400;
const RETRY_MS = 1000;

const count = (list: readonly Left[]): number => list.reduce((sum, { ids }) => sum + ids.length, 0);

/** What waits, by session, in order of arrival. */
function createLists() {
  const sessions = new Map<string, SessionBacklog>();
  /** Neither begun nor ended. */
  const all = new Set<Left>();
  const callers = new Map<string, PromiseWithResolvers<boolean>>();
  let size = 0;
  return {
    sessions,
    get size() {
      return size;
    },
    add(sessionKey: string, left: Left): void {
      const session = sessions.get(sessionKey) ?? { list: [], isReading: false, isQueued: false };
      const at = session.list.findLastIndex(({ ids: [first = 0] }) => first < (left.ids[0] ?? 0));
      session.list.splice(at + 1, 0, left);
      sessions.set(sessionKey, session);
      all.add(left);
      size += left.ids.length;
    },
    /** False: it was taken out before. */
    takeOut(session: SessionBacklog, left: Left): boolean {
      const at = session.list.indexOf(left);
      if (at >= 0) session.list.splice(at, 1);
      return at >= 0;
    },
    /** It was begun, or has ended. */
    pass(left: Left): void {
      const { runId } = left;
      all.delete(left);
      size -= left.ids.length;
      if (runId === undefined) return;
      callers.get(runId)?.resolve(true);
      callers.delete(runId);
    },
    passed(runId: string): Promise<boolean> | undefined {
      if (!all.values().some((left) => left.runId === runId)) return undefined;
      const caller = callers.get(runId) ?? Promise.withResolvers<boolean>();
      callers.set(runId, caller);
      return caller.promise;
    },
    leave(): void {
      for (const { resolve } of callers.values()) resolve(false);
    },
  };
}

/** Reads the messages of a session page by page, and begins them. */
function createReading({ store, clock, log, open, begin }: BacklogDeps, { sessions, takeOut, pass }: ReturnType<typeof createLists>) {
  /** Sessions that may read more, by turns. */
  const queue: string[] = [];
  let reading = 0;
  const reader = { isHeld: true, isClosed: false, advance, messagesOf };

  async function messagesOf({ ids, live }: Left): Promise<readonly Inbound[]> {
    const rows = await Promise.all(ids.map((id) => store.read("inbox.get", { id })));
    const isPending = (row: InboxRow | undefined): row is InboxRow => row?.state === "pending";
    const messages = rows.filter(isPending).flatMap((row) => inboundOf(row) ?? []);
    return live ? messages.map((inbound) => ({ ...inbound, live })) : messages;
  }

  async function beginLeft(left: Left, [first, ...others]: readonly Inbound[]): Promise<void> {
    const begun = first ? begin([first, ...others], left.isNew) : undefined;
    pass(left);
    await begun;
  }

  async function readPage(session: SessionBacklog): Promise<void> {
    const page = session.list.slice(0, PAGE);
    reading += page.length;
    try {
      const messages = await Promise.all(page.map(messagesOf));
      if (reader.isClosed) return;
      const begun: Promise<void>[] = [];
      for (const [at, left] of page.entries()) {
        // A new one is looked at at once, and must not overtake those before it.
        if (left.isNew) await Promise.all(begun);
        if (takeOut(session, left)) begun.push(beginLeft(left, messages[at] ?? []));
      }
      await Promise.all(begun);
    } finally {
      reading -= page.length;
    }
  }

  async function load(sessionKey: string, session: SessionBacklog): Promise<void> {
    session.isReading = true;
    try {
      await readPage(session);
    } catch (error) {
      log.warn(`waiting messages could not be read, trying again: ${messageOf(error)}`, { sessionKey, error });
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.after(RETRY_MS, resolve);
      await promise;
    }
    session.isReading = false;
    if (session.list.length === 0) sessions.delete(sessionKey);
    advance(sessionKey);
  }

  function advance(sessionKey: string): void {
    if (sessions.size === 0 || reader.isHeld || reader.isClosed) return;
    const own = sessions.get(sessionKey);
    if (own && !own.isReading && !own.isQueued && open.inSession(sessionKey) <= FEW) {
      own.isQueued = true;
      queue.push(sessionKey);
    }
    while (open.size + reading < MOST_OPEN) {
      const next = queue.shift();
      if (next === undefined) return;
      const session = sessions.get(next);
      if (!session) continue;
      session.isQueued = false;
      void load(next, session);
    }
  }

  return reader;
}

export function createBacklog(deps: BacklogDeps): Backlog {
  const lists = createLists();
  const { sessions } = lists;
  const reader = createReading(deps, lists);

  async function endAll(list: readonly Left[], why: string): Promise<number> {
    for (const left of list) {
      const [first, ...others] = await reader.messagesOf(left).catch((error: unknown) => {
        deps.log.error(`a waiting message could not be closed, the next start handles it: ${messageOf(error)}`, { inbox: left.ids, error });
        return [];
      });
      if (first) await deps.cancel([first, ...others], why);
      lists.pass(left);
    }
    return count(list);
  }

  return {
    add(messages, isNew) {
      const [{ sessionKey, request, live }] = messages;
      lists.add(sessionKey, { ids: messages.map(({ id }) => id), isNew, runId: request?.runId, live });
      reader.advance(sessionKey);
    },
    has: (sessionKey) => reader.isHeld || sessions.has(sessionKey),
    hold() {
      reader.isHeld = true;
      return {
        [Symbol.dispose]() {
          reader.isHeld = false;
          for (const sessionKey of sessions.keys()) reader.advance(sessionKey);
        },
      };
    },
    depth: (sessionKey) => count(sessions.get(sessionKey)?.list ?? []),
    get size() {
      return lists.size;
    },
    advance: reader.advance,
    end({ sessionKey, runId, before }, why) {
      const session = sessions.get(sessionKey);
      const fits = (left: Left): boolean => (runId === undefined ? (left.ids[0] ?? 0) < before : left.runId === runId);
      const taken = session?.list.filter(fits) ?? [];
      if (session) for (const left of taken) lists.takeOut(session, left);
      if (session?.list.length === 0 && !session.isReading) sessions.delete(sessionKey);
      return { runIds: taken.flatMap((left) => left.runId ?? []), ended: endAll(taken, why) };
    },
    passed: (runId) => (reader.isClosed && lists.passed(runId) ? Promise.resolve(false) : lists.passed(runId)),
    close() {
      reader.isClosed = true;
      lists.leave();
    },
  };
}
