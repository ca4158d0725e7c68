import { escapeLine } from "../../../base/printable.ts";
import { isObject, valueAt } from "../../../config/index.ts";
import type { PluginEntry } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatFacts } from "../../output/table.ts";
import { findPlugin, loadPlugins, type Plugins } from "../../plugin-source.ts";
import { colored, describeDiagnostic, NOT_CHECKED, recordOf, stateOf, whyNot } from "./record.ts";
import { registeredBy, runningPlugins, sameIn, type RunningPlugin } from "./running.ts";

export const info = defineCommand({
  positionals: "<id>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw plugins info hello", does: "Location, state and settings" }],
  async run({ io, values, positionals }) {
    const plugins = await loadPlugins(io);
    const entry = findPlugin(plugins.inventory, positionals[0]);
    const install = installRecord(plugins, entry.id);
    const known = entry.enabled ? sameIn(await runningPlugins(io, plugins.loaded.paths.state), entry) : undefined;
    const running = known && known.generation > 0 ? known : undefined;
    const diagnostics = plugins.inventory.diagnostics.filter(({ pluginId }) => pluginId === entry.id);
    if (values.json) {
      printJson(io, { workspaceDir: plugins.inventory.workspaceDir, plugin: { ...recordOf(entry, known), ...registeredBy(running) }, install, diagnostics });
      return;
    }
    const style = createStyle(io.color);
    const facts = [...factsOf(entry, install, known), ...registeredFacts(entry, running)].map(
      ([name, value]) => [name, escapeLine(name === "why" ? io.runnable(value) : value)] as const,
    );
    io.out(formatFacts([["plugin", style.bold(entry.id)], ["status", colored(stateOf(entry, known), style)], ...facts], style));
    for (const diagnostic of diagnostics) io.out(describeDiagnostic(diagnostic, style));
  },
});

/** The record of its installation. */
function installRecord({ loaded }: Plugins, id: string): Readonly<Record<string, unknown>> | undefined {
  const record = valueAt(loaded.snapshot.resolved, ["plugins", "installs", id]);
  return isObject(record) ? record : undefined;
}

function factsOf(entry: PluginEntry, install: Readonly<Record<string, unknown>> | undefined, known: RunningPlugin | undefined): (readonly [string, string])[] {
  const { manifest } = entry;
  const facts: (readonly [string, string | undefined])[] = [
    ["why", stateOf(entry, known) === "not checked" ? (entry.reason ?? NOT_CHECKED) : whyNot(entry, known)],
    ["name", entry.name],
    ["about", entry.description],
    ["version", entry.version],
    ["origin", entry.origin],
    ["source", entry.source],
    ["kind", [manifest.kind ?? []].flat().join(", ")],
    ["channels", manifest.channels?.join(", ")],
    ["providers", manifest.providers?.join(", ")],
    ["skills", entry.skillDirs?.join(", ")],
    ["settings", settingsOf(manifest.configSchema)],
    [
      "installed",
      install &&
        ["source", "spec", "version", "installedAt"]
          .map((key) => install[key])
          .filter((value) => typeof value === "string")
          .join(", "),
    ],
  ];
  return facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined && fact[1] !== "");
}

/** What it brings: as its code registered it where it runs, else as its manifest declares. */
function registeredFacts({ manifest }: PluginEntry, running: RunningPlugin | undefined): (readonly [string, string])[] {
  if (!running)
    return [["tools", manifest.contracts?.["tools"] ?? []] as const].flatMap(([name, names]) => (names.length > 0 ? [[name, names.join(", ")]] : []));
  const facts: (readonly [string, readonly string[]])[] = [
    ["tools", running.toolNames],
    ["hooks", running.hookNames],
    ["chat", running.commands.map((name) => `/${name}`)],
    ["methods", running.gatewayMethods],
    ["media", running.mediaProviders ?? []],
    ["services", running.services],
    ["commands", running.cliCommands.map((names) => `openclaw ${names}`)],
    ["running", [`generation ${running.generation}`]],
  ];
  return facts.flatMap(([name, names]) => (names.length > 0 ? [[name, names.join(", ")] as const] : []));
}

function settingsOf(schema: Readonly<Record<string, unknown>>): string {
  return isObject(schema["properties"]) ? Object.keys(schema["properties"]).join(", ") : "";
}
