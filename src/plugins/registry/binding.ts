import type { PluginDiagnostic } from "../record.ts";
import type { Ledger } from "./ledger.ts";

/** Runs functions as a plugin. */
export interface Runner {
  /** `what` names the function for people who look for what holds up the gateway: `hook before_tool_call`, `service poll start`. */
  bind<F extends (...args: never[]) => unknown>(fn: F, what: string): F;
  /** The same for a tool. Its calls keep the plugin's old code alive longer than others do, and reject when that ends before them. */
  bindTool(fn: (...args: readonly unknown[]) => unknown, what: string): (...args: readonly unknown[]) => Promise<unknown>;
}

/** What a registration needs to know about the plugin that makes it. */
export interface Binding {
  readonly ledger: Ledger;
  readonly scope: Runner;
  readonly tell: (level: PluginDiagnostic["level"], code: string, message: string) => void;
  /** For keys of things that have no name. */
  readonly nextNumber: () => number;
}
