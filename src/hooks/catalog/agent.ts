import type { AgentHooks, ModelHooks } from "../events/index.ts";
import type { FieldSpec, HookSpec } from "../spec.ts";
import { decide, handled, handledEnds, observe, promptContext, promptText } from "./kinds.ts";

const override: FieldSpec = { type: "text", merge: "first" };
const modelChoice = { providerOverride: override, modelOverride: override } as const;
const promptParts = {
  ...promptContext,
  systemPrompt: { type: "text", merge: "last", prompt: true },
  prependSystemContext: promptText,
  appendSystemContext: promptText,
  toolsAllow: { type: "texts", merge: "narrow" },
} as const satisfies Readonly<Record<string, FieldSpec>>;

/** The agent's turn and its model calls. */
export const agentHooks: Readonly<Record<keyof AgentHooks | keyof ModelHooks, HookSpec>> = {
  before_model_resolve: decide("agent", "Before a model is chosen. No messages are available yet.", { access: "conversation", fields: modelChoice }),
  agent_turn_prepare: decide("agent", "The turn's messages are available, with its pending injections; each injection appears once.", {
    fields: promptContext,
  }),
  before_prompt_build: decide("agent", "Adds to the prompt or replaces the system prompt.", { fields: promptParts }),
  before_agent_start: decide("agent", "Combines before_model_resolve and before_prompt_build; runs once, after them.", {
    fields: { ...modelChoice, ...promptParts },
    deprecated: "use before_model_resolve and before_prompt_build",
  }),
  heartbeat_prompt_contribution: decide("agent", "Adds to the prompt of heartbeat turns only.", { fields: promptContext }),
  before_agent_run: decide("agent", "The prompt is final and not yet sent to a model. If blocked, neither the user's text nor the reason is stored or sent.", {
    access: "conversation",
    onThrow: "block",
    onTimeout: "block",
    strict: true,
    sensitive: true,
    fields: { outcome: { type: ["pass", "block"], merge: "last" }, reason: { type: "text", merge: "last" }, message: { type: "text", merge: "last" } },
    terminal: [{ field: "outcome", value: "block" }],
    whole: { provisional: { field: "outcome", value: "pass" } },
    blocked: (reason) => ({ outcome: "block", reason }),
  }),
  before_agent_reply: decide("agent", "Answers in place of the model, or stays silent.", {
    access: "conversation",
    fields: { handled, reply: { type: "record", merge: "first" }, reason: { type: "text", merge: "first" } },
    terminal: handledEnds,
    whole: {},
  }),
  before_agent_finalize: decide(
    "agent",
    "The model has finished on its own: requests one more pass, or forces the end. Not called when a turn is aborted or stopped.",
    {
      access: "conversation",
      fields: { action: { type: ["revise", "finalize"], merge: "first" }, reason: { type: "text", merge: "first" }, retry: { type: "record", merge: "first" } },
      terminal: [{ field: "action", value: "finalize" }],
      whole: { provisional: { field: "action", value: "revise" } },
    },
  ),
  agent_end: observe("agent", "The turn is over. A one-shot CLI run waits for this hook, the gateway does not.", { access: "conversation" }),
  model_call_started: observe("model", "A provider is called. The event has no prompts, headers, bodies or request ids."),
  model_call_ended: observe("model", "The call ended, with its duration and outcome. The event has no answers, headers, bodies or raw request ids."),
  llm_input: observe("model", "The input of the model.", { access: "conversation" }),
  llm_output: observe("model", "The output of the model, with its usage.", { access: "conversation" }),
};
