import { messageOf } from "../../base/errors.ts";
import { plain } from "./conversation.ts";
import { HEADINGS } from "./by-rule.ts";

export interface AskInput {
  readonly system: string;
  readonly prompt: string;
  /** Length of the answer, in tokens. */
  readonly maxTokens: number;
  readonly signal: AbortSignal;
}

export type AskAnswer = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly kind: string; readonly text: string };

/** A question to a model. Failover and retries are the caller's. */
export type Ask = (input: AskInput) => Promise<AskAnswer>;

/** Questions of one compaction: how many are left and why there are to be no more. */
export interface Questions {
  readonly ask: Ask | undefined;
  readonly signal: AbortSignal;
  left: number;
  /** Why no model is asked any more. */
  ended?: string;
}

export interface Question {
  readonly system: string;
  readonly prompt: (complaint: string | undefined) => string;
  /** The answer is cut to this. */
  readonly maxChars: number;
  /** What is wrong with an answer; undefined when it is good. */
  readonly fault: (text: string) => string | undefined;
}

const CHARS_PER_TOKEN = 4;
const TRIES = 2;
const CUT_NOTE = "\n[… cut here: the summary was longer than it may be …]";

/** Resolves to the answer, or to a failure when the model throws or the signal fires first. */
async function answerOf(ask: Ask, input: AskInput): Promise<AskAnswer> {
  const { signal } = input;
  const { promise, resolve } = Promise.withResolvers<AskAnswer>();
  const stop = (): void => resolve({ ok: false, kind: "aborted", text: "it took too long or was stopped" });
  if (signal.aborted) return { ok: false, kind: "aborted", text: "it was stopped" };
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([ask(input), promise]);
  } catch (error) {
    return { ok: false, kind: "unknown", text: messageOf(error) };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** What a model wrote without what it wraps answers in; nothing in it can pass for a block that is put there by rule. */
function cleaned(text: unknown): string {
  if (typeof text !== "string") return "";
  const bare = text
    .toWellFormed()
    .replaceAll(/<(think|thinking)>[\s\S]*?<\/\1>/gi, "")
    .trim();
  const fenced = /^```[a-z]*\n([\s\S]*?)\n```$/i.exec(bare)?.[1];
  return plain((fenced ?? bare).trim());
}

/** Cuts at the end of a line where there is one in the last fifth. */
export function cutLines(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const available = Math.max(maxChars - CUT_NOTE.length, 0);
  const part = text.slice(0, available).replace(/[\uD800-\uDBFF]$/, "");
  const end = part.lastIndexOf("\n");
  return `${(end > available * 0.8 ? part.slice(0, end) : part).trimEnd()}${CUT_NOTE}`;
}

/** The answer, `overflow` when the question was too long, undefined when no model answers: then `questions.ended` says why. */
export async function askQuestion(
  questions: Questions,
  { system, prompt, maxChars, fault }: Question,
): Promise<{ readonly text: string } | "overflow" | undefined> {
  let complaint: string | undefined;
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (!questions.ask || questions.ended !== undefined) break;
    if (questions.left <= 0) {
      questions.ended = "the conversation is too long for a model to summarise in one call";
      break;
    }
    questions.left -= 1;
    const answer = await answerOf(questions.ask, {
      system,
      prompt: prompt(complaint),
      maxTokens: Math.max(64, Math.ceil(maxChars / CHARS_PER_TOKEN)),
      signal: questions.signal,
    });
    if (!answer.ok) {
      if (answer.kind === "context_overflow") return "overflow";
      questions.ended = `the model failed (${answer.kind}): ${answer.text.slice(0, 300)}`;
      break;
    }
    const text = cleaned(answer.text);
    const wrong = fault(text);
    if (wrong === undefined) return { text: cutLines(text, maxChars) };
    complaint = `Your last answer could not be used: ${wrong}.`;
  }
  if (!questions.ask) questions.ended ??= "there is no model";
  questions.ended ??= "the model's summary could not be used";
  return undefined;
}

const LEAST_LETTERS = 20;
const LEAST_HEADINGS = 3;

/** What is wrong with a text that has to say something. */
export function faultOfText(text: string): string | undefined {
  const letters = text.slice(0, 2_000).match(/\p{L}/gu)?.length ?? 0;
  return letters < LEAST_LETTERS ? "it is empty" : undefined;
}

/** What is wrong with a summary that has to have the form that was asked for. */
export function faultOfSummary(text: string): string | undefined {
  const found = HEADINGS.filter((heading) => text.includes(`# ${heading}`)).length;
  return faultOfText(text) ?? (found < LEAST_HEADINGS ? "the headings are missing" : undefined);
}
