/** Reading what models and the command line pass: scalars may come as text, and an empty text is nothing. */
import { AppError } from "../base/errors.ts";
import { isRecord } from "../base/records.ts";

export type Params = Readonly<Record<string, unknown>>;

export function textIn(params: Params, name: string): string | undefined {
  const value = params[name];
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** As it was written, with its spaces; may be empty. */
export const rawIn = (params: Params, name: string): string | undefined => {
  const value = params[name];
  return typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
};

export function required(params: Params, name: string): string {
  const text = textIn(params, name);
  if (text === undefined) throw new AppError("INVALID_INPUT", `${name} required`);
  return text;
}

export function numberIn(params: Params, name: string): number | undefined {
  const value = params[name];
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

export function flagIn(params: Params, name: string): boolean | undefined {
  const value = params[name];
  if (value === "true" || value === "1") return true;
  if (value === "false" || value === "0") return false;
  return typeof value === "boolean" ? value : undefined;
}

export function textsIn(params: Params, name: string): readonly string[] {
  const value = params[name];
  if (typeof value === "string") return value === "" ? [] : [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string" || typeof item === "number").map(String) : [];
}

export function recordsIn(params: Params, name: string): readonly Params[] {
  const value = params[name];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
