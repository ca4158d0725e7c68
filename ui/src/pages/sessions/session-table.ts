import type { MethodResult } from "openclaw/client";
import { plain } from "../../base/plain.ts";
import { agentOf, isAutomation, titleOf, whereOf, type SessionRow } from "../chat/sidebar-groups.ts";

export type { SessionRow };

/** A session as the table shows it. */
export interface SessionLine {
  readonly key: string;
  readonly title: string;
  readonly agentId: string;
  readonly where: string;
  readonly model: string;
  /** What was said last. */
  readonly preview: string;
  readonly tokens: number;
  readonly cost: number;
  readonly updatedAt: number;
  readonly row: SessionRow;
  /** In lower case, for searching. */
  readonly words: string;
}

/** What sessions cost, by key. */
export type Costs = ReadonlyMap<string, number>;

/** Cost by session from `sessions.usage`. */
export function costsOf({ sessions }: Pick<MethodResult<"sessions.usage">, "sessions">): Costs {
  return new Map(
    sessions.flatMap(({ key, usage }) => {
      const cost = (usage as { readonly totalCost?: unknown } | null)?.totalCost;
      return typeof cost === "number" ? [[key, cost] as const] : [];
    }),
  );
}

export function lineOf(row: SessionRow, defaultAgentId: string, costs: Costs): SessionLine {
  const title = titleOf(row);
  const where = whereOf(row) ?? "here";
  const agentId = agentOf(row.key, defaultAgentId);
  const model = row.model ?? "";
  const preview = plain(row.lastMessagePreview ?? "");
  return {
    key: row.key,
    title,
    agentId,
    where,
    model,
    preview,
    tokens: row.totalTokens ?? 0,
    cost: costs.get(row.key) ?? 0,
    updatedAt: row.updatedAt ?? 0,
    row,
    words: `${title} ${row.key} ${where} ${model} ${row.subject ?? ""} ${row.lastTo ?? ""} ${preview}`.toLowerCase(),
  };
}

export interface SessionFilter {
  readonly text: string;
  readonly agent: string;
  readonly where: string;
  /** Minutes since the last activity; 0 shows all. */
  readonly minutes: number;
  /** Those of jobs, webhooks, sub-agents and heartbeats, too. One that is searched for, or whose kind is chosen, is shown without it. */
  readonly automation: boolean;
}

export const ALL: SessionFilter = { text: "", agent: "", where: "", minutes: 0, automation: true };
/** What is shown at first. */
export const CHATS: SessionFilter = { ...ALL, automation: false };

const hides = ({ automation, text, where }: SessionFilter): boolean => !automation && text.trim() === "" && where === "";

export type SortColumn = "title" | "agentId" | "where" | "tokens" | "cost" | "updatedAt";

export interface Sorting {
  readonly by: SortColumn;
  readonly down: boolean;
}

/** The lines that pass, in order. Words of the search may stand anywhere. */
export function arrange(lines: readonly SessionLine[], filter: SessionFilter, { by, down }: Sorting, now: number): readonly SessionLine[] {
  const wanted = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const since = filter.minutes === 0 ? -Infinity : now - filter.minutes * 60_000;
  const turn = down ? -1 : 1;
  const order = (a: SessionLine, b: SessionLine): number => {
    const [x, y] = [a[by], b[by]];
    const found = typeof x === "number" ? x - (y as number) : x < y ? -1 : Number(x > y);
    return found * turn || b.updatedAt - a.updatedAt;
  };
  return lines
    .filter(
      (line) =>
        (filter.agent === "" || line.agentId === filter.agent) &&
        (filter.where === "" || line.where === filter.where) &&
        !(hides(filter) && isAutomation(line)) &&
        line.updatedAt >= since &&
        wanted.every((word) => line.words.includes(word)),
    )
    .toSorted(order);
}

/** How many sessions of automation a filter leaves out. */
export const hiddenCount = (lines: readonly SessionLine[], filter: SessionFilter): number => (hides(filter) ? lines.filter(isAutomation).length : 0);

/** Rows in place of older ones of the same key: a setting that was cleared is gone. */
export function merged(known: readonly SessionRow[], newer: readonly SessionRow[]): readonly SessionRow[] {
  if (newer.length === 0) return known;
  const rows = new Map(known.map((row) => [row.key, row]));
  for (const row of newer) rows.set(row.key, row);
  return [...rows.values()];
}
