import { messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { looksMade } from "../../base/user-text.ts";
import { createFinalizeRetries, createHookLog } from "../../hooks/index.ts";
import type { AssistantMessage, ModelMessage, ToolResultMessage, UserMessage } from "../../protocol/index.ts";
import {
  gatewayMessage,
  messageEntry,
  modelChangeEntry,
  modelSnapshotEntry,
  readUserMessage,
  thinkingLevelEntry,
  type MessageExtras,
} from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import { runLoop } from "../loop/loop.ts";
import type { LoopPorts } from "../loop/ports.ts";
import { askModel, noCalls } from "./ask.ts";
import { isBeginningRefused } from "./begin.ts";
import { conclude, finishTurn } from "./conclude.ts";
import type { TurnDeps, TurnRun } from "./deps.ts";
import { askGates, reportEnd, reportSession, type Gate } from "./hooks.ts";
import type { Steered, TurnEnd, TurnInput, TurnPorts } from "./input.ts";
import { maskedAnswer } from "./masked.ts";
import { usageRow } from "./model.ts";
import { isAsked, prepareTurn, type PreparedTurn } from "./prepare.ts";
import { TurnRecord, type Draft } from "./record.ts";
import { textOf } from "./reply.ts";
import { createTurnTools, MESSAGING, resumeCalls, TurnLeft } from "./tools.ts";

/** The turn was interrupted too often to be resumed. */
export const GIVEN_UP = "given-up";

/**
 * Runs one turn: prepares it, asks the model, runs its tool calls and stores the end. Undefined when the process stops first: the next start
 * resumes the turn.
 */
export async function runTurn(deps: TurnDeps, input: TurnInput, ports: TurnPorts): Promise<TurnEnd | typeof GIVEN_UP | undefined> {
  try {
    return await attemptTurn(deps, input, ports);
  } catch (error) {
    // Another process changed the session this lane holds. Nothing of the turn is on disk, so it starts again from the current state.
    if (!isBeginningRefused(error)) throw error;
    await ports.again?.();
    return attemptTurn(deps, input, ports);
  }
}

async function attemptTurn(all: TurnDeps, asked: TurnInput, ports: TurnPorts): Promise<TurnEnd | typeof GIVEN_UP | undefined> {
  const startedAt = all.clock.now();
  const input = asked.images ? await withFittingImages(all, asked, asked.images) : asked;
  const hookLog = createHookLog(all.hooks, all.clock.now);
  hookLog.add(input.hookLog ?? []);
  const deps: TurnDeps = { ...all, hooks: hookLog.hooks };
  const turn = await prepareTurn(deps, input, hookLog);
  if (!turn) return GIVEN_UP;
  failpoint("turn.started");
  const signal = AbortSignal.any([ports.signal, ports.stopping]);
  const record = new TurnRecord(deps, input, turn.target, ports.spoken);
  const tools = createTurnTools(turn, { run: signal, stopping: ports.stopping });
  const run: TurnRun = { deps, input, ports, turn, record, tools, calls: noCalls(), hookLog, startedAt, signal };
  ports.emit({ stream: "lifecycle", data: { phase: "start", startedAt } });
  if (turn.target.began) await reportSession(deps, input, turn);
  const gate = await askGates(deps, input, turn);
  return gate ? endAtGate(run, gate) : converse(run);
}

/** Notes about images that cannot be shown become part of the message. */
async function withFittingImages({ fitImages }: TurnDeps, input: TurnInput, images: NonNullable<TurnInput["images"]>): Promise<TurnInput> {
  const fitted = (await fitImages?.(images)) ?? images;
  const notes = fitted.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const message = [input.message, ...notes].join("\n");
  return { ...input, message, images: fitted.filter((part) => part.type === "image") };
}

/** A plugin answered in place of the model, or blocked the message. */
async function endAtGate(run: TurnRun, gate: Gate): Promise<TurnEnd> {
  const { deps, input, ports, turn, record, startedAt } = run;
  const endedAt = deps.clock.now();
  const { text } = gate;
  const base = { text, texts: text === "" ? [] : [text], sessionId: turn.target.sessionId, startedAt, endedAt, usage: [] };
  if (text !== "") ports.emit({ stream: "assistant", data: { text, delta: text } });
  if (gate.kind === "replied") {
    if (turn.prompt) record.addUser(turn.prompt);
    const made: TurnEnd = { ...base, status: "ok", ...(text === "" ? { silent: true } : {}) };
    const end = await finishTurn(run, made, (shown) =>
      text === "" ? [] : [(at) => messageEntry(at, { ...gatewayMessage("gateway-injected", text, at.at), ...shown })],
    );
    reportEnd(deps, input, turn, { end, answers: [], texts: [], messages: turn.prompt ? [...turn.seen.messages, turn.prompt] : turn.seen.messages });
    return end;
  }
  const made: TurnEnd = { ...base, status: "blocked", error: `blocked by ${gate.pluginId ?? "a plugin"}` };
  // The message itself is not stored anywhere: not in the transcript, the inbox or the database's write-ahead log.
  const block = { pluginId: gate.pluginId, at: endedAt };
  const notice = { role: "user", content: [{ type: "text", text }], timestamp: endedAt, openclawBlock: block } as const;
  record.later(
    [],
    input.inboxIds.map((id): Write => ["inbox.redact", { id, text: "" }]),
  );
  const end = await finishTurn(run, made, (shown) => [(at) => messageEntry(at, { ...notice, ...shown })]);
  await deps.store.checkpoint({ truncate: true }).catch((error: unknown) => deps.log.warn(`could not truncate the write-ahead log: ${messageOf(error)}`));
  return end;
}

/** Runs the loop from the message until the end is stored. Undefined when the process stops first. */
async function converse(run: TurnRun): Promise<TurnEnd | undefined> {
  const { deps, input, ports, turn, record, signal } = run;
  let isWritten = turn.prompt === undefined;
  try {
    record.later(openingDrafts(turn));
    const prompt =
      turn.prompt &&
      asSeen(
        record.addUser(turn.prompt, [], () => (isWritten = true)),
        turn.prompt,
      );
    const isResumed = turn.steps.some(isAsked);
    const messages = prompt ? [...turn.seen.messages, prompt] : isResumed ? await resumeCalls(run) : turn.seen.messages;
    const result = await runLoop(loopPorts(run), { messages, signal, continues: input.maxTokens === undefined });
    if (ports.stopping.aborted && !ports.signal.aborted) return undefined;
    return await conclude(run, result, messages);
  } catch (error) {
    if (error instanceof TurnLeft) return undefined;
    if (isBeginningRefused(error)) throw error;
    deps.log.error(`a turn failed: ${messageOf(error)}`, { runId: input.runId, error });
    if (!isWritten && turn.prompt) await storePrompt(run, turn.prompt);
    throw error;
  }
}

/** A prompt from another session, as the model sees it in this and all later turns. */
function asSeen(message: UserMessage, { provenance }: MessageExtras): ModelMessage {
  return provenance === undefined ? message : (readUserMessage(message.content, message.timestamp, provenance) ?? message);
}

/** The commit with the user's message failed, for example on a full disk. The message alone may fit: store it before the failure note. */
async function storePrompt({ deps, input, turn }: TurnRun, prompt: UserMessage): Promise<void> {
  const record = new TurnRecord(deps, input, turn.target);
  record.addUser(prompt);
  await record.flush().catch((error: unknown) => {
    deps.log.warn(`could not store the user's message in the conversation: ${messageOf(error)}`, { runId: input.runId });
  });
}

/** A new transcript begins with the model and its thinking level; a change of model is recorded. */
function openingDrafts({ target, chosen, prompt }: PreparedTurn): readonly Draft[] {
  const { entry } = chosen.selection;
  const { state, items } = target.path;
  if (!prompt || (state.model?.provider === entry.provider && state.model.id === entry.id)) return [];
  const first: Draft[] = items.length === 0 ? [(at) => thinkingLevelEntry(at, chosen.thinking)] : [];
  return [(at) => modelChangeEntry(at, entry.provider, entry.id), ...first, (at) => modelSnapshotEntry(at, entry)];
}

/** The loop's dependencies, from a turn. */
function loopPorts(run: TurnRun): LoopPorts {
  const { deps, input, ports, record, tools, calls } = run;
  const steeredOf = new WeakMap<UserMessage, Steered>();

  async function persist(message: AssistantMessage | ToolResultMessage | UserMessage): Promise<AssistantMessage | ToolResultMessage | UserMessage> {
    if (message.role === "user") {
      await record.reopen();
      const { writes = [], committed } = steeredOf.get(message) ?? {};
      return record.addUser(message, writes, committed);
    }
    if (message.role === "toolResult") {
      tools.failed = message.isError ? message : undefined;
      tools.delivered ||= !message.isError && MESSAGING.has(message.toolName);
      return record.addResult(message);
    }
    const usage = usageRow(input, message, calls.last.ms, deps.clock.now());
    return message.content.some(({ type }) => type === "toolCall")
      ? record.addAnswer(message, usage, { call: calls.last, isParallel: tools.isParallel })
      : record.addLastAnswer(message, usage, calls.last);
  }

  return {
    ask: (messages, only) => maskedAnswer(deps.redactor, askModel(run, messages, only)),
    spent: (part) => record.later([], [["usage.add", usageRow(input, part, calls.last.ms, deps.clock.now())]]),
    runTool: tools.run,
    isParallel: tools.isParallel,
    // The stored message has the same role as the one passed in.
    keep: persist as LoopPorts["keep"],
    steered: () =>
      (ports.steered?.() ?? []).map((steered) => {
        const verbatim: MessageExtras = looksMade(steered.text) ? { openclawVerbatim: true } : {};
        const message: UserMessage = {
          role: "user",
          content: [{ type: "text", text: steered.text }, ...(steered.images ?? [])],
          timestamp: deps.clock.now(),
          ...verbatim,
        };
        steeredOf.set(message, steered);
        return message;
      }),
    finalize: finalizer(run),
    emit: ports.emit,
    now: deps.clock.now,
  };
}

/** Plugins may ask for another pass before an answer is final. */
function finalizer({ deps, input, turn, signal }: TurnRun): LoopPorts["finalize"] {
  let retries: ReturnType<typeof createFinalizeRetries> | undefined;
  let attempt = 0;
  return async (answer) => {
    if (!deps.hooks.has("before_agent_finalize") || signal.aborted) return undefined;
    const text = textOf(answer);
    const event = { answer: text, lastAssistantMessage: text, runId: input.runId, attempt };
    const result = await deps.hooks.run("before_agent_finalize", event, { ...turn.context });
    retries ??= createFinalizeRetries();
    const decided = result && retries.take(result.decidedBy ?? "", result);
    if (!decided?.retry) return undefined;
    attempt += 1;
    return [{ role: "user", content: [{ type: "text", text: decided.instruction }], timestamp: deps.clock.now() }];
  };
}
