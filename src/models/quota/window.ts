import { isRecord } from "../../base/records.ts";

/** The used share of an allowance within one period. */
export interface QuotaWindow {
  /** `5h`, `Week`, `Premium`. */
  readonly label: string;
  /** 0 to 100. */
  readonly usedPercent: number;
  /** When it resets, in milliseconds since the epoch, if the provider says so. */
  readonly resetAt?: number;
}

/** A provider's information about an account. */
export interface QuotaFacts {
  readonly windows: readonly QuotaWindow[];
  /** The provider's name of the plan. */
  readonly plan?: string;
}

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);

/** A number, also where a provider writes it as text. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** Providers write times as seconds, milliseconds or text. */
export function momentOf(value: unknown): number | undefined {
  const number = numberOf(value);
  if (number !== undefined) return number <= 0 ? undefined : Math.round(number < 1e11 ? number * 1000 : number);
  const text = textOf(value);
  const parsed = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(parsed) ? undefined : parsed;
}

/** Undefined without a number: an unknown allowance is not shown as unused. */
export function quotaWindow(label: string, usedPercent: number | undefined, resetAt?: unknown): readonly QuotaWindow[] {
  if (usedPercent === undefined) return [];
  const at = momentOf(resetAt);
  // Providers report no more than one decimal.
  const percent = Math.round(Math.min(100, Math.max(0, usedPercent)) * 10) / 10;
  return [{ label, usedPercent: percent, ...(at === undefined ? {} : { resetAt: at }) }];
}

/** The used percentage from a remaining fraction, 0 to 1. */
export const usedOfFraction = (remaining: number | undefined): number | undefined => (remaining === undefined ? undefined : (1 - remaining) * 100);
