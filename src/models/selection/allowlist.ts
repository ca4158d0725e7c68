import { AppError } from "../../base/errors.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { formatRef, parseRef, sameRef, type ModelRef } from "./ref.ts";

/** Which models may be chosen. */
export interface Allowlist {
  /** The configuration names none: all may be chosen. */
  readonly any: boolean;
  readonly refs: readonly ModelRef[];
  allows(ref: ModelRef): boolean;
}

/** Keys of `agents.defaults.models`, and always the default. */
export function allowlistOf(config: OpenClawConfig, standard: ModelRef): Allowlist {
  const named = Object.keys(config.agents?.defaults?.models ?? {}).flatMap((text) => parseRef(text) ?? []);
  const refs = named.length === 0 || named.some((ref) => sameRef(ref, standard)) ? named : [standard, ...named];
  return { any: named.length === 0, refs, allows: (ref) => named.length === 0 || refs.some((known) => sameRef(known, ref)) };
}

/** The error of methods and commands. */
export function notAllowed(ref: ModelRef): AppError {
  return new AppError("INVALID_INPUT", `model not allowed: ${formatRef(ref)}`, {
    details: { ref: formatRef(ref), advice: "add it to agents.defaults.models, or empty that section" },
  });
}

/** The message shown in a chat. */
export const notAllowedText = (ref: ModelRef): string => `Model "${formatRef(ref)}" is not allowed. Use /model to list available models.`;
