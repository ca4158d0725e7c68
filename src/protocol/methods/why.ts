import { method } from "../method.ts";
import { amount, choice, closed, count, filled, free, list, maybe, moment, number, text } from "../pieces.ts";

const Start = closed({
  kind: choice(["job", "hook", "heartbeat", "webhook", "subagent", "report", "session", "command"]),
  name: maybe(text({ description: "Of the job, hook, agent, webhook or sub-agent." })),
  id: maybe(text()),
  sessionKey: maybe(text({ description: "The session that started it, or that it is the result of." })),
  text: text(),
});

const About = closed({
  inboxId: maybe(amount()),
  outboxId: maybe(amount()),
  turnId: maybe(text()),
  messageId: maybe(text()),
  channel: maybe(text()),
  account: maybe(text()),
  conversation: maybe(text()),
  sender: maybe(text()),
  sessionKey: maybe(text()),
  sessionName: maybe(text({ description: "Display name of the session." })),
  agentId: maybe(text()),
  asked: maybe(text({ description: "The beginning of the message, in one line." })),
  start: maybe(Start),
});

const Step = closed({
  at: moment(),
  ms: maybe(number({ description: "How long it took." })),
  kind: text(),
  text: text(),
  details: maybe(free()),
  lane: choice(["arrival", "queue", "plugins", "turn", "model", "tools", "delivery"], { description: "Where it is drawn." }),
  parent: maybe(amount({ description: "Index in `steps` of the step that it belongs to." })),
});

const Story = closed({
  about: About,
  verdict: closed({
    outcome: text({ description: "An outcome, or `waiting`, `running`, `delivery`." }),
    level: choice(["ok", "wait", "bad"]),
    text: text(),
    todo: maybe(text({ description: "What to do about it." })),
  }),
  steps: list(Step),
  others: list(About, { description: "Other messages that match the same text." }),
});

/** What became of messages. */
export const whyMethods = {
  why: method({
    access: "operator.read",
    params: closed({
      what: filled({
        maxLength: 1000,
        description:
          "A message id, `channel:account:chat:message`, a session key or id, a run id, `in:<inbox row>`, `out:<outbox row>`, or `recent`: of all sessions.",
      }),
      last: maybe(count({ maximum: 50, description: "For a session, or all: number of messages, newest first." })),
    }),
    result: closed({ stories: list(Story), now: maybe(moment()) }),
    effect: false,
    module: "conversation",
    summary: "Returns the trace of a message from its receipt to its outcome: gate, route, plugins, queue, models, tools, delivery.",
  }),
};
