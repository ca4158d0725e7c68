import { AppError } from "../../../base/errors.ts";
import type { Watched } from "../../runs/relay.ts";

/** Which connections watch which sessions. */
export interface Watchers {
  /** Watched sessions by their keys. */
  readonly sessions: ReadonlyMap<string, Watched>;
  /** Sessions of a connection. */
  keys(connId: string): readonly string[];
  /** `INVALID_INPUT` when the connection watches too many. `gone` ends it. */
  add(connId: string, sessionKey: string, gone: AbortSignal): void;
  remove(connId: string, sessionKey: string): void;
  /** Everything of a connection. */
  forget(connId: string): void;
  /** Whether reasoning is shown in a session. */
  allow(sessionKey: string, reasoning: boolean): void;
}

/** Sessions that one connection may watch. */
const MOST_KEYS = 64;

interface Session extends Watched {
  readonly connIds: Set<string>;
  reasoning: boolean;
}

export function createWatchers(): Watchers {
  const sessions = new Map<string, Session>();
  const connections = new Map<string, Set<string>>();

  function remove(connId: string, sessionKey: string): void {
    const keys = connections.get(connId);
    if (!keys?.delete(sessionKey)) return;
    if (keys.size === 0) connections.delete(connId);
    const session = sessions.get(sessionKey);
    session?.connIds.delete(connId);
    if (session?.connIds.size === 0) sessions.delete(sessionKey);
  }

  function forget(connId: string): void {
    for (const key of connections.get(connId) ?? []) remove(connId, key);
  }

  return {
    sessions,
    keys: (connId) => [...(connections.get(connId) ?? [])],
    add(connId, sessionKey, gone) {
      if (gone.aborted) return;
      let keys = connections.get(connId);
      if (keys?.has(sessionKey)) return;
      if (keys && keys.size >= MOST_KEYS)
        throw new AppError("INVALID_INPUT", `this connection already watches ${MOST_KEYS} sessions, the maximum; stop watching one with on: false`);
      if (!keys) {
        connections.set(connId, (keys = new Set()));
        gone.addEventListener("abort", () => forget(connId), { once: true });
      }
      keys.add(sessionKey);
      const session = sessions.get(sessionKey);
      if (session) session.connIds.add(connId);
      else sessions.set(sessionKey, { connIds: new Set([connId]), reasoning: false });
    },
    remove,
    forget,
    allow(sessionKey, reasoning) {
      const session = sessions.get(sessionKey);
      if (session) session.reasoning = reasoning;
    },
  };
}
