import { method } from "../method.ts";
import { anything, choice, closed, effect, filled, flag, list, maybe, text } from "../pieces.ts";

const status = choice(["running", "done", "cancelled", "error"]);

const Step = closed({
  id: filled(),
  type: choice(["note", "select", "text", "confirm", "multiselect", "progress", "action"]),
  title: maybe(text()),
  message: maybe(text()),
  options: maybe(list(closed({ value: anything(), label: text(), hint: maybe(text()) }))),
  initialValue: maybe(anything()),
  placeholder: maybe(text()),
  sensitive: maybe(flag()),
  executor: maybe(choice(["gateway", "client"])),
});

const progress = { done: flag(), step: maybe(Step), status: maybe(status), error: maybe(text()) };
const standing = closed({ status, error: maybe(text()) });

/** First-time set-up, asked step by step. */
export const wizardMethods = {
  "wizard.start": method({
    access: "operator.admin",
    params: effect({ mode: maybe(choice(["local", "remote"])), workspace: maybe(text()) }),
    result: closed({ sessionId: filled(), ...progress }),
    effect: true,
    module: "app",
    summary: "Starts the set-up wizard; one runs at a time.",
  }),
  "wizard.next": method({
    access: "operator.admin",
    params: effect({ sessionId: filled(), answer: maybe(closed({ stepId: filled(), value: maybe(anything()) })) }),
    result: closed(progress),
    effect: true,
    module: "app",
    summary: "Answers a step and waits for the next one.",
  }),
  "wizard.cancel": method({
    access: "operator.admin",
    params: effect({ sessionId: filled() }),
    result: standing,
    effect: true,
    module: "app",
    summary: "Ends the wizard.",
  }),
  "wizard.status": method({
    access: "operator.admin",
    params: closed({ sessionId: filled() }),
    result: standing,
    effect: false,
    module: "app",
    summary: "Returns the state of the wizard.",
  }),
};
