import { AppError } from "../../base/errors.ts";

export type Params = Readonly<Record<string, unknown>>;
export const textIn = (params: Params, name: string): string | undefined => {
  const value = params[name];
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
};
export const numberIn = (params: Params, name: string): number | undefined => (typeof params[name] === "number" ? params[name] : undefined);
export const present = (fields: Params): Params => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

export function required(params: Params, name: string): string {
  const text = textIn(params, name);
  if (text === undefined) throw new AppError("INVALID_INPUT", `${name} required`);
  return text;
}

/** `10s`, `2m` or milliseconds. */
export function durationIn(params: Params, fallback: number): number {
  const written = /^(\d+(?:\.\d+)?)\s*(ms|s|m)?$/.exec(textIn(params, "duration")?.trim() ?? "");
  const factor = { ms: 1, s: 1000, m: 60_000 }[written?.[2] ?? "ms"] ?? 1;
  return numberIn(params, "durationMs") ?? (written ? Number(written[1]) * factor : fallback);
}
