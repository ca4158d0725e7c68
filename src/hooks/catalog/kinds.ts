import type { FieldSpec, HookArea, HookSpec } from "../spec.ts";

/** Default budgets in milliseconds. */
const OBSERVE_MS = 30_000;
const DECIDE_MS = 15_000;

type Rest = Partial<Omit<HookSpec, "area" | "mode" | "summary">>;

const base = { onThrow: "skip", onTimeout: "skip", access: "open", fields: {} } as const;

/** A hook that only observes. */
export const observe = (area: HookArea, summary: string, rest: Rest = {}): HookSpec => ({
  ...base,
  area,
  summary,
  mode: "observe",
  budgetMs: OBSERVE_MS,
  ...rest,
});

/** A hook whose results count. */
export const decide = (area: HookArea, summary: string, rest: Rest): HookSpec => ({ ...base, area, summary, mode: "decide", budgetMs: DECIDE_MS, ...rest });

/** A hook whose results count and must be synchronous. */
export const answerAtOnce = (area: HookArea, summary: string, rest: Rest): HookSpec => ({ ...base, area, summary, mode: "sync", budgetMs: 0, ...rest });

/** Text for the prompt, from every handler, in the order in which they ran. */
export const promptText: FieldSpec = { type: "text", merge: "join", prompt: true };
export const promptContext = { prependContext: promptText, appendContext: promptText } as const;

/** `block: true` is terminal, `false` decides nothing. */
export const blocking = {
  block: { type: "flag", merge: "any" },
  blockReason: { type: "text", merge: "last", withTerminal: true },
} as const satisfies Readonly<Record<string, FieldSpec>>;
export const blockEnds = [{ field: "block", value: true }] as const;
export const blocked = (blockReason: string) => ({ block: true, blockReason });

/** `cancel: true` is terminal, `false` decides nothing. */
export const cancelling = {
  cancel: { type: "flag", merge: "any" },
  cancelReason: { type: "text", merge: "last", withTerminal: true },
} as const satisfies Readonly<Record<string, FieldSpec>>;
export const cancelEnds = [{ field: "cancel", value: true }] as const;

/** `handled: true` is terminal, `false` decides nothing. */
export const handledEnds = [{ field: "handled", value: true }] as const;
export const handled: FieldSpec = { type: "flag", merge: "any" };
