import type { LocatedText } from "./json5.ts";
import { isFields, valueAt, type ValuePath } from "./path.ts";

/** Stands for a secret in every text that the gateway shows; sent back it means "as it was". */
export const HIDDEN = "__OPENCLAW_REDACTED__";

export type SecretState = "unset" | "set" | "new" | "env" | "file" | "exec";

const SOURCES: Readonly<Record<string, SecretState>> = { env: "env", file: "file", exec: "exec" };

/** Its value is somewhere else. */
export const isReference = (state: SecretState): boolean => Object.hasOwn(SOURCES, state);

/** How it stands with a secret, without the secret. */
export function secretState(value: unknown): SecretState {
  if (value === undefined || value === null || value === "") return "unset";
  if (value === HIDDEN) return "set";
  if (typeof value === "string") return /^\$\{[^}]+\}$/.test(value) ? "env" : "new";
  if (isFields(value) && typeof value["source"] === "string") return SOURCES[value["source"]] ?? "set";
  return "new";
}

/** The text without secrets that were typed and not saved: it may be kept in the browser. What the file has stays hidden, what is new goes. */
export function withoutNewSecrets(text: string, located: LocatedText, base: unknown, isSecret: (path: ValuePath) => boolean): string {
  let kept = text;
  for (const { path, text: value, start, end } of located.texts.toReversed()) {
    if (secretState(value) !== "new" || !path.some((_, at) => isSecret(path.slice(0, at + 1)))) continue;
    if (path.length > 1 && isFields(valueAt(located.value, path.slice(0, -1))) && isReference(secretState(valueAt(located.value, path.slice(0, -1))))) continue;
    kept = kept.slice(0, start) + JSON.stringify(valueAt(base, path) === undefined ? "" : HIDDEN) + kept.slice(end);
  }
  return kept;
}
