import { AppError } from "../../base/errors.ts";
import { clip } from "../../base/text.ts";
import { isRecord } from "../../base/records.ts";

/** What a plugin handed over, before anything is known about it. */
export type Fields = Readonly<Record<string, unknown>>;
export type AnyFunction = (...args: readonly unknown[]) => unknown;

/** A value as a message names it: short, and never its secrets. */
export function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(clip(value, 60));
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint" || value === undefined || value === null) return String(value);
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  return Array.isArray(value) ? `an array of ${value.length}` : "an object";
}

/** Checks of one call's arguments. Each throws `INVALID_INPUT` naming the argument, what was expected and what came. */
export interface Checks {
  fail(argument: string, expected: string, value: unknown): never;
  fields(argument: string, value: unknown): Fields;
  /** Undefined becomes no fields. */
  options(argument: string, value: unknown): Fields;
  /** Trimmed, not empty. */
  text(argument: string, value: unknown, most?: number): string;
  maybeText(argument: string, value: unknown): string | undefined;
  texts(argument: string, value: unknown): readonly string[];
  fn(argument: string, value: unknown): AnyFunction;
  maybeFn(argument: string, value: unknown): AnyFunction | undefined;
  choice<const T extends string>(argument: string, value: unknown, allowed: readonly T[]): T;
  maybeCount(argument: string, value: unknown, range: readonly [number, number]): number | undefined;
}

const MOST_TEXT = 4096;
/** `member`: as the author wrote it, `api.registerTool`. */
export function checksFor(member: string): Checks {
  function fail(argument: string, expected: string, value: unknown): never {
    throw new AppError("INVALID_INPUT", `${member}: ${argument} must be ${expected}, but is ${describe(value)}`, { details: { member, argument } });
  }
  const checks: Checks = {
    fail,
    fields: (argument, value) => (isRecord(value) ? value : fail(argument, "an object", value)),
    options: (argument, value) => (value === undefined || value === null ? {} : checks.fields(argument, value)),
    text(argument, value, most = MOST_TEXT) {
      if (typeof value !== "string" || value.trim() === "") return fail(argument, "a non-empty string", value);
      return value.length > most ? fail(argument, `at most ${most} characters long`, value) : value.trim();
    },
    maybeText: (argument, value) => (value === undefined || value === null ? undefined : checks.text(argument, value)),
    texts: (argument, value) =>
      Array.isArray(value) ? value.map((item, at) => checks.text(`${argument}[${at}]`, item)) : fail(argument, "a list of strings", value),
    fn: (argument, value) => (typeof value === "function" ? (value as AnyFunction) : fail(argument, "a function", value)),
    maybeFn: (argument, value) => (value === undefined || value === null ? undefined : checks.fn(argument, value)),
    choice(argument, value, allowed) {
      const found = allowed.find((name) => name === value);
      return found ?? fail(argument, `one of ${allowed.map((name) => JSON.stringify(name)).join(", ")}`, value);
    },
    maybeCount(argument, value, [least, most]) {
      if (value === undefined || value === null) return undefined;
      return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most
        ? value
        : fail(argument, `a whole number from ${least} to ${most}`, value);
    },
  };
  return checks;
}
