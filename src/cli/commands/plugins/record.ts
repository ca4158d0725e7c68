import type { PluginDiagnostic, PluginEntry } from "../../../plugins/index.ts";
import type { Style } from "../../output/style.ts";
import { declaredCommands } from "../../plugin-commands/declared.ts";
import { escapeLine } from "../../../base/printable.ts";

export type PluginState = "loaded" | "disabled" | "error" | "not checked" | "needs configuration";

/** Whether the code of a plugin could be loaded, by the running gateway or in a trial; undefined where it was not tried. */
export interface Loaded {
  readonly status: "loaded" | "disabled" | "error";
  readonly error?: string | undefined;
}

/** What is known about a plugin. Its manifest shows whether it is enabled; only loading its code shows whether that works. */
export function stateOf({ enabled, error, missingSettings }: PluginEntry, loaded?: Loaded): PluginState {
  if (missingSettings) return "needs configuration";
  if (error !== undefined) return "error";
  return enabled ? (loaded?.status ?? "not checked") : "disabled";
}

/** The text where loading was not tried. */
export const NOT_CHECKED = "not loaded by a running gateway; check it with: openclaw plugins doctor";

/** Why it is not loaded. */
export const whyNot = (entry: PluginEntry, loaded?: Loaded): string | undefined =>
  entry.error ?? (stateOf(entry, loaded) === "error" ? loaded?.error : entry.reason);

/** The documented form of a listed plugin. What only running code knows is empty; what the manifest declares is not. */
export function recordOf(entry: PluginEntry, loaded?: Loaded): Record<string, unknown> {
  const { id, name, description, version, source, origin, enabled, manifest, reason } = entry;
  const status = stateOf(entry, loaded);
  const error = entry.error ?? (status === "disabled" ? reason : status === "error" ? loaded?.error : undefined);
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

export function colored(state: PluginState, style: Style): string {
  return { loaded: style.green, disabled: style.dim, error: style.red, "not checked": style.yellow, "needs configuration": style.yellow }[state](state);
}

/** `file:12: voice: "id": expected a text`, for people. */
export function describeDiagnostic({ level, message, pluginId, source, line, path }: PluginDiagnostic, style: Style): string {
  const position = source === undefined ? "" : `${source}${line === undefined ? "" : `:${line}`}: `;
  const about = path ?? pluginId;
  const label = level === "error" ? style.red("error") : style.yellow("warning");
  return `${label}${level === "error" ? "  " : ""} ${escapeLine(`${position}${about === undefined ? "" : `${about}: `}${message}`)}\n`;
}
