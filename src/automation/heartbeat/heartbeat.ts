/**
 * Heartbeats: turns that an agent takes by itself, at regular times or because something came in. What asks for one is a line of the system on disk; the
 * beat itself is a run in the inbox. Where there is nothing to do, no model is asked.
 */
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { heartbeatAgents, heartbeatSettings, isActiveHour } from "../../config/index.ts";
import { agentOfKey } from "../../protocol/index.ts";
import { beatSession, isTimed, type Beat } from "./beat.ts";
import { resumeBeat, runBeat, type BeatDeps, type Tried } from "./run-beat.ts";

export interface WakeRequest {
  readonly reason: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
}

export interface HeartbeatDeps extends BeatDeps {
  readonly log: Logger;
}

export interface Heartbeat extends Disposable {
  /** Reports beats that the previous process began, when they have ended. */
  resume(left: readonly { readonly key: string; readonly about: unknown }[]): void;
  /** Asks for a beat soon; what is asked for together gives one. */
  wake(request: WakeRequest): void;
  /** Runs what is due; gives how long until the next is. Undefined: nothing beats by itself. */
  tick(): number | undefined;
  /** The configuration changed: times begin again. */
  reconsider(): void;
}

const COALESCE_MS = 250;
const RETRY_MS = 1000;
/** How often it is looked whether the active hours have begun, while something waits for them. */
const HOURS_MS = 60_000;

/** More urgent first: of requests that come together, the reason of the most urgent counts. */
function urgency(reason: string): number {
  if (reason === "manual" || reason === "exec-event" || reason.startsWith("hook:")) return 3;
  return reason === "retry" ? 0 : reason === "interval" ? 1 : 2;
}

interface QuietBeats extends Disposable {
  add(beat: Beat): void;
}

/** Beats that were asked for outside the active hours of their agents; `begin` is called with each once they have begun. */
function createQuietBeats({ config, clock }: Pick<HeartbeatDeps, "config" | "clock">, begin: (beat: Beat) => void): QuietBeats {
  const waiting = new Map<string, Beat>();
  let timer: Disposable | undefined;

  const isActive = ({ agentId }: Beat): boolean => {
    const { current } = config;
    return isActiveHour(heartbeatSettings(current, agentId), current.agents?.defaults?.userTimezone, clock.now());
  };

  function arm(): void {
    if (waiting.size === 0) return;
    timer ??= clock.after(HOURS_MS, () => {
      timer = undefined;
      for (const [sessionKey, beat] of waiting) if (isActive(beat) && waiting.delete(sessionKey)) begin(beat);
      arm();
    });
  }

  return {
    add(beat) {
      waiting.set(beat.sessionKey, beat);
      arm();
    },
    [Symbol.dispose]() {
      timer?.[Symbol.dispose]();
      waiting.clear();
    },
  };
}

function reportLeft(deps: HeartbeatDeps, runId: string, about: unknown): void {
  resumeBeat(deps, runId, about).catch((error: unknown) =>
    deps.log.error(`the end of a heartbeat could not be reported: ${messageOf(error)}`, { runId, error }),
  );
}

export function createHeartbeat(deps: HeartbeatDeps, startedAt: number): Heartbeat {
  const { config, clock, log } = deps;
  /** When each agent beats next, on the clock that only goes forward. */
  const due = new Map<string, number>();
  const asked = new Map<string, Beat>();
  const running = new Set<string>();
  let timer: Disposable | undefined;
  let isClosed = false;

  const quiet = createQuietBeats(deps, (beat) => askIn(COALESCE_MS, beat));
  const every = (agentId: string): number => heartbeatSettings(config.current, agentId).everyMs;

  function plan(from: number): void {
    due.clear();
    for (const agentId of heartbeatAgents(config.current)) if (every(agentId) > 0) due.set(agentId, from + every(agentId));
  }
  plan(startedAt);

  function again(beat: Beat, tried: Tried): void {
    if (tried === "active-hours") quiet.add(beat);
    else if (tried === "soon") askIn(RETRY_MS, beat);
  }

  function askIn(ms: number, beat: Beat): void {
    ask(beat);
    arm(ms);
  }

  function ask(beat: Beat): void {
    const known = asked.get(beat.sessionKey);
    if (!known || urgency(beat.reason) > urgency(known.reason)) asked.set(beat.sessionKey, beat);
  }

  function arm(ms: number): void {
    if (isClosed || timer) return;
    timer = clock.after(ms, () => {
      timer = undefined;
      fire();
    });
  }

  function fire(): void {
    const beats = [...asked.values()].filter(({ sessionKey }) => !running.has(sessionKey));
    for (const beat of beats) {
      const { sessionKey, agentId } = beat;
      asked.delete(sessionKey);
      running.add(sessionKey);
      runBeat(deps, beat)
        .then((tried) => again(beat, tried))
        .catch((error: unknown) => log.error(`a heartbeat of ${agentId} could not be run: ${messageOf(error)}`, { agentId, sessionKey, error }))
        .finally(() => {
          running.delete(sessionKey);
          if (isTimed(beat) && due.has(agentId)) due.set(agentId, clock.monotonic() + every(agentId));
          if (asked.size > 0) arm(COALESCE_MS);
        });
    }
  }

  const beatOf = (agentId: string, reason: string): Beat => ({ agentId, sessionKey: beatSession(config.current, agentId), reason });

  return {
    resume: (left) => left.forEach(({ key, about }) => reportLeft(deps, key, about)),
    wake({ reason, agentId, sessionKey }) {
      if (isClosed) return;
      if (sessionKey !== undefined) {
        const [first = "main"] = heartbeatAgents(config.current);
        ask({ agentId: agentId ?? agentOfKey(sessionKey, { defaultAgentId: first }), sessionKey, reason });
      } else for (const id of agentId === undefined ? heartbeatAgents(config.current) : [agentId]) ask(beatOf(id, reason));
      arm(COALESCE_MS);
    },
    tick() {
      const now = clock.monotonic();
      for (const [agentId, at] of due) {
        if (at > now) continue;
        due.set(agentId, now + every(agentId));
        ask(beatOf(agentId, "interval"));
        fire();
      }
      const next = Math.min(...due.values());
      return Number.isFinite(next) ? Math.max(1, next - now) : undefined;
    },
    reconsider: () => plan(clock.monotonic()),
    [Symbol.dispose]() {
      isClosed = true;
      timer?.[Symbol.dispose]();
      quiet[Symbol.dispose]();
    },
  };
}
