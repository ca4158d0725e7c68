import { choice, closed, flag, maybe, orNull, text } from "./pieces.ts";

/** The model that answers when none was chosen, and why it is that one. */
export const AnsweringSchema = closed({
  model: orNull(text()),
  offline: flag(),
  why: text(),
  reason: maybe(
    closed({
      code: choice(["run", "session", "agent", "defaults", "standard", "credential", "local", "offline"]),
      key: maybe(choice(["env", "profile", "config", "ambient", "none", "missing"], { description: "Where the key comes from." })),
      keyName: maybe(text({ description: "The variable or the profile." })),
    }),
  ),
});
