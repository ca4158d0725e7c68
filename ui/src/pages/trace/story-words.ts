import { capital } from "../../base/capital.ts";
import { duration } from "../../base/figures.ts";
import { place } from "../../shell/router.ts";
import { askedOf } from "./step-facts.ts";
import { isQuiet, type Step, type Story } from "./story-rows.ts";
import { t } from "../../words/words.ts";

const WORDS: Readonly<Record<string, string>> = { hook: "plugin", start: "turn", end: "turn" };

const lineOf = (step: Step, from: number): string => {
  const { at, ms, kind, text } = step;
  const asked = askedOf(step)?.line ?? "";
  const took = ms === undefined || ms < 1 ? "" : ` (${duration(ms)})`;
  return `+${((at - from) / 1000).toFixed(3).padStart(8)} s  ${(WORDS[kind] ?? kind).padEnd(10)}  ${text}${asked === "" ? "" : `: ${asked}`}${took}`;
};

/** Which message, turn or delivery: `in:42 (4711)`. */
export function storyName({ about }: Story): string {
  if (about.inboxId !== undefined) return `in:${about.inboxId} (${about.messageId ?? "?"})`;
  return about.turnId ?? `out:${about.outboxId ?? "?"}`;
}

/** A length of time as the gateway writes it: `42ms`, `1m 20s`. */
const TOOK = /(?<=\b(?:after|for) (?:\d+[dhms] )?)(\d+)(ms|[dhms])\b/g;

/** How it stands, as a sentence begins, with lengths of time as the page writes them. */
export const verdictText = ({ verdict: { text } }: Story): string =>
  text.charAt(0).toUpperCase() + text.slice(1).replace(TOOK, (_, amount: string, unit: string) => `${amount} ${unit === "m" ? "min" : unit}`);

/** What was asked, in its first words; how it stands where nothing was. */
export const storyTitle = (story: Story): string => story.about.asked ?? verdictText(story);

/** What to ask `why` for to get this story again. */
export function storyPlace({ about }: Story): string {
  if (about.inboxId !== undefined) return `in:${about.inboxId}`;
  return about.turnId ?? `out:${about.outboxId ?? 0}`;
}

/** A story for a chat or a ticket. */
export function storyText(story: Story): string {
  const { verdict, about, steps } = story;
  const from = steps[0]?.at ?? 0;
  return [
    `${storyName(story)}: ${verdict.text}`,
    ...(verdict.todo === undefined ? [] : [t`What to do: ${verdict.todo}`]),
    ...(about.asked === undefined ? [] : [t`Message: ${about.asked}`]),
    ...(about.sessionKey === undefined ? [] : [t`Session: ${about.sessionKey}`]),
    ...(steps.length === 0 ? [] : [t`Started: ${new Date(from).toISOString()}`, ""]),
    ...steps.filter((step) => !isQuiet(step)).map((step) => lineOf(step, from)),
  ].join("\n");
}

/** From the beginning to the last thing that happened. */
export function storyMs({ steps }: Story): number {
  const from = steps[0]?.at ?? 0;
  return Math.max(0, ...steps.map(({ at, ms = 0, kind }) => (kind === "end" ? at : at + ms) - from));
}

export const OUTCOMES: Readonly<Record<string, string>> = {
  answered: t("Answered"),
  silent: t("Intentionally silent"),
  refused: t("Refused"),
  failed: t("Failed"),
  merged: t("Merged"),
  cancelled: t("Stopped"),
  waiting: t("Waiting"),
  running: t("In progress"),
  delivery: t("Delivery"),
};

/** What a list is narrowed to. */
export interface StoryFilter {
  readonly outcome?: string | undefined;
  readonly channel?: string | undefined;
}

type StartKind = NonNullable<Story["about"]["start"]>["kind"];

const STARTS: Readonly<Record<StartKind, string>> = {
  job: t("scheduled job"),
  hook: t("internal hook"),
  heartbeat: "heartbeat",
  webhook: "webhook",
  subagent: "sub-agent",
  report: t("sub-agent result"),
  session: t("another session"),
  command: "command",
};

/** Where a run came from: what started it, or the channel of its message. A client of the gateway has none of its own. */
export function channelOf({ about: { start, channel } }: Story): string {
  if (start) return STARTS[start.kind];
  return channel === undefined ? "" : channel === "gateway" ? "client" : channel;
}

/** The page on which what started a run is looked at. */
export function startPlace({ about: { start } }: Story): string | undefined {
  if (start?.kind === "job" && start.id !== undefined) return place("jobs", [start.id]);
  if (start?.kind === "subagent" || start?.kind === "report") return place("subagents");
  if (start?.kind === "session" && start.sessionKey !== undefined) return place("chat", [start.sessionKey]);
  return start?.kind === "heartbeat" ? place("overview") : undefined;
}

/** What started a run, as a sentence begins. */
export const startText = ({ about: { start } }: Story): string | undefined => start && capital(start.text);

export const filtered = (stories: readonly Story[], { outcome, channel }: StoryFilter): readonly Story[] =>
  stories.filter((story) => (outcome === undefined || story.verdict.outcome === outcome) && (channel === undefined || channelOf(story) === channel));
