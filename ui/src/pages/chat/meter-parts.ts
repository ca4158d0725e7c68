import type { MethodResult } from "openclaw/client";
import { t } from "../../words/words.ts";

export type ContextAnswer = MethodResult<"sessions.context">;

type Kind = ContextAnswer["parts"][number]["kind"];

/** One stretch of the bar: everything of one kind. `from` and `size` are parts of 100. */
export interface MeterPart {
  readonly label: string;
  readonly tokens: number;
  readonly from: number;
  readonly size: number;
  /** Which colour, 1 to 6; 0 is what belongs to none. */
  readonly series: number;
}

const KINDS: readonly (readonly [kind: Kind, label: string])[] = [
  ["messages", t("Messages")],
  ["summary", t("Summary of older messages")],
  ["system", t("System prompt")],
  ["workspace", t("Workspace files")],
  ["tools", t("Tools")],
  ["skills", t("Skills")],
  ["other", t("Other")],
];
const SERIES = 6;

/** How full the model's memory is, 0 to 100; undefined when nobody knows. */
export function percentOf(used: number | undefined, total: number | null | undefined): number | undefined {
  if (used === undefined || total === undefined || total === null || total <= 0) return undefined;
  return Math.min(100, Math.round((used / total) * 100));
}

/** The kinds of parts one behind the other. Estimates that are too large together are made smaller, so that the bar ends where the use does. */
export function meterParts({ parts, usedTokens, contextTokens }: ContextAnswer): readonly MeterPart[] {
  const kinds = KINDS.map(([kind, label], at) => ({
    label,
    tokens: parts.filter((part) => part.kind === kind).reduce((all, { tokens }) => all + tokens, 0),
    series: (at + 1) % (SERIES + 1),
  })).filter(({ tokens }) => tokens > 0);
  const sum = kinds.reduce((all, { tokens }) => all + tokens, 0);
  const available = Math.max(contextTokens, 1);
  const scale = sum === 0 ? 0 : (Math.min(usedTokens > 0 ? usedTokens : sum, available) / available) * (100 / sum);
  let from = 0;
  return kinds.map((kind) => {
    const part = { ...kind, from, size: kind.tokens * scale };
    from += part.size;
    return part;
  });
}
