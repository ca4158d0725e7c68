import type { MethodResult } from "openclaw/client";
import { tokens } from "../../base/figures.ts";
import { askedOf, gaveOf } from "./step-facts.ts";
import { t } from "../../words/words.ts";

export type Story = MethodResult<"why">["stories"][number];
export type Step = Story["steps"][number];

/** A line of the waterfall. Times are milliseconds since the beginning of the story. */
export interface TraceRow {
  /** The step's place among the steps; -1 for what is guessed of a run under way. */
  readonly index: number;
  readonly depth: number;
  /** Which colour it has. */
  readonly tone: Tone;
  /** A short name: `model`, `read`, `guard`. */
  readonly name: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Something at one moment. */
  readonly point: boolean;
  /** It goes on. */
  readonly open: boolean;
  /** When something came of it first: an answer's first token, a delivery's last attempt. */
  readonly first?: number;
  readonly bad: boolean;
  /** What stands beside its bar. */
  readonly note: string;
  readonly step: Step;
  /** Steps that are parts of it. */
  readonly parts: readonly Step[];
}

export type Tone = "arrival" | "queue" | "plugins" | "turn" | "model" | "tools" | "delivery" | "compaction" | "attempt";

/** A story laid out. */
export interface Waterfall {
  /** When it began. */
  readonly began: number;
  /** How long it is, in milliseconds. */
  readonly length: number;
  readonly rows: readonly TraceRow[];
  /** Plugins that had nothing to say, which are not among the rows unless asked for. */
  readonly quiet: number;
}

const NAMES: Readonly<Record<string, string>> = {
  received: t("Received"),
  gate: t("Access check"),
  route: t("Route"),
  queue: t("Queue"),
  merged: t("Merged"),
  start: t("Turn"),
  resumed: t("Resumed"),
  model: t("Model"),
  attempt: t("Attempt"),
  approval: t("Approval"),
  compaction: t("Compaction"),
  block: t("Part sent"),
  end: t("Turn"),
  delivery: t("Delivery"),
};

const detail = (step: Step, key: string): unknown => step.details?.[key];
const words = (step: Step, key: string): string | undefined => {
  const value = detail(step, key);
  return typeof value === "string" && value !== "" ? value : undefined;
};
const figure = (step: Step, key: string): number | undefined => {
  const value = detail(step, key);
  return typeof value === "number" ? value : undefined;
};

/** Whether a step went wrong. */
export function isBad(step: Step): boolean {
  if (step.kind === "attempt") return true;
  if (gaveOf(step)?.failed === true) return true;
  if (["isError", "failed", "unknown"].some((key) => detail(step, key) === true)) return true;
  return words(step, "state") === "failed" || ["failed", "timeout"].includes(words(step, "decision") ?? "") || words(step, "outcome") === "failed";
}

/** Whether a plugin was asked and had nothing to say. */
export const isQuiet = (step: Step): boolean => step.kind === "hook" && words(step, "decision") === "ok";

/** Whether it is not over yet: a story of this is asked for again. */
export const isLive = ({ verdict }: Story): boolean => verdict.level === "wait";

/** What a step is called in a narrow column. */
export function nameOf(step: Step): string {
  if (step.kind === "tool") return words(step, "name") ?? t("Tool");
  if (step.kind === "hook") return words(step, "pluginId") ?? t("Plugin");
  if (step.kind === "model" || step.kind === "attempt") return words(step, "model") ?? NAMES[step.kind]!;
  return NAMES[step.kind] ?? step.kind;
}

/** Tokens of a call: `12K in, 340 out`. */
export function tokensNote(step: Step): string {
  if (step.kind !== "model" || detail(step, "failed") === true) return "";
  const taken = (figure(step, "input") ?? 0) + (figure(step, "cacheRead") ?? 0) + (figure(step, "cacheWrite") ?? 0);
  return t`${tokens(taken)} in, ${tokens(figure(step, "output") ?? 0)} out`;
}

/** What a tool was asked, and how it went where that is not well. */
function toolNote(step: Step): string {
  const asked = askedOf(step)?.line ?? "";
  const how = step.text.replace(/^.*?: /, "");
  const plain = how === "done" && gaveOf(step)?.failed !== true;
  return asked === "" ? how : plain ? asked : `${how}: ${asked}`;
}

function noteOf(step: Step): string {
  if (step.kind === "model") return tokensNote(step) || "failed";
  if (step.kind === "hook") return `${words(step, "hook") ?? "hook"}: ${step.text.replace(/^[^:]*: /, "")}`;
  if (step.kind === "tool") return toolNote(step);
  if (step.kind === "queue" && step.ms === undefined) return step.text;
  if (step.kind === "attempt") return words(step, "outcome") ?? "";
  if (step.kind === "delivery") return words(step, "state") ?? "";
  return step.kind === "gate" || step.kind === "route" || step.kind === "received" || step.kind === "merged" ? step.text : "";
}

