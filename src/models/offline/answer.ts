import { messageOf } from "../../base/errors.ts";
import { commands } from "./intents/commands.ts";
import { files } from "./intents/files.ts";
import { memory } from "./intents/memory.ts";
import { createProductIntent } from "./intents/product.ts";
import { prompts } from "./intents/prompts.ts";
import { reminders } from "./intents/reminders.ts";
import { summaries } from "./intents/summaries.ts";
import { talk } from "./intents/talk.ts";
import { reportSteps } from "./report.ts";
import { say, type Reply } from "./reply.ts";
import type { Intent, Turn } from "./turn.ts";
import { ADDING_A_KEY, INTRODUCTION } from "./words.ts";

/** Decides what to do about a turn. Always decides something. */
export type Answer = (turn: Turn) => Promise<Reply>;

export function createAnswer(): Answer {
  // The first that fits answers: what the gateway asks for, then what tools are for, then talk, then the documentation.
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
