import type { Clock } from "../../base/clock.ts";
import { lazy } from "../../base/lazy.ts";
import type { OtherDriver } from "../call/driver.ts";
import { modelFailed } from "../failure.ts";
import type { StreamOptions } from "../transport/index.ts";
import { Draft } from "../wire/draft.ts";
import type { ModelEvent, WireRequest } from "../wire/index.ts";
import { createAnswer } from "./answer.ts";
import { readDocs, type DocSection } from "./docs/pages.ts";
import { OFFLINE_MODEL } from "./entry.ts";
import type { Reply } from "./reply.ts";
import { readTurn } from "./turn.ts";
import { ADDING_A_KEY } from "./words.ts";

export interface OfflineModelDeps {
  /** Where the documentation is; found beside the program when absent. Read when first asked about. */
  readonly docsFolder?: string;
  readonly runnable?: ((text: string) => string) | undefined;
}

const CHARS_PER_TOKEN = 4;

/**
 * A model made of rules. The same conversation, tools, documentation and time give the same answer; any conversation gives one. Only an abort ends it without `end`,
 * as it does with every other model.
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

/** As many pieces as the caller wants to pay for. */
function bounded(pieces: readonly string[], maxTokens: number | undefined): { readonly pieces: readonly string[]; readonly isCut: boolean } {
  if (maxTokens === undefined || !(maxTokens > 0)) return { pieces, isCut: false };
  let room = maxTokens * CHARS_PER_TOKEN;
  const fits = pieces.findIndex((piece) => (room -= piece.length) < 0);
  return fits === -1 ? { pieces, isCut: false } : { pieces: pieces.slice(0, Math.max(1, fits)), isCut: true };
}

const lengthOf = (calls: Reply["calls"]): number => (calls ?? []).reduce((sum, call) => sum + call.name.length + JSON.stringify(call.arguments).length, 0);
const tokensIn = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);

/** Four characters are a token; what a picture costs elsewhere is not counted. */
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

/** Ends early when the caller gives up. */
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
