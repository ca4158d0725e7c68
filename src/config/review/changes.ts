import { changesBetween } from "../diff.ts";
import { redactAt } from "../redact.ts";
import type { ConfigSections } from "../validate/index.ts";
import { valueAt } from "../value.ts";

/** One key that differs between two configurations, as it may be shown. */
export interface ShownChange {
  /** Dotted. */
  readonly path: string;
  readonly kind: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Every write sets these. */
const STAMPS = ["meta.lastTouchedAt", "meta.lastTouchedVersion"];
/** A stamp that comes alone brings its object with it. */
const isStamp = (path: string, value: unknown): boolean =>
  STAMPS.includes(path) ||
  (path === "meta" && typeof value === "object" && value !== null && Object.keys(value).every((key) => STAMPS.includes(`meta.${key}`)));

/** What differs, with secrets hidden: that one is another now is shown, what it is never. */
export function shownChanges(before: unknown, after: unknown, sections?: ConfigSections): ShownChange[] {
  return changesBetween(before, after).flatMap(({ path, before: old, after: next }): ShownChange[] => {
    const dotted = path.join(".");
    if (isStamp(dotted, next ?? old)) return [];
    const was = old === undefined ? {} : { before: redactAt(valueAt(before, path), path, sections) };
    const is = next === undefined ? {} : { after: redactAt(next, path, sections) };
    return [{ path: dotted, kind: old === undefined ? "added" : next === undefined ? "removed" : "changed", ...was, ...is }];
  });
}
