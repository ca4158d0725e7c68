import type { CallEvent, CallResult } from "../../models/index.ts";
import type { AssistantMessage, ModelMessage, ToolCallContent, ToolResultMessage, Usage, UserMessage } from "../../protocol/index.ts";
import { batchesOf, sideBySide } from "./batches.ts";
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
 * The agent's loop: ask the model, carry out its calls, send it the results, until it has nothing more to call. Every step is durable before the next is
 * taken. It does not throw for what models and tools do: how it ended is its result.
 */
export async function runLoop(ports: LoopPorts, { messages, signal, maxCalls = MAX_CALLS, continues = true }: LoopOptions): Promise<LoopResult> {
  const talk: Talk = { messages: [...messages], added: [], answers: [] };
  const usage: Usage[] = [];
  const finish = (end: LoopEnd, partial = ""): LoopResult => ({ end, added: talk.added, answers: talk.answers, usage, partial });
  const ask = async (only: readonly ModelMessage[], shown: string): Promise<Heard> => {
    const heard = await listen(ports.ask(talk.messages, only), ports.emit, shown);
    if (heard.result.ok) usage.push(heard.result.message.usage);
    return heard;
  };

  for (let call = 0; call < maxCalls; call += 1) {
    for (const message of ports.steered()) await add(ports, talk, message);
    const heard = await ask([], "");
    const { result, text } = continues ? await wholeAnswer(heard, { ask, spent: ports.spent, now: ports.now }) : heard;
    if (!result.ok) {
      const aborted = result.kind === "aborted" || signal.aborted;
      return finish(aborted ? { kind: "aborted", text } : { kind: "failed", failure: result }, text);
    }
    const answer = await add(ports, talk, result.message);
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
    for (const message of more) await add(ports, talk, message);
  }
  return finish({ kind: "limit", text: `the model was called ${maxCalls} times in one turn without finishing` });
}

/** The conversation as it grows. */
interface Talk {
  readonly messages: ModelMessage[];
  readonly added: ModelMessage[];
  readonly answers: AssistantMessage[];
}

/** What is added is durable first. */
async function add<M extends AssistantMessage | ToolResultMessage | UserMessage>(ports: LoopPorts, talk: Talk, message: M): Promise<M> {
  const stored = await ports.keep(message);
  talk.messages.push(stored);
  talk.added.push(stored);
  if (stored.role === "assistant") talk.answers.push(stored);
  return stored;
}

/** One question to the model. */
export interface Heard {
  readonly result: CallResult;
  /** What was shown of the answer, whole. */
  readonly text: string;
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
  throw new Error("a model call ended without an outcome");
}

/**
 * Carries out the calls of one answer, batch after batch; results are stored in the model's order. Each call gets a result, whatever happens: it
 * says why a call was not made.
 */
async function carryOut(ports: LoopPorts, talk: Talk, calls: readonly ToolCallContent[], signal: AbortSignal): Promise<"done" | "aborted" | "terminated"> {
  let terminated = false;
  let waiting: readonly UserMessage[] = [];
  const attempt = async (call: ToolCallContent): Promise<Attempt> => {
    const reason = signal.aborted ? ABORTED : waiting.length > 0 ? SKIPPED : undefined;
    const answer: ToolAnswer = reason === undefined ? await runOne(ports, call) : { content: [{ type: "text", text: reason }], isError: true };
    return { call, answer };
  };
  for (const batch of batchesOf(calls, ports.isParallel)) {
    for await (const { call, answer } of sideBySide(batch, attempt)) {
      await add(ports, talk, resultOf(call, answer, ports.now()));
      terminated ||= answer.terminate ?? false;
      if (waiting.length === 0) waiting = ports.steered();
    }
  }
  for (const message of waiting) await add(ports, talk, message);
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

/** How often an answer that was cut off is gone on with. */
const MAX_CONTINUED = 3;

const GO_ON =
  "Your answer was cut off before its end: it reached the length limit, or the provider paused it. Continue it exactly where it stopped, in the same format. Do not repeat anything, do not greet, do not comment on this.";

const ANSWER_NOW =
  "You reached the length limit while you were still thinking, before your answer began. Think no further than necessary, and give the answer to the message above now. Do not comment on this.";

/** So much of the end of a thought is sent back to the model. */
const MOST_THOUGHT_CHARS = 4000;

export interface ContinuePorts {
  /** Asks with what belongs to this question alone; `shown` is what the user has seen of the answer. */
  ask(only: readonly ModelMessage[], shown: string): Promise<Heard>;
  spent(part: AssistantMessage): void;
  now(): number;
}

/** Text that ends in the middle is safe to go on with, and so is a thought. A call is not: half of it must never be made. */
function isCut({ stopReason, content }: AssistantMessage): boolean {
  return stopReason === "length" && content.length > 0 && content.every(({ type }) => type !== "toolCall");
}

/** What the model is sent to go on. A thought alone is no answer that could be sent back: its end is part of the request. */
function goingOn(part: AssistantMessage, timestamp: number): readonly ModelMessage[] {
  const ask = (text: string): UserMessage => ({ role: "user", content: [{ type: "text", text }], timestamp });
  if (part.content.some((one) => one.type === "text" && one.text.trim() !== "")) return [part, ask(GO_ON)];
  const thought = part.content.flatMap((one) => (one.type === "thinking" ? [one.thinking] : [])).join("\n");
  const end = thought.slice(-MOST_THOUGHT_CHARS).toWellFormed().trim();
  return [ask(end === "" ? ANSWER_NOW : `${ANSWER_NOW}\n\nYour thoughts so far ended with:\n${end}`)];
}

/**
 * An answer that reached its length limit, with the rest of it, as one answer. When the rest cannot be had, it is what came so far, and says that it
 * was cut off.
 */
export async function wholeAnswer(first: Heard, ports: ContinuePorts): Promise<Heard> {
  let heard = first;
  for (let more = 0; more < MAX_CONTINUED && heard.result.ok && isCut(heard.result.message); more += 1) {
    const part: AssistantMessage = heard.result.message;
    const next = await ports.ask(goingOn(part, ports.now()), heard.text);
    if (!next.result.ok) return next.result.kind === "aborted" ? next : heard;
    ports.spent(part);
    heard = { text: next.text, result: { ...next.result, message: joined(part, next.result.message) } };
  }
  return heard;
}

/** Two parts of an answer as one. Thoughts of the second were about going on. */
function joined(first: AssistantMessage, second: AssistantMessage): AssistantMessage {
  const content = [...first.content];
  for (const part of second.content) {
    if (part.type === "thinking") continue;
    const last = content.at(-1);
    if (part.type === "text" && last?.type === "text") content[content.length - 1] = { type: "text", text: last.text + part.text };
    else content.push(part);
  }
  return { ...second, content };
}
