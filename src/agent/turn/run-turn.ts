import { messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { createHookLog } from "../../hooks/index.ts";
import type { ModelMessage } from "../../protocol/index.ts";
import {
  gatewayMessage,
  messageEntry,
  modelChangeEntry,
  modelSnapshotEntry,
  thinkingLevelEntry,
  view,
  viewSettings,
  type MessageExtras,
} from "../../sessions/index.ts";
import { runLoop } from "../loop/loop.ts";
import { createAsking } from "./ask.ts";
import { conclude } from "./conclude.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnEnd, TurnInput, TurnPorts } from "./input.ts";
import { loopPorts } from "./ports-of-turn.ts";
import { firstMessages, prepareTurn, type PreparedTurn } from "./prepare.ts";
import { createRecord, type Draft } from "./record.ts";
import { lastCalls, settleCalls } from "./resume.ts";
import type { Stage } from "./stage.ts";
import { overtaken } from "./place.ts";
import { TurnLeft, createTurnTools } from "./tools-of-turn.ts";
import { tellEnd, tellSession } from "./session-hooks.ts";
import type { Write } from "../../store/index.ts";
import { finishTurn } from "./finish.ts";

/** What plugins decided before the model is asked. */
type Gate =
  | { readonly kind: "blocked"; readonly text: string; readonly pluginId: string | undefined }
  /** Answered, or silent on purpose, without the model. */
  | { readonly kind: "replied"; readonly text: string };

const BLOCKED_TEXT = "This message was blocked and not kept.";

/** `before_agent_run`, then `before_agent_reply`. Undefined when the model is to be asked. */
async function askGates(deps: TurnDeps, input: TurnInput, turn: PreparedTurn): Promise<Gate | undefined> {
  const { hooks } = deps;
  const { context, prompt, systemPrompt } = turn;
  if (!prompt) return undefined;
  const text = promptText(prompt.content);
  const messages = [...firstMessages(turn)] as unknown[];
  if (hooks.has("before_agent_run")) {
    const said = await hooks.run("before_agent_run", { prompt: text, messages, systemPrompt }, context.agent());
    if (said?.outcome === "block") return { kind: "blocked", text: said.message?.trim() || BLOCKED_TEXT, pluginId: said.decidedBy };
  }
  if (hooks.has("before_agent_reply")) {
    const said = await hooks.run("before_agent_reply", { cleanedBody: input.message, prompt: text, messages }, context.agent());
    if (said?.handled) return { kind: "replied", text: said.reply?.text?.trim() ?? "" };
  }
  return undefined;
}

function promptText(content: Extract<ModelMessage, { role: "user" }>["content"]): string {
  return typeof content === "string" ? content : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

/** Plugins answered in the model's place, or kept the message away from it. */
async function endAtGate(stage: Stage, gate: Gate): Promise<TurnEnd> {
  const { deps, input, ports, turn, record, startedAt } = stage;
  const endedAt = deps.clock.now();
  const { text } = gate;
  const base = { text, texts: text === "" ? [] : [text], sessionId: turn.place.sessionId, startedAt, endedAt, usage: [] };
  if (text !== "") ports.emit({ stream: "assistant", data: { text, delta: text } });
  if (gate.kind === "replied") {
    record.said(turn.prompt!);
    const made: TurnEnd = { ...base, status: "ok", ...(text === "" ? { silent: true } : {}) };
    const draft =
      (shown: MessageExtras): Draft =>
      (at) =>
        messageEntry(at, { ...gatewayMessage("gateway-injected", text, at.at), ...shown });
    const end = await finishTurn(stage, made, (shown) => (text === "" ? [] : [draft(shown)]));
    tellEnd(deps, input, turn, { end, answers: [], messages: firstMessages(turn) });
    return end;
  }
  const end: TurnEnd = { ...base, status: "blocked", error: `blocked by ${gate.pluginId ?? "a plugin"}` };
  // The message itself is kept nowhere: not in the transcript, the inbox or the log of the database.
  const block = { pluginId: gate.pluginId, at: endedAt };
  const stands = { role: "user", content: [{ type: "text", text }], timestamp: endedAt, openclawBlock: block } as const;
  record.later(
    [],
    input.inboxIds.map((id): Write => ["inbox.redact", { id, text: "" }]),
  );
  const ended = await finishTurn(stage, end, (shown) => [(at) => messageEntry(at, { ...stands, ...shown })]);
  await deps.store.checkpoint({ truncate: true }).catch((error: unknown) => deps.log.warn(`the log could not be emptied: ${messageOf(error)}`));
  return ended;
}

/** The turn died too often to be taken up once more. */
export const GIVEN_UP = "given-up";

/**
 * One turn: prepare, ask the model, carry out its calls, and put the end on disk. Undefined when the process stops meanwhile: the turn is left for
 * the next start.
 */
export async function runTurn(deps: TurnDeps, input: TurnInput, ports: TurnPorts): Promise<TurnEnd | typeof GIVEN_UP | undefined> {
  try {
    return await attemptTurn(deps, input, ports);
  } catch (error) {
    // Another process changed the session that was held here. Nothing of the turn is on disk: it begins again with what is there now.
    if (!isBeginningRefused(error)) throw error;
    return attemptTurn(deps, input, ports);
  }
}

/** Only the beginning of a turn asserts the session and the length of its transcript. */
const isBeginningRefused = (error: unknown): boolean => overtaken(error, "key") || overtaken(error, "lines");

async function attemptTurn(all: TurnDeps, given: TurnInput, ports: TurnPorts): Promise<TurnEnd | typeof GIVEN_UP | undefined> {
  const startedAt = all.clock.now();
  const input = given.images ? await withFittingImages(all, given, given.images) : given;
  const hookLog = createHookLog(all.hooks, all.clock.now);
  hookLog.add(input.hookLog ?? []);
  const deps: TurnDeps = { ...all, hooks: hookLog.hooks };
  const turn = await prepareTurn(deps, input, hookLog);
  if (!turn) return GIVEN_UP;
  failpoint("turn.started");
  const signal = AbortSignal.any([ports.signal, ports.stopping]);
  const record = createRecord(deps, input, turn.place, ports.spoken);
  const tools = createTurnTools(input, turn, { run: signal, stopping: ports.stopping });
  const asking = createAsking(deps, input, { turn, record, signal, emit: ports.emit });
  const stage: Stage = { deps, input, ports, turn, record, tools, asking, hookLog, startedAt, signal };
  ports.emit({ stream: "lifecycle", data: { phase: "start", startedAt } });
  if (turn.place.began) await tellSession(deps, input, turn);
  const gate = await askGates(deps, input, turn);
  if (gate) return endAtGate(stage, gate);
  return converse(stage);
}

/** What is said about an image that cannot be shown is part of the message. */
async function withFittingImages({ fitImages }: TurnDeps, input: TurnInput, images: NonNullable<TurnInput["images"]>): Promise<TurnInput> {
  const fitted = (await fitImages?.(images)) ?? images;
  const notes = fitted.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const message = [input.message, ...notes].join("\n");
  return { ...input, message, images: fitted.filter((part) => part.type === "image") };
}

async function converse(stage: Stage): Promise<TurnEnd | undefined> {
  const { deps, turn, record, ports } = stage;
  let isWritten = turn.prompt === undefined;
  try {
    record.later(openingDrafts(turn));
    const prompt = turn.prompt && record.said(turn.prompt, [], () => (isWritten = true));
    const messages = prompt ? firstMessages({ ...turn, prompt }) : await goOn(stage);
    const result = await runLoop(loopPorts(stage), { messages, signal: stage.signal, continues: stage.input.maxTokens === undefined });
    if (ports.stopping.aborted && !ports.signal.aborted) return undefined;
    return await conclude(stage, result, messages);
  } catch (error) {
    if (error instanceof TurnLeft) return undefined;
    if (isBeginningRefused(error)) throw error;
    deps.log.error(`a turn failed: ${messageOf(error)}`, { runId: stage.input.runId, error });
    if (!isWritten) await keepPrompt(stage);
    throw error;
  }
}

/** The commit that had the user's message failed, such as on a full disk: the message alone may fit, and belongs above the reason why the turn failed. */
async function keepPrompt({ deps, input, turn }: Stage): Promise<void> {
  const record = createRecord(deps, input, turn.place);
  record.said(turn.prompt!);
  await record.flush().catch((error: unknown) => {
    deps.log.warn(`the user's message could not be kept in the conversation: ${messageOf(error)}`, { runId: input.runId });
  });
}

/** A new transcript begins with the model and its level; a change of the model is noted. */
function openingDrafts({ place, chosen, prompt }: PreparedTurn): readonly Draft[] {
  if (!prompt) return [];
  const { entry } = chosen.selection;
  const { state, items } = place.path;
  const known = state.model;
  if (known?.provider === entry.provider && known.id === entry.id) return [];
  const first: Draft[] = items.length === 0 ? [(at) => thinkingLevelEntry(at, chosen.thinking)] : [];
  return [(at) => modelChangeEntry(at, entry.provider, entry.id), ...first, (at) => modelSnapshotEntry(at, entry)];
}

/** Takes up a turn at the step where its process died: calls without a result get one, and the model is asked again. */
async function goOn({ deps, input, turn, record, tools }: Stage): Promise<readonly ModelMessage[]> {
  const { clock, session } = deps;
  const kept = turn.place.path.items.flatMap(({ message }) => (message ? [message] : []));
  const { calls, answered } = lastCalls(kept);
  await settleCalls(calls, answered, {
    toolbox: turn.toolbox,
    steps: turn.steps,
    now: clock.now,
    async runAgain(call) {
      const { content, details, isError } = await tools.run(call, () => {});
      return {
        role: "toolResult",
        toolCallId: call.id,
        toolName: call.name,
        content,
        ...(details === undefined ? {} : { details }),
        isError,
        timestamp: clock.now(),
      };
    },
    keep: (result) => record.result(result),
  });
  const path = await session.path(turn.place.file);
  const settings = viewSettings(deps.config.current, input.sessionKey);
  return view({ path: path.items, model: turn.chosen.selection.entry, settings, now: clock.now(), memo: session.view }).messages;
}
