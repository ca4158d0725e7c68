import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { HandlersOf } from "./handler.ts";

type Asked<M extends "wizard.start" | "wizard.next" | "wizard.cancel" | "wizard.status"> = Omit<MethodParams<M>, "idempotencyKey">;

/** The setup, asked step by step. One runs at a time. */
export interface WizardPort {
  start(asked: Asked<"wizard.start">): Promise<MethodResult<"wizard.start">>;
  /** Waits for the next step, for a while. */
  next(asked: Asked<"wizard.next">): Promise<MethodResult<"wizard.next">>;
  cancel(asked: Asked<"wizard.cancel">): Promise<MethodResult<"wizard.cancel">>;
  status(asked: Asked<"wizard.status">): Promise<MethodResult<"wizard.status">>;
}

export function wizardHandlers(wizard: WizardPort): HandlersOf<"wizard"> {
  return {
    "wizard.start": (params) => wizard.start(params),
    "wizard.next": (params) => wizard.next(params),
    "wizard.cancel": (params) => wizard.cancel(params),
    "wizard.status": (params) => wizard.status(params),
  };
}
