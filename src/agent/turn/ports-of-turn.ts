import { createFinalizeRetries } from "../../hooks/index.ts";
import type { AssistantMessage, ToolCallContent, ToolResultMessage, UserMessage } from "../../protocol/index.ts";
import type { LoopPorts } from "../loop/ports.ts";
import type { Steered } from "./input.ts";
import { maskedAnswer } from "./masked.ts";
import { textOf } from "./reply.ts";
import type { Stage } from "./stage.ts";
import { usageRow } from "./usage.ts";

/** What the loop needs of a turn. */
export function loopPorts(stage: Stage): LoopPorts {
  const { deps, input, ports, record, tools, asking } = stage;
  const steeredOf = new WeakMap<UserMessage, Steered>();
  const finalize = finalizer(stage);

  async function keep(message: AssistantMessage | ToolResultMessage | UserMessage): Promise<AssistantMessage | ToolResultMessage | UserMessage> {
    if (message.role === "user") {
      await record.reopened();
      const { writes = [], committed } = steeredOf.get(message) ?? {};
      return record.said(message, writes, committed);
    }
    if (message.role === "toolResult") {
      tools.note(message);
      return record.result(message);
    }
    const calls = message.content.filter((part): part is ToolCallContent => part.type === "toolCall");
    const usage = usageRow(input, message, asking.last.ms, deps.clock.now());
    return calls.length > 0
      ? record.answered(message, usage, { call: asking.last, isParallel: tools.isParallel })
      : record.concluded(message, usage, asking.last);
  }

  return {
    ask: (messages, only) => maskedAnswer(deps.redactor, asking.ask(messages, only)),
    spent: (part) => record.later([], [["usage.add", usageRow(input, part, asking.last.ms, deps.clock.now())]]),
    runTool: tools.run,
    isParallel: tools.isParallel,
    keep: keep as LoopPorts["keep"],
    steered: () =>
      (ports.steered?.() ?? []).map((steered) => {
        const message: UserMessage = { role: "user", content: [{ type: "text", text: steered.text }], timestamp: deps.clock.now() };
        steeredOf.set(message, steered);
        return message;
      }),
    finalize,
    emit: ports.emit,
    now: deps.clock.now,
  };
}

/** Plugins may ask for one more pass before an answer counts. */
function finalizer({ deps, input, turn, signal }: Stage): LoopPorts["finalize"] {
  const retries = createFinalizeRetries();
  let attempt = 0;
  return async (answer) => {
    if (!deps.hooks.has("before_agent_finalize") || signal.aborted) return undefined;
    const text = textOf(answer);
    const event = { answer: text, lastAssistantMessage: text, runId: input.runId, attempt };
    const said = await deps.hooks.run("before_agent_finalize", event, turn.context.agent());
    if (!said) return undefined;
    const decided = retries.take(said.decidedBy ?? "", said);
    if (!decided.retry) return undefined;
    attempt += 1;
    return [{ role: "user", content: [{ type: "text", text: decided.instruction }], timestamp: deps.clock.now() }];
  };
}
