import type { MethodResult } from "openclaw/client";
import { clockTime, dayTime } from "../../base/figures.ts";
import type { ChartSeries } from "../../parts/chart-scale.ts";
import type { StateSpan } from "../../parts/state-strip.ts";
import { t } from "../../words/words.ts";

type History = MethodResult<"overview.history">;
type Span = History["parts"][number]["spans"][number];

const DAY_MS = 86_400_000;
const MOST_SERIES = 5;
/** Of what was wrong. */
const MOST_NAMED = 4;

const TONES: Readonly<Record<Span["state"], StateSpan["tone"]>> = { ok: "good", slow: "warn", down: "bad", off: "quiet", unknown: "quiet" };
export const toneOf = (state: Span["state"]): StateSpan["tone"] => TONES[state];

const isLong = (from: number, to: number): boolean => to - from > 2 * DAY_MS;
const timeOf = (from: number, to: number): ((at: number) => string) => (isLong(from, to) ? dayTime : clockTime);

/** What was wrong, newest first: `Signal: down 02:14 to 06:00`. */
export function stripText(name: string, spans: readonly Span[] | undefined): string {
  const [first, last] = [spans?.[0], spans?.at(-1)];
  if (!first || !last) return t`${name}: no history yet`;
  const at = timeOf(first.from, last.to);
  const words: Readonly<Record<Span["state"], string>> = { ok: "", slow: t("degraded"), down: t("down"), off: t("off"), unknown: t("unknown") };
  const wrong = (spans ?? []).filter(({ state }) => state === "slow" || state === "down").toReversed();
  if (wrong.length === 0) return t`${name}: no problems`;
  const named = wrong.slice(0, MOST_NAMED).map(({ from, to, state }) => t`${words[state]} from ${at(from)} to ${at(to)}`);
  return `${name}: ${named.join(", ")}${wrong.length > MOST_NAMED ? t`, and ${wrong.length - MOST_NAMED} more` : ""}`;
}

/** Five times from the beginning to now, at quarters of whole steps. */
export function axisLabels({ from, to, stepMs }: History): readonly string[] {
  const at = timeOf(from, to);
  const whole = (Math.floor((to - from) / stepMs) + 1) * stepMs;
  return [0, 1, 2, 3].map((quarter) => at(from + (whole * quarter) / 4)).concat(t("Now"));
}

/** What people call where messages come from. Pages and programs are clients of the gateway itself. */
const channelName = (channel: string, labels: Readonly<Record<string, string>>): string => (channel === "gateway" ? t("Web") : (labels[channel] ?? channel));

/** Messages by step and channel, those with most first and the rest together. */
export function messageSeries({ messages }: History, labels: Readonly<Record<string, string>>): readonly ChartSeries[] {
  const all = messages.channels.map(({ channel, counts }) => ({ name: channelName(channel, labels), values: counts }));
  if (all.length <= MOST_SERIES) return all;
  const rest = all.slice(MOST_SERIES - 1);
  const together = (rest[0]?.values ?? []).map((_, index) => rest.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  return [...all.slice(0, MOST_SERIES - 1), { name: t`${rest.length} others`, values: together }];
}

/** The beginning of each step of messages. */
export function stepLabels({ messages, to, stepMs }: History): readonly string[] {
  const at = timeOf(messages.from, to);
  return Array.from({ length: messages.channels[0]?.counts.length ?? 0 }, (_, index) => at(messages.from + index * stepMs));
}
