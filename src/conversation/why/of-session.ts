import type { Clock } from "../../base/clock.ts";
import type { Store } from "../../store/index.ts";
import { createWhy } from "./create-why.ts";
import { whyText } from "./text.ts";

/** Turns that are searched for the last one of a model. */
const MOST_TURNS = 50;

/** The last turn of a session that a model was to answer. Commands of clients have turns of their own, without a prompt: they do not count. */
async function lastTurn(store: Pick<Store, "read">, sessionKey: string): Promise<string | undefined> {
  for (const { id, outcome } of await store.read("turns.ofSession", { sessionKey, limit: MOST_TURNS })) {
    if (outcome === "failed" || (await store.read("journal.steps", { turnId: id })).length > 0) return id;
  }
  return undefined;
}

/** How a message of a session was answered, in a few lines; without an id, its last one. Messages of other sessions are not explained. */
export async function whyInSession(
  { store, clock }: { readonly store: Store; readonly clock: Pick<Clock, "now"> },
  sessionKey: string,
  id: string | undefined,
): Promise<string | undefined> {
  const subject = id ?? (await lastTurn(store, sessionKey));
  if (subject === undefined) return undefined;
  const [story] = await createWhy({ store, now: clock.now })
    .tell(subject)
    .catch(() => []);
  return story && story.about.sessionKey === sessionKey ? whyText(story, { short: true }) : undefined;
}
