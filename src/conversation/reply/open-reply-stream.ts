import { messageOf } from "../../base/errors.ts";
import { createEnding } from "./ending.ts";
import { createFollower } from "./follower.ts";
import { createLiveTurn } from "./live-turn.ts";
import type { ReplyStreamDeps } from "./stream-deps.ts";
import type { ReplyStream } from "./stream.ts";

/** Follows one turn: what people see of it while it runs, and what is left to be said at its end. */
export function openReplyStream(deps: ReplyStreamDeps): ReplyStream {
  const turn = createLiveTurn(deps);
  const follow = createFollower(deps, turn);
  const ending = createEnding(deps, turn);
  let over = false;
  return {
    event(event) {
      if (over) return;
      try {
        follow(event);
      } catch (error) {
        deps.log.warn(`a part of a turn could not be shown: ${messageOf(error)}`);
      }
    },
    between: (text) => ending.between(text),
    finish(end) {
      over = true;
      return ending.finish(end);
    },
    async abandon() {
      if (over) return;
      over = true;
      await ending.abandon();
    },
  };
}
