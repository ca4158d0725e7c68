import { planReload, type ConfigEdit, type ReloadMode } from "../../../config/index.ts";
import { editConfig, type EditResult } from "../../config-edit.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { findPlugin, loadPlugins } from "../../plugin-source.ts";
import { describeDiagnostic, stateOf } from "./record.ts";

export interface Switch {
  readonly id: string;
  readonly edit: ConfigEdit;
  /** For people: `enabled plugin voice`. */
  readonly what: string;
  readonly by: string;
  readonly notes: readonly string[];
}

type GatewayAnswer = "not running" | "takes it over" | "restarts" | "needs a restart";

const SENTENCES: Readonly<Record<GatewayAnswer, string>> = {
  "not running": "the gateway does not run; it counts from its next start",
  "takes it over": "the running gateway takes it over",
  restarts: "the running gateway restarts to take it over",
  "needs a restart": "the running gateway does not take it over by itself; run: openclaw gateway restart",
};

/** What a gateway makes of the change. */
function gatewayAnswer({ gatewayRunning }: EditResult, id: string, mode: ReloadMode): GatewayAnswer {
  if (!gatewayRunning) return "not running";
  const { actions, ignored } = planReload([`plugins.entries.${id}.enabled`], mode, []);
  if (ignored !== undefined) return "needs a restart";
  return actions.some(({ kind }) => kind === "process") ? "restarts" : "takes it over";
}

/** Changes the file, then looks again and tells what came of it. */
export async function applySwitch(io: Io, { id, edit, what, by, notes }: Switch, json: boolean): Promise<void> {
  const result: EditResult = await editConfig(io, edit, by);
  const { inventory, loaded } = await loadPlugins(io);
  const gateway = gatewayAnswer(result, id, loaded.snapshot.config.gateway?.reload?.mode ?? "hybrid");
  const entry = findPlugin(inventory, id);
  const diagnostics = inventory.diagnostics.filter(({ pluginId, level }) => pluginId === id && level === "error");
  if (json) {
    printJson(io, { ok: true, id, enabled: entry.enabled, status: stateOf(entry), reason: entry.reason, error: entry.error, ...result, gateway, diagnostics });
    return;
  }
  const style = createStyle(io.color);
  if (result.files.length === 0) io.out(`nothing to change: ${id} is as asked in ${result.path}\n`);
  else io.out(`${what} in ${result.files.join(", ")}; ${io.runnable(SENTENCES[gateway])}\n`);
  for (const note of notes) io.out(io.runnable(`${note}\n`));
  for (const diagnostic of diagnostics) io.out(describeDiagnostic(diagnostic, style));
}
