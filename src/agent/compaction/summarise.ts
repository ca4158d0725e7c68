import type { PathItem } from "../../sessions/index.ts";
import { summaryByRule } from "./by-rule.ts";
import { stretches, type Stretch } from "./conversation.ts";
import { SUMMARY_SYSTEM, summaryPrompt, turnPrompt } from "./prompts.ts";
import { askQuestion, cutLines, faultOfSummary, faultOfText, type Questions } from "./question.ts";
import type { CompactionSettings } from "./settings.ts";

export interface SummaryWork {
  readonly questions: Questions;
  readonly settings: CompactionSettings;
  /** Tokens the model can see. */
  readonly window: number;
  readonly instructions?: string | undefined;
}

export interface Summary {
  readonly text: string;
  /** Some of it was put together without a model. */
  readonly byRule: boolean;
}

/** Stretches that a model reads; of a longer history, the oldest part is summed up by rule. */
const MAX_STRETCHES = 24;
const LEAST_STRETCH_CHARS = 2_000;
/** Text makes more tokens than the usual guess says when it is code or another language; a summary does not. */
const CHARS_PER_TOKEN = 3;
const SUMMARY_CHARS_PER_TOKEN = 4;
const PROMPT_TOKENS = 1_000;
/** Share of the window that a question may fill. */
const QUESTION_SHARE = { default: 0.9, safeguard: 0.7 } as const;

/** Characters of conversation that one question takes beside an earlier summary and its answer. */
function stretchChars({ window, settings }: SummaryWork, maxChars: number): number {
  const tokens = window * QUESTION_SHARE[settings.mode] - PROMPT_TOKENS - (2 * maxChars) / SUMMARY_CHARS_PER_TOKEN;
  return Math.max(LEAST_STRETCH_CHARS, Math.floor(tokens * CHARS_PER_TOKEN));
}

const itemsOf = (parts: readonly Stretch[]): readonly PathItem[] => parts.flatMap(({ items }) => items);

/**
 * Sums up a history that may be longer than any window: stretch by stretch, each answer carrying on the one before. Where no model can go on,
 * the rest is added by rule.
 */
export async function summariseHistory(work: SummaryWork, items: readonly PathItem[], previous: string | undefined, maxChars: number): Promise<Summary> {
  const { questions, settings, instructions } = work;
  const all = stretches(items, stretchChars(work, maxChars));
  const older = all.slice(0, Math.max(0, all.length - MAX_STRETCHES));
  let queue = all.slice(older.length);
  let text = previous;
  let byRule = false;
  if (older.length > 0) {
    text = summaryByRule(itemsOf(older), text, maxChars);
    byRule = true;
  }
  for (let next = queue[0]; next; next = queue[0]) {
    const { text: conversation } = next;
    const earlier = text;
    const answer = await askQuestion(questions, {
      system: SUMMARY_SYSTEM,
      prompt: (complaint) => summaryPrompt({ conversation, previous: earlier, settings, instructions, maxChars, complaint }),
      maxChars,
      fault: settings.mode === "safeguard" ? faultOfSummary : faultOfText,
    });
    if (answer === "overflow" && conversation.length > LEAST_STRETCH_CHARS) {
      // What is too long for one question is too long for those that follow.
      const half = Math.max(LEAST_STRETCH_CHARS, Math.floor(conversation.length / 2));
      queue = [...stretches(itemsOf(queue), half)];
    } else if (answer === "overflow" || answer === undefined) {
      text = summaryByRule(itemsOf(queue), text, maxChars);
      byRule = true;
      break;
    } else {
      ({ text } = answer);
      queue = queue.slice(1);
    }
  }
  return { text: cutLines(text ?? "", maxChars), byRule };
}

/** Sums up the beginning of a turn whose rest stays. A beginning that is too long for one question keeps its first and last part. */
export async function summariseTurn(work: SummaryWork, items: readonly PathItem[], maxChars: number): Promise<Summary> {
  const { questions, settings } = work;
  const parts = stretches(items, Math.floor(stretchChars(work, maxChars) / 2));
  const shown = parts.length <= 2 ? parts : [...parts.slice(0, 1), ...parts.slice(-1)];
  const conversation = shown.map(({ text }) => text).join(parts.length <= 2 ? "\n\n" : "\n\n[…]\n\n");
  const answer = await askQuestion(questions, {
    system: SUMMARY_SYSTEM,
    prompt: (complaint) => turnPrompt({ conversation, settings, maxChars, complaint }),
    maxChars,
    fault: faultOfText,
  });
  if (answer !== undefined && answer !== "overflow") return { text: answer.text, byRule: false };
  return { text: cutLines(summaryByRule(items, undefined, maxChars), maxChars), byRule: true };
}
