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

/** What is known of a session that somebody watches. */
interface Place {
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
  places: Iterable<readonly [key: string, place: Place]>,
  sessionOf: (runId: string) => string | undefined,
): readonly string[] {
  const { sessionKey, key, file, ids = [], id } = input as Named;
  const one = BY_SESSION.has(kind) ? sessionKey : BY_KEY.has(kind) ? key : kind === "turns.end" && id !== undefined ? sessionOf(id) : undefined;
  if (one !== undefined) return [one];
  const found: string[] = [];
  if (!kind.startsWith("transcripts.") && !BY_ID.has(kind)) return found;
  for (const [watched, place] of places) {
    const fits = BY_ID.has(kind) ? ids.some((waiting) => place.pending.has(waiting)) : place.file === undefined || place.file === file;
    if (fits) found.push(watched);
  }
  return found;
}

/** Tells connections that watch a session when it has changed. */
export interface Changes extends Disposable {
  /** Learns where the session is kept, so that nothing of it is missed from here on. */
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
/** After which a connection that was too slow is told again. */
const SLOW_MS = 500;

interface Told extends Place {
  /** Until it fires nothing is told. */
  pause: Disposable | undefined;
  /** Something happened in the pause. */
  changed: boolean;
}

/** How a session stands; what is found out about its place is kept. */
async function look({ store, relay, watchers }: ChangesDeps, key: string, place: Place): Promise<EventPayload<"chat.changed">> {
  const session = await store.read("sessions.get", { key });
  watchers.allow(key, showsReasoning(session));
  const file = session && (await liveFile(store, session));
  place.file = file;
  const [unsaid, row] = await Promise.all([waiting(store, key), file === undefined ? undefined : store.read("transcripts.get", { file })]);
  place.pending = new Set(unsaid.map(({ id }) => id));
  return { sessionKey: key, ...standing(session, row), pending: unsaid.length, runs: relay.shown(key, false).length };
}

/** Tells of a session at once, and then not before the pause is over: the last state is always told. */
function createTelling(deps: ChangesDeps, places: Map<string, Told>): (key: string) => void {
  const { watchers, send, isThere, clock, log } = deps;

  function rest(key: string, place: Told): void {
    place.pause = undefined;
    if (!watchers.sessions.has(key)) places.delete(key);
    else if (place.changed) tell(key, place);
  }

  function pauseFor(ms: number, key: string, place: Told): void {
    place.pause?.[Symbol.dispose]();
    place.pause = clock.after(ms, () => rest(key, place));
  }

  function sent(key: string, place: Told, payload: EventPayload<"chat.changed">): void {
    for (const connId of watchers.sessions.get(key)?.connIds ?? []) {
      if (send(connId, "chat.changed", payload)) continue;
      if (!isThere(connId)) watchers.forget(connId);
      else {
        place.changed = true;
        pauseFor(SLOW_MS, key, place);
      }
    }
  }

  function tell(key: string, place: Told): void {
    place.changed = false;
    pauseFor(EVERY_MS, key, place);
    look(deps, key, place).then(
      (payload) => sent(key, place, payload),
      (error: unknown) => log.debug("a change of a session could not be told", { sessionKey: key, error }),
    );
  }

  return (key) => {
    const place = watchers.sessions.has(key) ? places.get(key) : undefined;
    if (place?.pause) place.changed = true;
    else if (place) tell(key, place);
  };
}

export function createChanges(deps: ChangesDeps): Changes {
  const { relay, watchers } = deps;
  const places = new Map<string, Told>();
  const mark = createTelling(deps, places);

  const committed = deps.commits.onCommit((writes) => {
    for (const [kind, input] of writes) {
      if (kind === "journal.append" && input.kind === "model.result") relay.written(input.turnId);
      else if (kind === "turns.end") relay.written(input.id);
    }
    if (watchers.sessions.size === 0) return;
    const keys = writes.flatMap((write) => touchedBy(write, places, (runId) => relay.find(runId)?.sessionKey));
    for (const key of new Set(keys)) mark(key);
  });
  const ran = deps.responder.onEvent(({ sessionKey }, { stream }) => {
    if (stream === "lifecycle" && watchers.sessions.size > 0) mark(sessionKey);
  });

  const wrote = deps.running?.onOutput(mark);

  return {
    async follow(sessionKey) {
      for (const [key, { pause }] of places) if (!pause && !watchers.sessions.has(key)) places.delete(key);
      let place = places.get(sessionKey);
      if (!place) places.set(sessionKey, (place = { file: undefined, pending: new Set(), pause: undefined, changed: false }));
      await look(deps, sessionKey, place);
    },
    [Symbol.dispose]() {
      committed[Symbol.dispose]();
      ran[Symbol.dispose]();
      wrote?.[Symbol.dispose]();
      for (const { pause } of places.values()) pause?.[Symbol.dispose]();
    },
  };
}
