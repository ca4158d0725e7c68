import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/log/logger.ts";
import type { EventPayload } from "../../../protocol/index.ts";
import type { Store, Write } from "../../../store/index.ts";
import type { Responder } from "../../ports.ts";
import type { RunRelay } from "../../runs/relay.ts";
import type { SendTo } from "../deps.ts";
import { liveFile } from "../sessions/transcripts.ts";
import type { RunningPort } from "./asked-commands.ts";
import { showsReasoning, standing, waiting } from "./page.ts";
import type { Watchers } from "./watchers.ts";

/** What is known about a watched session. */
interface Known {
  /** Undefined until it is known: then every transcript may be it. */
  file: string | undefined;
  /** Inputs that wait in it. */
  pending: ReadonlySet<number>;
}

/** What a write may name. */
interface Named {
  readonly sessionKey?: string;
  readonly key?: string;
  readonly file?: string;
  readonly ids?: readonly number[];
  readonly id?: string;
}

const BY_SESSION: ReadonlySet<string> = new Set(["inbox.accept", "inbox.assign", "turns.start", "approvals.outcome"]);
const BY_KEY: ReadonlySet<string> = new Set(["sessions.put", "sessions.delete"]);
const BY_ID: ReadonlySet<string> = new Set(["inbox.claim", "inbox.release", "inbox.settle"]);

/** Sessions, of those that are watched, in which a write changes what a page shows. */
function touchedBy(
  [kind, input]: Write,
  sessions: Iterable<readonly [key: string, known: Known]>,
  sessionOf: (runId: string) => string | undefined,
): readonly string[] {
  const { sessionKey, key, file, ids = [], id } = input as Named;
  const one = BY_SESSION.has(kind) ? sessionKey : BY_KEY.has(kind) ? key : kind === "turns.end" && id !== undefined ? sessionOf(id) : undefined;
  if (one !== undefined) return [one];
  const found: string[] = [];
  if (!kind.startsWith("transcripts.") && !BY_ID.has(kind)) return found;
  for (const [watched, session] of sessions) {
    const fits = BY_ID.has(kind) ? ids.some((waiting) => session.pending.has(waiting)) : session.file === undefined || session.file === file;
    if (fits) found.push(watched);
  }
  return found;
}

/** Notifies connections that watch a session when it has changed. */
export interface Changes extends Disposable {
  /** Finds out where the session is stored, so that no change of it is missed from here on. */
  follow(sessionKey: string): Promise<void>;
}

export interface ChangesDeps {
  readonly store: Store;
  readonly commits: Pick<Store, "onCommit">;
  readonly responder: Pick<Responder, "onEvent">;
  readonly relay: Pick<RunRelay, "find" | "shown" | "written">;
  readonly watchers: Watchers;
  readonly send: SendTo;
  /** Connections that are there. */
  readonly isThere: (connId: string) => boolean;
  readonly clock: Pick<Clock, "after">;
  readonly log: Logger;
  readonly running?: Pick<RunningPort, "onOutput"> | undefined;
}

/** Time between two events of one session. */
const EVERY_MS = 50;
/** After which a connection that was too slow is notified again. */
const SLOW_MS = 500;

interface WatchedSession extends Known {
  /** Until it fires nothing is sent. */
  pause: Disposable | undefined;
  /** Something happened in the pause. */
  changed: boolean;
}

/** The state of a session; where it is stored is noted in `known`. */
async function look({ store, relay, watchers }: ChangesDeps, key: string, known: Known): Promise<EventPayload<"chat.changed">> {
  const session = await store.read("sessions.get", { key });
  watchers.allow(key, showsReasoning(session));
  const file = session && (await liveFile(store, session));
  known.file = file;
  const [waitingNow, row] = await Promise.all([waiting(store, key), file === undefined ? undefined : store.read("transcripts.get", { file })]);
  known.pending = new Set(waitingNow.map(({ id }) => id));
  return { sessionKey: key, ...standing(session, row), pending: waitingNow.length, runs: relay.shown(key, false).length };
}

/** Announces a session at once, and then not before the pause is over: the last state is always sent. */
function createAnnouncing(deps: ChangesDeps, sessions: Map<string, WatchedSession>): (key: string) => void {
  const { watchers, send, isThere, clock, log } = deps;

  function rest(key: string, session: WatchedSession): void {
    session.pause = undefined;
    if (!watchers.sessions.has(key)) sessions.delete(key);
    else if (session.changed) announce(key, session);
  }

  function pauseFor(ms: number, key: string, session: WatchedSession): void {
    session.pause?.[Symbol.dispose]();
    session.pause = clock.after(ms, () => rest(key, session));
  }

  function sent(key: string, session: WatchedSession, payload: EventPayload<"chat.changed">): void {
    for (const connId of watchers.sessions.get(key)?.connIds ?? []) {
      if (send(connId, "chat.changed", payload)) continue;
      if (!isThere(connId)) watchers.forget(connId);
      else {
        session.changed = true;
        pauseFor(SLOW_MS, key, session);
      }
    }
  }

  function announce(key: string, session: WatchedSession): void {
    session.changed = false;
    pauseFor(EVERY_MS, key, session);
    look(deps, key, session).then(
      (payload) => sent(key, session, payload),
      (error: unknown) => log.debug("a session change could not be announced", { sessionKey: key, error }),
    );
  }

  return (key) => {
    const session = watchers.sessions.has(key) ? sessions.get(key) : undefined;
    if (session?.pause) session.changed = true;
    else if (session) announce(key, session);
  };
}

export function createChanges(deps: ChangesDeps): Changes {
  const { relay, watchers } = deps;
  const sessions = new Map<string, WatchedSession>();
  const mark = createAnnouncing(deps, sessions);

  const committed = deps.commits.onCommit((writes) => {
    for (const [kind, input] of writes) {
      if (kind === "journal.append" && input.kind === "model.result") relay.written(input.turnId);
      else if (kind === "turns.end") relay.written(input.id);
    }
    if (watchers.sessions.size === 0) return;
    const keys = writes.flatMap((write) => touchedBy(write, sessions, (runId) => relay.find(runId)?.sessionKey));
    for (const key of new Set(keys)) mark(key);
  });
  const ran = deps.responder.onEvent(({ sessionKey }, { stream }) => {
    if (stream === "lifecycle" && watchers.sessions.size > 0) mark(sessionKey);
  });

  const wrote = deps.running?.onOutput(mark);

  return {
    async follow(sessionKey) {
      for (const [key, { pause }] of sessions) if (!pause && !watchers.sessions.has(key)) sessions.delete(key);
      let session = sessions.get(sessionKey);
      if (!session) sessions.set(sessionKey, (session = { file: undefined, pending: new Set(), pause: undefined, changed: false }));
      await look(deps, sessionKey, session);
    },
    [Symbol.dispose]() {
      committed[Symbol.dispose]();
      ran[Symbol.dispose]();
      wrote?.[Symbol.dispose]();
      for (const { pause } of sessions.values()) pause?.[Symbol.dispose]();
    },
  };
}
