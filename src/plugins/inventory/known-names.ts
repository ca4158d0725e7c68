import { pluginsSection, type KnownNames } from "../../config/index.ts";
import type { PluginEntry } from "../record.ts";
import { knownIds } from "./sections.ts";

/** What plugins that run registered. */
export interface RegisteredNames {
  /** Ids of the plugins that are loaded. */
  readonly loaded: ReadonlySet<string>;
  readonly tools: readonly string[];
  /** Some have tools whose names only each run knows. */
  readonly unnamed: boolean;
}

/**
 * Names that plugins bring to lists of the configuration: what manifests declare and, once plugins run, what they registered. It is complete when no plugin
 * can have a tool that is not among them: one that is off or failed and declares none (`contracts.tools`) may have any.
 */
export function knownNames(entries: readonly PluginEntry[], config: unknown, registered?: RegisteredNames): KnownNames {
  const declared = (entry: PluginEntry): readonly string[] | undefined => entry.manifest.contracts?.["tools"];
  const isExplained = (entry: PluginEntry): boolean =>
    entry.origin === "bundled" || declared(entry) !== undefined || (registered?.loaded.has(entry.id) ?? false);
  return {
    tools: [...entries.flatMap((entry) => declared(entry) ?? []), ...(registered?.tools ?? [])],
    plugins: knownIds(entries),
    channels: entries.flatMap(({ manifest }) => manifest.channels ?? []),
    providers: entries.flatMap(({ manifest }) => manifest.providers ?? []),
    complete: registered?.unnamed !== true && entries.every(isExplained),
    ...(registered?.unnamed === false ? { registered: true } : {}),
    section: pluginsSection(config),
  };
}
