import { method } from "../method.ts";
import { closed, done, effect, filled, list, maybe, moment, none } from "../pieces.ts";

const Prompt = closed({
  id: filled(),
  name: filled(),
  text: filled({ description: "Words in braces, such as `{name}`, are placeholders." }),
  updatedAtMs: moment(),
});

/** Texts that people keep to send again. All browsers and programs of an installation have the same ones. */
export const promptsMethods = {
  "prompts.list": method({
    access: "operator.read",
    params: none(),
    result: closed({ prompts: list(Prompt) }),
    effect: false,
    module: "gateway",
    summary: "Lists saved prompts by name.",
  }),
  "prompts.put": method({
    access: "operator.write",
    params: effect({
      id: maybe(filled({ maxLength: 64, description: "Id of the prompt to change, or to restore after its removal. Without it, a new prompt is created." })),
      name: filled({ maxLength: 80 }),
      text: filled({ maxLength: 20_000 }),
    }),
    result: done({ prompt: Prompt }),
    effect: true,
    module: "gateway",
    summary: "Saves a prompt. Names are unique, ignoring case. At most 200 prompts and 500,000 characters in total.",
  }),
  "prompts.remove": method({
    access: "operator.write",
    params: effect({ id: filled({ maxLength: 64 }) }),
    result: done({ prompt: Prompt }),
    effect: true,
    module: "gateway",
    summary: "Removes a prompt and returns it. `prompts.put` with its id, name and text restores it.",
  }),
};
