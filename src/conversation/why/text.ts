import { formatDuration } from "../../base/text.ts";
import type { Asked, Gave } from "./call-words.ts";
import type { Story, StoryStep } from "./story.ts";

/** Words for columns. */
export const STEP_NAMES: Readonly<Record<StoryStep["kind"], string>> = {
  received: "received",
  gate: "gate",
  route: "route",
  hook: "plugin",
  queue: "queue",
  merged: "merged",
  start: "turn",
  resumed: "resumed",
  model: "model",
  attempt: "attempt",
  tool: "tool",
  approval: "approval",
  compaction: "compaction",
  block: "block",
  end: "turn",
  delivery: "delivery",
};

const SHORT_STEPS = 20;
const LINE_CHARS = 200;

/** Ids and reasons are partly strangers' words: of control and direction characters nothing is left. */
// eslint-disable-next-line no-control-regex -- these are what must not reach a terminal or a chat
export const shown = (text: string): string => text.replace(/[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

const clip = (text: string): string => (text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS)}…` : text);

/** A step in one line; of a tool also what it was asked, and how its complaint begins where it has one. */
export function stepText({ kind, text, details }: StoryStep): string {
  if (kind !== "tool") return text;
  const { asked, gave, isError } = (details ?? {}) as { readonly asked?: Asked; readonly gave?: Gave; readonly isError?: boolean };
  const complaint = isError === true ? gave?.text.trimStart().split("\n", 1)[0] : undefined;
  return `${text}${asked?.line ? `: ${asked.line}` : ""}${complaint ? ` → ${complaint}` : ""}`;
}

function lineOf(step: StoryStep, from: number): string {
  const took = step.ms === undefined || step.ms < 1 ? "" : ` (${formatDuration(step.ms)})`;
  return `+${((step.at - from) / 1000).toFixed(1)} s ${STEP_NAMES[step.kind]}: ${clip(shown(stepText(step)))}${took}`;
}

/** Whether a step tells a story without being asked: plugins that had nothing to say do not. */
export const isTelling = ({ kind, details }: StoryStep): boolean => kind !== "hook" || details?.["decision"] !== "ok";

/** A story as plain text. `short` leaves out plugins that said nothing, and the middle of a long one. */
export function whyText(story: Story, { short = false }: { readonly short?: boolean } = {}): string {
  const { verdict, about, others } = story;
  const called = about.start?.text ?? about.messageId ?? "?";
  const name = about.inboxId === undefined ? (about.turnId ?? `out:${about.outboxId ?? "?"}`) : `in:${about.inboxId} (${called})`;
  const steps = short ? story.steps.filter(isTelling) : story.steps;
  const from = story.steps[0]?.at ?? 0;
  const lines = steps.map((step) => lineOf(step, from));
  const left = lines.length - SHORT_STEPS;
  const shownLines = short && left > 0 ? [...lines.slice(0, SHORT_STEPS / 2), `… ${left} more …`, ...lines.slice(-SHORT_STEPS / 2)] : lines;
  return [
    `${shown(name)}: ${shown(verdict.text)}`,
    ...(verdict.todo === undefined ? [] : [`What to do: ${shown(verdict.todo)}`]),
    ...shownLines,
    ...(others.length === 0 ? [] : [`Also: ${others.map(({ inboxId }) => `in:${inboxId}`).join(", ")}`]),
  ].join("\n");
}
