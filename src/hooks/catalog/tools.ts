import type { ToolHooks } from "../events/index.ts";
import type { HookSpec } from "../spec.ts";
import { answerAtOnce, blocked, blockEnds, blocking, decide, observe } from "./kinds.ts";

/** Tool calls, and what is persisted of them. */
export const toolHooks: Readonly<Record<keyof ToolHooks, HookSpec>> = {
  before_tool_call: decide(
    "tools",
    "Before a tool runs: changes its parameters, blocks it, or requests the operator's approval. A handler may still block after another one requested approval.",
    {
      onThrow: "block",
      onTimeout: "operator",
      fields: {
        params: { type: "record", merge: "assign", rewrites: "params", frozenBy: "requireApproval" },
        ...blocking,
        requireApproval: { type: "approval", merge: "first", wrong: "block" },
      },
      terminal: blockEnds,
      blocked,
      copies: { key: "params", copy: (event, params, context) => ({ ...event, params, context }) },
    },
  ),
  after_tool_call: observe("tools", "A tool has run."),
  resolve_exec_env: decide("tools", "Adds environment variables to a command. Names that could take over the host are dropped.", { environment: true }),
  tool_result_persist: answerAtOnce("tools", "A tool's result is about to be written to the transcript.", {
    fields: { message: { type: "record", merge: "last", rewrites: "message" } },
    copies: { key: "message", copy: (event, message, context) => ({ ...event, message, context }) },
  }),
  before_message_write: answerAtOnce("tools", "A message is about to be written to the transcript.", {
    fields: { block: blocking.block, message: { type: "record", merge: "last", rewrites: "message" } },
    terminal: blockEnds,
    copies: { key: "message", copy: (event, message, context) => ({ ...event, message, context }) },
  }),
};

/** Trusted tool policies return the same results as `before_tool_call`, run before it, and block whenever they fail. */
export const TOOL_POLICY: HookSpec = decide("tools", "A host policy for tool calls.", {
  onThrow: "block",
  onTimeout: "block",
  strict: true,
  fields: toolHooks.before_tool_call.fields,
  terminal: blockEnds,
  blocked,
});
