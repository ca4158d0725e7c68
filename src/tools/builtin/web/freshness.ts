/** How old results may be: a span, or days from one to another. */
export type Freshness = "pd" | "pw" | "pm" | "py" | { readonly from: string; readonly to: string };

const RECENCY = { pd: "day", pw: "week", pm: "month", py: "year" } as const;

/** Undefined when it is none of `pd`, `pw`, `pm`, `py` and `YYYY-MM-DDtoYYYY-MM-DD`. */
export function parseFreshness(text: string): Freshness | undefined {
  const plain = text.trim().toLowerCase();
  if (plain === "pd" || plain === "pw" || plain === "pm" || plain === "py") return plain;
  const [, from, to] = /^(\d{4}-\d{2}-\d{2})to(\d{4}-\d{2}-\d{2})$/.exec(plain) ?? [];
  return from !== undefined && to !== undefined && isDay(from) && isDay(to) && from <= to ? { from, to } : undefined;
}

export function freshnessText(freshness: Freshness): string {
  return typeof freshness === "string" ? freshness : `${freshness.from}to${freshness.to}`;
}

/** The word that answering services know; they know no ranges. */
export function recencyOf(freshness: Freshness | undefined): string | undefined {
  return typeof freshness === "string" ? RECENCY[freshness] : undefined;
}

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
