import type { Clock } from "../../base/clock.ts";
import { lazy } from "../../base/lazy.ts";
import type { OtherDriver } from "../call/driver.ts";
import { modelFailed } from "../failure.ts";
import type { StreamOptions } from "../transport/index.ts";
import { Draft } from "../wire/draft.ts";
import type { ModelEvent, WireRequest } from "../wire/index.ts";
import { readDocs, type DocSection } from "./docs/pages.ts";
import { OFFLINE_MODEL } from "./entry.ts";
import { say, type Reply } from "./reply.ts";
import { readTurn, type Intent, type Turn } from "./turn.ts";
import { ADDING_A_KEY, INTRODUCTION } from "./texts.ts";
import { messageOf } from "../../base/errors.ts";
import { commands } from "./intents/commands.ts";
import { files } from "./intents/files.ts";
import { memory } from "./intents/memory.ts";
import { prompts } from "./intents/prompts.ts";
import { reminders } from "./intents/reminders.ts";
import { summaries } from "./intents/summaries.ts";
import { talk } from "./intents/talk.ts";
import { reportSteps } from "./report.ts";
import { createDocIndex, type DocIndex } from "./docs/search.ts";

const QUESTION =
  /\?\s*$|^(?:how|what|where|which|when|why|who|can|does|do|is|are|should|explain|describe|tell me|help(?: me)?(?: with)?|documentation|docs)\b/i;

/** Answers questions about the product from its documentation. */
function createProductIntent(): Intent {
  const indexes = new WeakMap<readonly DocSection[], DocIndex>();
  return {
    name: "product",
    async begin({ plain, docs }) {
      if (plain === "" || !QUESTION.test(plain)) return undefined;
      const sections = await docs();
      let index = indexes.get(sections);
      if (!index) indexes.set(sections, (index = createDocIndex(sections)));
      const answer = index.find(plain);
      if (!answer) {
        const why = sections.length === 0 ? "The documentation is not installed with this program" : "I found nothing about that in OpenClaw's documentation";
        return say(`${why}, and I know nothing else. ${INTRODUCTION} \`help\` lists what I can do and how to add a real model.`);
      }
      const { section, text } = answer;
      return say(`From the documentation (${section.page}, ${section.headings.join(" › ")}):\n\n${text}`);
    },
  };
}

/** Decides how to answer a turn. Total. */
type Answer = (turn: Turn) => Promise<Reply>;

function createAnswer(): Answer {
  // The first match answers: the gateway's prompts, then tools, then small talk, then the documentation.
  const intents: readonly Intent[] = [...prompts, ...summaries, ...reminders, ...memory, ...commands, ...files, ...talk, createProductIntent()];

  async function answer(turn: Turn): Promise<Reply> {
    for (const intent of intents) {
      const reply = await intent.begin(turn);
      if (!reply) continue;
      if (turn.steps.length === 0) return reply;
      return (reply.calls && intent.goOn?.(turn)) ?? reportSteps(turn.steps);
    }
    return turn.steps.length > 0 ? reportSteps(turn.steps) : say(notUnderstood(turn));
  }

  return async (turn) => {
    try {
      return await answer(turn);
    } catch (error) {
      return say(`One of my rules failed (${messageOf(error)}); I cannot answer this. ${INTRODUCTION}`);
    }
  };
}

function notUnderstood({ text, plain }: Turn): string {
  if (text === "") return `${INTRODUCTION} Say \`help\` to see what I can do.`;
  const why = plain === "" ? "This is too long for me." : "I did not understand this.";
  return `${why} ${INTRODUCTION} Say \`help\` to see what I can do.\n\n${ADDING_A_KEY}`;
}

export interface OfflineModelDeps {
  /** Folder of the documentation; default: beside the program. Read on first use. */
  readonly docsFolder?: string;
  readonly runnable?: ((text: string) => string) | undefined;
}

const CHARS_PER_TOKEN = 4;

/**
 * A rule-based model. The same conversation, tools, documentation and time give the same answer; any conversation gives one. Only an abort ends it
 * without `end`,
 * as with every other model.
 */
export function createOfflineModel({ docsFolder, runnable = (text) => text }: OfflineModelDeps = {}): OtherDriver {
  const answer = createAnswer();
  const pages = lazy(() => readDocs(docsFolder));
  const docs = (): Promise<readonly DocSection[]> => pages().catch(() => []);

  async function* stream(request: WireRequest, { clock, signal }: StreamOptions): AsyncGenerator<ModelEvent, void, void> {
    const now = clock.now();
    throwIfAborted(signal, false);
    const reply = await answer(readTurn(request, now, docs));
    const draft = new Draft(request.model, now);
    const { pieces, isCut } = bounded(
      reply.measured?.pieces ?? inWords((reply.text ?? "").replace(ADDING_A_KEY, () => runnable(ADDING_A_KEY))),
      request.maxTokens,
    );
    for (const [index, piece] of pieces.entries()) {
      if (index > 0 && reply.measured && reply.measured.gapMs > 0) await pause(clock, reply.measured.gapMs, signal);
      throwIfAborted(signal, index > 0);
      draft.text(piece);
      yield* draft.take();
    }
    for (const [index, { name, arguments: args }] of (isCut ? [] : (reply.calls ?? [])).entries()) {
      draft.toolCall(index, { id: `offline_${request.messages.length}_${index}`, name });
      draft.arguments(index, JSON.stringify(args));
      yield* draft.take();
    }
    draft.usage({ input: tokensOf(request), output: tokensIn(pieces.join("").length + lengthOf(reply.calls)) });
    yield* draft.finish(isCut ? "length" : "stop");
  }

  return { api: OFFLINE_MODEL.api, stream };
}

/** Each word with the space before it. */
function inWords(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** As many chunks as the token limit allows. */
function bounded(pieces: readonly string[], maxTokens: number | undefined): { readonly pieces: readonly string[]; readonly isCut: boolean } {
  if (maxTokens === undefined || !(maxTokens > 0)) return { pieces, isCut: false };
  let remaining = maxTokens * CHARS_PER_TOKEN;
  const fits = pieces.findIndex((piece) => (remaining -= piece.length) < 0);
  return fits === -1 ? { pieces, isCut: false } : { pieces: pieces.slice(0, Math.max(1, fits)), isCut: true };
}

const lengthOf = (calls: Reply["calls"]): number => (calls ?? []).reduce((sum, call) => sum + call.name.length + JSON.stringify(call.arguments).length, 0);
const tokensIn = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);

/** Four characters count as a token; images are not counted. */
function tokensOf({ systemPrompt, messages, tools }: WireRequest): number {
  let chars = systemPrompt?.length ?? 0;
  for (const { content } of messages) {
    if (typeof content === "string") chars += content.length;
    else for (const part of content) chars += part.type === "text" ? part.text.length : part.type === "toolCall" ? lengthOf([part]) : 0;
  }
  for (const tool of tools ?? []) chars += tool.name.length + tool.description.length + JSON.stringify(tool.parameters).length;
  return tokensIn(chars);
}

function throwIfAborted(signal: AbortSignal | undefined, afterContent: boolean): void {
  if (signal?.aborted) throw modelFailed({ phase: "stream", text: "the call was aborted", aborted: true, ...(afterContent ? { afterContent } : {}) });
}

/** Ends early when the caller aborts. */
function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      timer[Symbol.dispose]();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.after(ms, end);
    signal?.addEventListener("abort", end, { once: true });
  });
}
