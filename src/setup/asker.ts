import { AppError } from "../base/errors.ts";
import type { WizardPrompter, WizardTextParams } from "../protocol/index.ts";

/**
 * Asks the user questions, at a terminal or over a connection. Plugins use the same interface. Leaving a question rejects with
 * `CANCELLED`.
 */
export interface Asker extends WizardPrompter {
  /** A text that is not shown. */
  password(params: Pick<WizardTextParams, "message" | "placeholder" | "validate">): Promise<string>;
}

const SECRET = /\b(?:token|password|passphrase|secret|api[ -]?key|private key|credential)s?\b/i;
/** Questions about a secret rather than for one: where it is stored, how it is called. */
const ABOUT_SECRET = /\b(?:file|path|folder|directory|variable|env|id|name|url|expires?|limit)\b/i;

/** True for a text that is masked while it is typed. Plugins written before `sensitive` existed are judged by their question. */
export function asksForSecret({ message, sensitive }: Pick<WizardTextParams, "message" | "sensitive">): boolean {
  return sensitive ?? (SECRET.test(message) && !ABOUT_SECRET.test(message));
}

/** The person left. */
export const left = (): AppError => new AppError("CANCELLED", "Setup cancelled. No changes made");

export const isLeft = (error: unknown): boolean => error instanceof AppError && error.code === "CANCELLED";
