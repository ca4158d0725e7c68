import { loadWhy, type Story } from "../../conversation/index.ts";
import type { MethodResult } from "../../protocol/index.ts";
import type { MethodDeps } from "./deps.ts";
import type { Handlers } from "./handler.ts";

const sent = ({ about, verdict, steps, others }: Story): MethodResult<"why">["stories"][number] => ({
  about,
  verdict,
  steps: steps.map((step) => ({ ...step })),
  others,
});

/** What became of messages. Loaded when somebody asks. */
export function whyHandlers({ store, clock }: Pick<MethodDeps, "store" | "clock">): Handlers {
  return {
    async why({ what, last }) {
      const { createWhy } = await loadWhy();
      const stories = await createWhy({ store, now: clock.now }).tell(what, { last });
      return { stories: stories.map(sent) };
    },
  };
}
