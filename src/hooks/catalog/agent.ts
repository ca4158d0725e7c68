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
  before_model_resolve: decide("agent", "Before a model is chosen. There are no messages yet.", { access: "conversation", fields: modelChoice }),
  agent_turn_prepare: decide("agent", "The turn's messages are there, with the injections that waited for it; each injection comes once.", {
    fields: promptContext,
  }),
  before_prompt_build: decide("agent", "Adds to the prompt or replaces the system prompt.", { fields: promptParts }),
  before_agent_start: decide("agent", "What before_model_resolve and before_prompt_build do, in one; runs once, after them.", {
    fields: { ...modelChoice, ...promptParts },
    deprecated: "use before_model_resolve and before_prompt_build",
  }),
  heartbeat_prompt_contribution: decide("agent", "Adds to the prompt of heartbeat turns, and only of those.", { fields: promptContext }),
  before_agent_run: decide(
    "agent",
    "The prompt is final and no model has seen it. A block keeps the user's text and the reason out of everything that is stored or sent.",
    {
      access: "conversation",
      onThrow: "block",
      onTimeout: "block",
      strict: true,
      sensitive: true,
      fields: { outcome: { type: ["pass", "block"], merge: "last" }, reason: { type: "text", merge: "last" }, message: { type: "text", merge: "last" } },
      terminal: [{ field: "outcome", value: "block" }],
      whole: { provisional: { field: "outcome", value: "pass" } },
      blocked: (reason) => ({ outcome: "block", reason }),
    },
  ),
  before_agent_reply: decide("agent", "Answers in place of the model, or stays silent.", {
    access: "conversation",
    fields: { handled, reply: { type: "record", merge: "first" }, reason: { type: "text", merge: "first" } },
    terminal: handledEnds,
    whole: {},
  }),
  before_agent_finalize: decide(
    "agent",
    "The model has ended by itself: asks for one more pass, or forces the end. Not called when a turn is aborted or stopped.",
    {
      access: "conversation",
      fields: { action: { type: ["revise", "finalize"], merge: "first" }, reason: { type: "text", merge: "first" }, retry: { type: "record", merge: "first" } },
      terminal: [{ field: "action", value: "finalize" }],
      whole: { provisional: { field: "action", value: "revise" } },
    },
  ),
  agent_end: observe("agent", "The turn is over. A one-shot CLI run waits for it, the gateway does not.", { access: "conversation" }),
  model_call_started: observe("model", "A provider is called. Without prompts, headers, bodies or request ids."),
  model_call_ended: observe("model", "The call ended, with its duration and outcome. Without answers, headers, bodies or raw request ids."),
  llm_input: observe("model", "What the model is given.", { access: "conversation" }),
  llm_output: observe("model", "What the model answered, and what it used.", { access: "conversation" }),
};
