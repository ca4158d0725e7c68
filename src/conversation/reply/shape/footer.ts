/** The line about tokens and money below an answer. */
import type { TurnEnd } from "../../../agent/index.ts";
import type { ReplyPayload, Usage } from "../../../protocol/index.ts";

export type UsageLevel = "off" | "tokens" | "full";

export interface FooterFacts {
  readonly level: UsageLevel;
  readonly sessionKey?: string | undefined;
  /** The call was paid with a key: its cost means money. */
  readonly billed?: boolean | undefined;
}

const count = (tokens: number): string => {
  if (tokens < 1000) return `${tokens}`;
  return tokens < 1_000_000 ? `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}k` : `${(tokens / 1_000_000).toFixed(1)}m`;
};

const money = (dollars: number): string => `$${dollars.toFixed(dollars < 0.01 ? 4 : 2)}`;

const sum = (usage: readonly Usage[], of: (one: Usage) => number): number => usage.reduce((total, one) => total + of(one), 0);

/** Undefined where nothing is wanted or nothing was reported. */
export function usageFooter({ usage }: Pick<TurnEnd, "usage">, { level, sessionKey, billed }: FooterFacts): string | undefined {
  const read = sum(usage, (one) => one.input + one.cacheRead + one.cacheWrite);
  const written = sum(usage, (one) => one.output);
  if (level === "off" || read + written === 0) return undefined;
  const cost = billed === true ? sum(usage, (one) => one.cost.total) : 0;
  const parts = [`${count(read)} in / ${count(written)} out`];
  if (cost > 0) parts.push(`est. ${money(cost)}`);
  if (level === "full" && sessionKey) parts.push(`session ${sessionKey}`);
  return `Usage: ${parts.join(" · ")}`;
}

const CUT_OFF = "⚠️ Cut off: the answer reached the model's length limit. Ask it to continue for the rest.";

/** What stands below an answer: that it is not whole, and what it took. */
export function answerFooter(end: Pick<TurnEnd, "usage" | "stopReason">, facts: FooterFacts): string | undefined {
  const lines = [end.stopReason === "length" ? CUT_OFF : undefined, usageFooter(end, facts)].filter((line) => line !== undefined);
  return lines.length === 0 ? undefined : lines.join("\n\n");
}

/** The payloads with the line below the last text. Where no text is left to be sent it is a message of its own. */
export function withFooter(payloads: readonly ReplyPayload[], footer: string | undefined): readonly ReplyPayload[] {
  if (footer === undefined) return payloads;
  const last = payloads.findLastIndex(({ text, isReasoning, isError }) => text && !isReasoning && !isError);
  if (last < 0) return payloads.some(({ isError }) => isError) ? payloads : [...payloads, { text: footer, isStatusNotice: true }];
  return payloads.map((payload, index) => (index === last ? { ...payload, text: `${payload.text}\n\n${footer}` } : payload));
}