const toneOf = ({ kind, lane }: Step): Tone => (kind === "compaction" || kind === "attempt" ? kind : lane);

/** Steps that have no end in a story that goes on. */
function isOpen(step: Step, live: boolean): boolean {
  if (!live || step.ms !== undefined) return false;
  if (step.kind === "delivery") return ["pending", "attempting", "unknown"].includes(words(step, "state") ?? "");
  return step.kind === "tool" || step.kind === "approval" || step.kind === "queue";
}

const LAST_MS = 1;

/** Lays a story out: what is a part of something stands below it, otherwise by the beginning. `now` ends what goes on. */
export function waterfallOf(story: Story, { now, quiet = false }: { readonly now: number; readonly quiet?: boolean }): Waterfall {
  const { steps } = story;
  const began = steps[0]?.at ?? now;
  const running = story.verdict.outcome === "running";
  const live = isLive(story);
  const ended = steps.find(({ kind }) => kind === "end");
  const known = Math.max(began, ...steps.map(({ at, ms, kind }) => (kind === "end" ? at : at + (ms ?? 0))));
  const present = Math.max(now, known) - began;

  const rowOf = (step: Step, index: number, depth: number): TraceRow => {
    const start = step.at - began;
    const open = isOpen(step, live) || (step.kind === "start" && running && !ended);
    const spans = step.kind === "start" ? (ended?.at ?? known) - began : start + (step.ms ?? 0);
    const end = Math.max(start, open ? present : spans);
    const firstMs = figure(step, "firstMs");
    const attempted = step.kind === "delivery" ? figure(step, "attemptedAt") : undefined;
    const first = firstMs === undefined ? (attempted === undefined ? undefined : attempted - began) : start + firstMs;
    return {
      index,
      depth,
      tone: toneOf(step),
      name: nameOf(step),
      text: step.text,
      start,
      end,
      point: !open && end - start < LAST_MS && step.ms === undefined && step.kind !== "start",
      open,
      ...(first !== undefined && first > start ? { first: Math.min(first, end) } : {}),
      bad: isBad(step),
      note: step.kind === "start" ? (ended?.text.replace(/^turn ended: /, "") ?? t("in progress")) : noteOf(step),
      step,
      parts: steps.filter(({ parent }) => parent === index),
    };
  };

  const below = (parent: number | undefined, depth: number): TraceRow[] =>
    steps.flatMap((step, index) => {
      if (step.parent !== parent || step.kind === "end" || (isQuiet(step) && !quiet)) return [];
      return [rowOf(step, index, depth), ...below(index, depth + 1)];
    });
  const rows = below(undefined, 0);
  const waits = running && !rows.some(({ open, step }) => open && step.kind !== "start");
  if (waits) rows.splice(lastOfTurn(rows), 0, waiting(known, began, present));
  return { began, length: Math.max(LAST_MS, live ? present : known - began), rows, quiet: steps.filter(isQuiet).length };
}

/** After what stands below the turn. */
function lastOfTurn(rows: readonly TraceRow[]): number {
  const turn = rows.findIndex(({ step }) => step.kind === "start");
  const next = rows.findIndex(({ depth }, index) => index > turn && depth === 0);
  return turn === -1 || next === -1 ? rows.length : next;
}

/** Of an answer that is being written nothing is on disk: since the last step the model has been asked. */
function waiting(known: number, began: number, present: number): TraceRow {
  const text = t("waiting for the model");
  const step: Step = { at: known, kind: "model", text, lane: "model" };
  return {
    index: -1,
    depth: 1,
    tone: "model",
    name: t("Model"),
    text,
    start: known - began,
    end: present,
    point: false,
    open: true,
    bad: false,
    note: t("in progress"),
    step,
    parts: [],
  };
}

/** What all of it came to. */
export interface StorySums {
  readonly calls: number;
  readonly tools: number;
  readonly tokens: number;
  readonly cost: number;
  readonly waitedMs: number;
  readonly modelMs: number;
  readonly toolMs: number;
}

export function sumsOf({ steps }: Story): StorySums {
  const of = (kind: string): readonly Step[] => steps.filter((step) => step.kind === kind);
  const time = (some: readonly Step[]): number => some.reduce((sum, { ms = 0 }) => sum + ms, 0);
  const add = (key: string): number => of("model").reduce((sum, step) => sum + (figure(step, key) ?? 0), 0);
  return {
    calls: of("model").length,
    tools: of("tool").length,
    tokens: add("input") + add("output") + add("cacheRead") + add("cacheWrite"),
    cost: add("cost"),
    waitedMs: time(of("queue")),
    modelMs: time(of("model")),
    toolMs: time(of("tool")),
  };
}
