/** Names conversations after their first answer, where the configuration has a model for it. */
import { messageOf } from "../base/errors.ts";
import type { Conversation } from "../conversation/index.ts";
import type { LazyModels } from "../models/index.ts";
import type { AskedSessions, TitleDeps } from "./name-session.ts";

/** Of more the oldest are forgotten: they have their names by then. */
const MOST_ASKED = 10_000;

/** Transcripts that a model was asked about in this process, by session id. */
function createAsked(): AskedSessions {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.add(id);
      const [oldest] = ids.size > MOST_ASKED ? ids : [];
      if (oldest !== undefined) ids.delete(oldest);
    },
  };
}

/** Listens to the ends of runs. */
export function openSessionTitles(deps: TitleDeps, lazy: Pick<LazyModels, "models" | "budgets">, conversation: Pick<Conversation, "onEvent">): Disposable {
  const asked = createAsked();
  const stopping = new AbortController();
  const { signal } = stopping;
  const listening = conversation.onEvent(({ sessionKey: key }, event) => {
    const { enabled = true, model } = deps.config.current.session?.titles ?? {};
    if (!enabled || !model || event.stream !== "lifecycle" || event.data.phase !== "end" || event.data.aborted) return;
    import("./name-session.ts")
      .then(({ nameSession }) => nameSession(deps, lazy, { key, model, asked, signal }))
      .catch((error: unknown) => {
        if (!signal.aborted) deps.log.warn(`a conversation could not be named: ${messageOf(error)}`, { sessionKey: key });
      });
  });
  return {
    [Symbol.dispose]() {
      listening[Symbol.dispose]();
      stopping.abort();
    },
  };
}
