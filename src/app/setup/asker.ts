import { AppError } from "../../base/errors.ts";
import type { WizardPrompter, WizardTextParams } from "../../protocol/index.ts";

/**
 * Questions to a person, wherever that person sits: at a terminal, or behind a connection. Plugins are given the same. Leaving a question rejects with
 * `CANCELLED`.
 */
export interface Asker extends WizardPrompter {
  /** A text that is not shown. */
  password(params: Pick<WizardTextParams, "message" | "placeholder" | "validate">): Promise<string>;
}

/** The person left. */
export const left = (): AppError => new AppError("CANCELLED", "the setup was left; nothing was changed");

export const isLeft = (error: unknown): boolean => error instanceof AppError && error.code === "CANCELLED";
