import type { PluginDiagnostic, PluginEntry } from "../../../plugins/index.ts";
import type { Style } from "../../output/style.ts";
import { declaredCommands } from "../../plugin-commands/declared.ts";
import { escapeLine } from "../../../base/printable.ts";

export type PluginState = "loaded" | "disabled" | "error";

/** What the gateway makes of a plugin as things stand. */
export function stateOf({ enabled, error }: PluginEntry): PluginState {
  return error !== undefined ? "error" : enabled ? "loaded" : "disabled";
}

/** The documented form of a listed plugin. What only running code knows is empty; what the manifest declares is not. */
export function recordOf(entry: PluginEntry): Record<string, unknown> {
  const { id, name, description, version, source, origin, enabled, manifest, reason } = entry;
  const status = stateOf(entry);
  const error = entry.error ?? (status === "disabled" ? reason : undefined);
  return {
    id,
    name,
    description,
    version,
    source,
    origin,
    enabled,
    status,
    error,
    reason,
    kind: manifest.kind,
    toolNames: manifest.contracts?.["tools"] ?? [],
    hookNames: [],
    channelIds: manifest.channels ?? [],
    providerIds: manifest.providers ?? [],
    gatewayMethods: [],
    cliCommands: declaredCommands(manifest).map((command) => command.name),
    services: [],
    commands: [],
    httpHandlers: 0,
    hookCount: 0,
    configSchema: Object.keys(manifest.configSchema).length > 0,
    configUiHints: manifest.uiHints,
    configJsonSchema: manifest.configSchema,
  };
}

/** Text of a manifest as a terminal may show it, on one line: whoever wrote it cannot move the cursor. */
export const printable = escapeLine;

export function colored(state: PluginState, style: Style): string {
  return { loaded: style.green, disabled: style.dim, error: style.red }[state](state);
}

/** `file:12: voice: "id": expected a text`, for people. */
export function describeDiagnostic({ level, message, pluginId, source, line, path }: PluginDiagnostic, style: Style): string {
  const place = source === undefined ? "" : `${source}${line === undefined ? "" : `:${line}`}: `;
  const about = path ?? pluginId;
  const label = level === "error" ? style.red("error") : style.yellow("warning");
  return `${label}${level === "error" ? "  " : ""} ${printable(`${place}${about === undefined ? "" : `${about}: `}${message}`)}\n`;
}
