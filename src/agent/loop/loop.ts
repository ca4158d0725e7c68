import type { CallEvent } from "../../models/index.ts";
import type { AssistantMessage, ModelMessage, ToolCallContent, ToolResultMessage, Usage, UserMessage } from "../../protocol/index.ts";
import { batchesOf, sideBySide } from "./batches.ts";
import { wholeAnswer, type Heard } from "./continued.ts";
import type { LoopEnd, LoopPorts, LoopResult, ToolAnswer } from "./ports.ts";

export interface LoopOptions {
  readonly messages: readonly ModelMessage[];
  readonly signal: AbortSignal;
  /** Calls of the model in one turn. */
  readonly maxCalls?: number;
  /** False when an answer that reaches its length limit is what was asked for. Default true. */
  readonly continues?: boolean;
}

const MAX_CALLS = 200;
export const SKIPPED = "Skipped due to queued user message.";
export const ABORTED = "The run was stopped before this call was made.";

/**
 * The agent's loop: ask the model, carry out its calls, tell it the results, until it has nothing more to call. Every step is kept before the next is
 * taken. It does not throw for what models and tools do: how it ended is its result.
 */
export async function runLoop(ports: LoopPorts, { messages, signal, maxCalls = MAX_CALLS, continues = true }: LoopOptions): Promise<LoopResult> {
  const talk = createTalk(ports, messages);
  const usage: Usage[] = [];
  const finish = (end: LoopEnd, partial = ""): LoopResult => ({ end, added: talk.added, answers: talk.answers, usage, partial });
  const ask = async (only: readonly ModelMessage[], shown: string): Promise<Heard> => {
    const heard = await listen(ports.ask(talk.messages, only), ports.emit, shown);
    if (heard.result.ok) usage.push(heard.result.message.usage);
    return heard;
  };

  for (let call = 0; call < maxCalls; call += 1) {
    await talk.hear(ports.steered());
    const heard = await ask([], "");
    const { result, text } = continues ? await wholeAnswer(heard, { ask, spent: ports.spent, now: ports.now }) : heard;
    if (!result.ok) {
      const aborted = result.kind === "aborted" || signal.aborted;
      return finish(aborted ? { kind: "aborted", text } : { kind: "failed", failure: result }, text);
    }
    const answer = await talk.add(result.message);
    const calls = answer.content.filter((part) => part.type === "toolCall");
    if (calls.length > 0) {
      const ended = await carryOut(ports, talk, calls, signal);
      if (ended === "aborted") return finish({ kind: "aborted", text });
      if (ended === "terminated") return finish({ kind: "answered", answer });
      continue;
    }
    // What came in while the answer was written belongs to this turn.
    const more = [...ports.steered(), ...((await ports.finalize(answer)) ?? [])];
    if (more.length === 0) return finish({ kind: "answered", answer });
    await talk.hear(more);
  }
  return finish({ kind: "limit", text: `the model was called ${maxCalls} times in one turn without coming to an end` });
}

/** The conversation as it grows: what is added is durable first. */
interface Talk {
  readonly messages: readonly ModelMessage[];
  readonly added: readonly ModelMessage[];
  readonly answers: readonly AssistantMessage[];
  add<M extends AssistantMessage | ToolResultMessage | UserMessage>(message: M): Promise<M>;
  hear(messages: readonly UserMessage[]): Promise<void>;
}

function createTalk(ports: LoopPorts, before: readonly ModelMessage[]): Talk {
  const messages = [...before];
  const added: ModelMessage[] = [];
  const answers: AssistantMessage[] = [];
  async function add<M extends AssistantMessage | ToolResultMessage | UserMessage>(message: M): Promise<M> {
    const kept = await ports.keep(message);
    messages.push(kept);
    added.push(kept);
    if (kept.role === "assistant") answers.push(kept);
    return kept;
  }
  return {
    messages,
    added,
    answers,
    add,
    async hear(said) {
      for (const message of said) await add(message);
    },
  };
}

/** One answer of the model, shown as it comes, after what was shown of it before. */
async function listen(events: AsyncIterable<CallEvent>, emit: LoopPorts["emit"], before: string): Promise<Heard> {
  const shown = { assistant: before, thinking: "" };
  const show = (stream: "assistant" | "thinking", delta: string): void => {
    shown[stream] += delta;
    emit({ stream, data: { text: shown[stream], delta } });
  };
  for await (const event of events) {
    if (event.type === "text") show("assistant", event.delta);
    else if (event.type === "thinking") show("thinking", event.delta);
    else if (event.type === "retract") {
      const thought = shown.assistant.slice(before.length);
      shown.assistant = before;
      emit({ stream: "assistant", data: { text: before, delta: "" } });
      if (thought.trim() !== "") show("thinking", thought);
    } else if (event.type === "discard") [shown.assistant, shown.thinking] = [before, ""];
    else if (event.type === "done") return { result: event.result, text: shown.assistant };
  }
  throw new Error("a call of the model ended without saying how");
}

/**
 * Carries out the calls of one answer, batch after batch; results are kept in the model's order. Each call gets a result, whatever happens: the model
 * is told why a call was not made.
 */
async function carryOut(ports: LoopPorts, talk: Talk, calls: readonly ToolCallContent[], signal: AbortSignal): Promise<"done" | "aborted" | "terminated"> {
  let terminated = false;
  let waiting: readonly UserMessage[] = [];
  const attempt = async (call: ToolCallContent): Promise<Attempt> => {
    const reason = signal.aborted ? ABORTED : waiting.length > 0 ? SKIPPED : undefined;
    return { call, answer: reason === undefined ? await runOne(ports, call) : skipped(reason) };
  };
  for (const batch of batchesOf(calls, ports.isParallel)) {
    for await (const { call, answer } of sideBySide(batch, attempt)) {
      await talk.add(resultOf(call, answer, ports.now()));
      terminated ||= answer.terminate ?? false;
      if (waiting.length === 0) waiting = ports.steered();
    }
  }
  await talk.hear(waiting);
  if (signal.aborted) return "aborted";
  return terminated && waiting.length === 0 ? "terminated" : "done";
}

interface Attempt {
  readonly call: ToolCallContent;
  readonly answer: ToolAnswer;
}

async function runOne(ports: LoopPorts, call: ToolCallContent): Promise<ToolAnswer> {
  const facts = { name: call.name, toolCallId: call.id };
  ports.emit({ stream: "tool", data: { phase: "start", ...facts, args: call.arguments } });
  const answer = await ports.runTool(call, (partialResult) => ports.emit({ stream: "tool", data: { phase: "update", ...facts, partialResult } }));
  ports.emit({ stream: "tool", data: { phase: "result", ...facts, isError: answer.isError, result: { content: answer.content, details: answer.details } } });
  return answer;
}

function resultOf(call: ToolCallContent, { content, details, isError }: ToolAnswer, timestamp: number): ToolResultMessage {
  return { role: "toolResult", toolCallId: call.id, toolName: call.name, content, ...(details === undefined ? {} : { details }), isError, timestamp };
}

function skipped(text: string): ToolAnswer {
  return { content: [{ type: "text", text }], isError: true };
}
