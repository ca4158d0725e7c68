import { citationOf, passagesText } from "../../../memory/index.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/log/logger.ts";
import type { MarkUntrusted } from "../../untrusted/mark.ts";
import { absentMemory } from "./absence.ts";
import { memoryScope, type MemoryToolsDeps } from "./scope.ts";

export interface RecallDeps extends MemoryToolsDeps {
  readonly clock: Clock;
  readonly log: Pick<Logger, "debug">;
  readonly mark: MarkUntrusted;
}

/** What a turn is given from memory with its message; undefined when nothing fits, or when it would take too long. */
export type Recall = (facts: {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly message: string;
}) => Promise<string | undefined> | undefined;

/** A turn waits this long at most. */
const PATIENCE_MS = 150;
const MOST = 3;
const MOST_CHARS = 600;
/** Passages that are less likely to help are not worth their tokens. */
const LEAST_SCORE = 0.25;
/** Shorter messages ("ok", "thanks") ask for nothing. */
const LEAST_WORDS = 3;

/** `memorySearch.recall`: with `hint` a turn gets the places to look, with `inject` the best passages as quoted text. The prompt before the message stays as it is. */
export function createRecall(deps: RecallDeps): Recall {
  const { memory, config, clock, log, mark } = deps;

  async function find(agentId: string, sessionKey: string, sessionId: string, message: string, mode: "hint" | "inject"): Promise<string | undefined> {
    const scope = await memoryScope(deps, { agentId, sessionKey });
    const { hits } = await memory.search(agentId, {
      query: message.slice(0, 1000),
      maxResults: MOST * 3,
      minScore: LEAST_SCORE,
      scope,
      answering: sessionId,
      session: { key: sessionKey },
    });
    // What this very conversation said is in front of the model anyway.
    const useful = hits.filter((hit) => hit.sessionId !== sessionId && hit.supersededBy === undefined).slice(0, MOST);
    if (useful.length === 0) return undefined;
    if (mode === "hint") return `[Memory: may be about this: ${useful.map(citationOf).join(", ")}; read what you need with memory_get or memory_search]`;
    return mark(passagesText(useful, { timeZone: memory.timeZone(), mostChars: MOST_CHARS }), { source: "memory_search" });
  }

  return ({ agentId, sessionKey, sessionId, message }) => {
    if (message.startsWith("/") || message.trim().split(/\s+/).length < LEAST_WORDS) return undefined;
    const mode = memory.settings(agentId).recall;
    if (mode === "off" || absentMemory({ config: config(), agentId })) return undefined;
    let timer: Disposable | undefined;
    const late = new Promise<undefined>((resolve) => (timer = clock.after(PATIENCE_MS, () => resolve(undefined))));
    const found = find(agentId, sessionKey, sessionId, message, mode).catch((error: unknown) => {
      log.debug(`memory recall failed: ${messageOf(error)}`);
      return undefined;
    });
    return Promise.race([found, late]).finally(() => timer?.[Symbol.dispose]());
  };
}
