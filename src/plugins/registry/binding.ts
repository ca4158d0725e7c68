import type { PluginDiagnostic } from "../record.ts";
import type { Ledger } from "./ledger.ts";

/** Runs functions as a plugin. */
export interface Runner {
  bind<F extends (...args: never[]) => unknown>(fn: F): F;
}

/** What a registration needs to know about the plugin that makes it. */
export interface Binding {
  readonly ledger: Ledger;
  readonly scope: Runner;
  readonly tell: (level: PluginDiagnostic["level"], code: string, message: string) => void;
  /** For keys of things that have no name. */
  readonly nextNumber: () => number;
}
