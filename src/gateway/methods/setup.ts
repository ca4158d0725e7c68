import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { HandlersOf } from "./handler.ts";
import { wizardHandlers, type WizardPort } from "./wizard.ts";

type Given<M extends "setup.key" | "setup.local" | "setup.channel"> = Omit<MethodParams<M>, "idempotencyKey">;

/** First steps that take one call each. */
export interface QuickSetupPort {
  status(): Promise<MethodResult<"setup.status">>;
  key(given: Given<"setup.key">): Promise<MethodResult<"setup.key">>;
  local(given: Given<"setup.local">): Promise<MethodResult<"setup.local">>;
  channel(given: Given<"setup.channel">): Promise<MethodResult<"setup.channel">>;
}

export interface SetupPort extends QuickSetupPort {
  readonly wizard: WizardPort;
}

/** The first steps: at once, or one after the other. */
export function setupHandlers(setup: SetupPort): HandlersOf<"setup" | "wizard"> {
  return {
    "setup.status": () => setup.status(),
    "setup.key": (params) => setup.key(params),
    "setup.local": (params) => setup.local(params),
    "setup.channel": (params) => setup.channel(params),
    ...wizardHandlers(setup.wizard),
  };
}
