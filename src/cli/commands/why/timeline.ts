import { clip, formatDuration } from "../../../base/text.ts";
import type { loadWhy, Story, StoryStep } from "../../../conversation/index.ts";
import { createStyle, type Style } from "../../output/style.ts";

type WhyModule = Awaited<ReturnType<typeof loadWhy>>;

interface Screen {
  readonly color: boolean;
  readonly columns: number;
  readonly verbose: boolean;
  readonly runnable: (text: string) => string;
}

const two = (value: number, width = 2): string => String(value).padStart(width, "0");

/** In the reader's time zone: `14:03:22.125`. */
function timeOf(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${two(date.getMilliseconds(), 3)}`;
}

const dayOf = (at: number): string => {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
};

const LEVELS = { ok: "green", wait: "yellow", bad: "red" } as const satisfies Readonly<Record<Story["verdict"]["level"], keyof Style>>;

/** Steps that went wrong catch the eye. */
function paint({ kind, details }: StoryStep, style: Style): (text: string) => string {
  const bad =
    kind === "attempt" || details?.["isError"] === true || details?.["failed"] === true || details?.["unknown"] === true || details?.["state"] === "failed";
  if (bad) return style.red;
  return kind === "hook" || kind === "queue" ? style.dim : (text) => text;
}

function nameOf({ inboxId, messageId, channel, account, conversation, turnId, outboxId }: Story["about"]): string {
  if (inboxId !== undefined) return `in:${inboxId} ${[channel, account, conversation, messageId].join(":")}`;
  return turnId === undefined ? `out:${outboxId ?? "?"}` : `turn ${turnId}`;
}

/** A story as a timeline: the verdict, then time, what, how long, and what happened. */
export function timeline(
  story: Story,
  { color, columns, verbose, runnable }: Screen,
  { isTelling, shown, stepText, STEP_NAMES }: Pick<WhyModule, "isTelling" | "shown" | "stepText" | "STEP_NAMES">,
): string {
  const style = createStyle(color);
  const { about, verdict, others } = story;
  const steps = verbose ? story.steps : story.steps.filter(isTelling);
  const started = steps[0]?.at;
  const tooks = steps.map(({ ms }) => (ms === undefined ? "" : formatDuration(ms)));
  const wide = Math.max(4, ...tooks.map((took) => took.length));
  const available = Math.max(20, columns - 12 - 10 - wide - 6);
  const lines = steps.flatMap((step, index) => {
    const text = shown(stepText(step));
    const line = `${style.dim(timeOf(step.at))}  ${style.cyan(STEP_NAMES[step.kind].padEnd(10))}  ${tooks[index]!.padStart(wide)}  ${paint(step, style)(verbose ? text : clip(text, available - 1))}`;
    return verbose && step.details ? [line, style.dim(`${" ".repeat(14)}${shown(JSON.stringify(step.details))}`)] : [line];
  });
  const session = about.sessionKey === undefined ? "" : `, session ${about.sessionKey}`;
  return [
    `${style.bold(shown(nameOf(about)))}${style.dim(shown(`${started === undefined ? "" : `, ${dayOf(started)}`}${session}`))}`,
    style[LEVELS[verdict.level]](shown(verdict.text)),
    ...(verdict.todo === undefined ? [] : [`${style.dim("to do:")} ${shown(runnable(verdict.todo))}`]),
    "",
    style.dim(`${"time".padEnd(12)}  ${"what".padEnd(10)}  ${"took".padStart(wide)}`),
    ...lines,
    ...(others.length === 0 ? [] : ["", style.dim(`also meant: ${others.map((other) => shown(nameOf(other))).join(", ")}`)]),
  ]
    .map((line) => `${line}\n`)
    .join("");
}
