import { isRecord } from "../base/records.ts";
import { join } from "node:path";
import type { EndingSession, SessionEndings } from "./methods/deps.ts";
import type { Hooks } from "../hooks/index.ts";
import { newestLines } from "../sessions/index.ts";
import type { Store } from "../store/index.ts";

/** Messages of a conversation that plugins are shown at its end, at most. */
const MOST_MESSAGES = 2_000;
/** For all sessions together when the gateway stops. */
const LAST_MS = 2_000;

/** Notifies plugins about sessions that end. */
export interface EndedSessions extends SessionEndings {
  /** A session had a turn while this gateway ran. */
  used(session: Pick<EndingSession, "key" | "agentId" | "sessionId">): void;
  /** The gateway stops: every session that was used ends with it. Bounded, whatever plugins do. */
  stop(reason: "shutdown" | "restart"): Promise<void>;
}

interface EndedSessionsDeps {
  readonly store: Pick<Store, "read">;
  readonly hooks: () => Hooks | undefined;
  /** Transcripts are named from there. */
  readonly stateDir: string;
}

export function createEndedSessions({ store, hooks, stateDir }: EndedSessionsDeps): EndedSessions {
  const active = new Map<string, Pick<EndingSession, "key" | "agentId" | "sessionId">>();

  async function messagesOf(file: string | undefined): Promise<unknown[]> {
    if (file === undefined) return [];
    const found: unknown[] = [];
    for await (const { type, line } of newestLines(store, file, MOST_MESSAGES)) {
      const entry: unknown = type === "message" ? JSON.parse(line) : undefined;
      if (isRecord(entry)) found.push(entry["message"]);
    }
    return found.reverse();
  }

  const fileOf = (file: string | undefined): { readonly sessionFile?: string } => (file === undefined ? {} : { sessionFile: join(stateDir, file) });

  const counted = ({ agentId, sessionId }: Pick<EndingSession, "agentId" | "sessionId">): Promise<number> =>
    store.read("transcripts.messages", { agentId, sessionId }).catch(() => 0);

  return {
    used: (session) => void active.set(session.key, session),
    async ending({ key, agentId, sessionId, file, reason }) {
      if (!hooks()?.has("before_reset")) return;
      const messages = await messagesOf(file);
      await hooks()?.run("before_reset", { messages, reason, ...fileOf(file) }, { agentId, sessionKey: key, sessionId });
    },
    ended({ key, agentId, sessionId, file, reason }, next) {
      active.delete(key);
      const facts = { agentId, sessionId, sessionKey: key };
      const place = { ...fileOf(file), transcriptArchived: file !== undefined };
      const after = next ? { nextSessionId: next.sessionId, nextSessionKey: key } : {};
      const begin = (): void => {
        if (!next) return;
        const event = { sessionId: next.sessionId, sessionKey: key, resumedFrom: sessionId, reason };
        void hooks()?.run("session_start", event, { ...facts, sessionId: next.sessionId });
      };
      if (!hooks()?.has("session_end")) return begin();
      // Listeners of both are called with the end first.
      void counted({ agentId, sessionId }).then((messageCount) => {
        void hooks()?.run("session_end", { sessionId, sessionKey: key, messageCount, reason, ...place, ...after }, facts);
        begin();
      });
    },
    async stop(reason) {
      const sessions = [...active.values()];
      active.clear();
      if (sessions.length === 0 || !hooks()?.has("session_end")) return;
      const calls = await Promise.all(
        sessions.map(async ({ key, agentId, sessionId }) => {
          const messageCount = await counted({ agentId, sessionId });
          return { event: { sessionId, sessionKey: key, messageCount, reason }, ctx: { agentId, sessionId, sessionKey: key } };
        }),
      );
      await hooks()?.runBounded("session_end", calls, LAST_MS);
    },
  };
}
