/** Pages of lists. A cursor names the entry that comes next, in a form that clients cannot read. */
import type { Args } from "./method.ts";
import { SlackRefusal } from "./refusal.ts";

export interface Page<T> {
  readonly entries: readonly T[];
  readonly hasMore: boolean;
  readonly response_metadata: { readonly next_cursor: string };
}

const MAX_LIMIT = 1000;
const MARK = "next:";
const cursorTo = (key: string): string => Buffer.from(`${MARK}${key}`).toString("base64");

/** `usual` entries where the caller names no limit. */
export function paged<T>(all: readonly T[], keyOf: (entry: T) => string, args: Args, usual: number): Page<T> {
  const limit = Number(args["limit"] ?? usual);
  if (!Number.isInteger(limit) || limit < 0) throw new SlackRefusal("invalid_limit");
  const cursor = args["cursor"] ?? "";
  const from = cursor === "" ? 0 : all.findIndex((entry) => cursorTo(keyOf(entry)) === cursor);
  if (from < 0) throw new SlackRefusal("invalid_cursor");
  const end = from + Math.min(limit === 0 ? usual : limit, MAX_LIMIT);
  const next = all[end];
  return { entries: all.slice(from, end), hasMore: next !== undefined, response_metadata: { next_cursor: next === undefined ? "" : cursorTo(keyOf(next)) } };
}
