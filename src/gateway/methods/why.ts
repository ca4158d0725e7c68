import { loadWhy, type Story } from "../../conversation/index.ts";
import type { MethodResult } from "../../protocol/index.ts";
import type { MethodDeps } from "./deps.ts";
import type { HandlersOf } from "./handler.ts";

type Sent = MethodResult<"why">["stories"][number];
type About = Story["about"];

/** Adds what a session is called. */
type Naming = (about: About) => Sent["about"];

const sent = ({ about, verdict, steps, others }: Story, named: Naming): Sent => ({
  about: named(about),
  verdict,
  steps: steps.map((step) => ({ ...step })),
  others: others.map(named),
});

async function namingOf(stories: readonly Story[], store: MethodDeps["store"]): Promise<Naming> {
  const keys = new Set(stories.flatMap(({ about, others }) => [about, ...others]).flatMap(({ sessionKey }) => sessionKey ?? []));
  const names = new Map(keys.size === 0 ? [] : (await store.read("sessions.names", { keys: [...keys] })).map(({ key, name }) => [key, name]));
  return (about) => {
    const sessionName = about.sessionKey === undefined ? undefined : names.get(about.sessionKey);
    return sessionName === undefined ? about : { ...about, sessionName };
  };
}

/** What became of messages. Loaded with the first call. */
export function whyHandlers({ store, clock, redactor, runnable }: Pick<MethodDeps, "store" | "clock" | "redactor" | "runnable">): HandlersOf<"why"> {
  return {
    async why({ what, last }) {
      const { createWhy } = await loadWhy();
      const stories = await createWhy({ store, now: clock.now, redactor, runnable }).tell(what, { last, closely: true });
      const named = await namingOf(stories, store);
      return { stories: stories.map((story) => sent(story, named)), now: clock.now() };
    },
  };
}
