import { namesPlugins, type DescribedSections, type Loaded } from "../config/index.ts";
import type { Io } from "./io.ts";

/** What manifests say about the sections of plugins and channels: their schemas, their texts, and what in them is secret. */
export async function describePlugins(io: Io, loaded: Loaded): Promise<DescribedSections> {
  const { describedSections, loadPlugins } = await import("./plugin-source.ts");
  return describedSections((await loadPlugins(io, loaded)).inventory.entries);
}

/** The same for configurations that are shown: nothing is looked at when none of them names a plugin. */
export async function sectionsIn(io: Io, loaded: Loaded, shown: readonly unknown[]): Promise<DescribedSections> {
  return shown.some(namesPlugins) ? describePlugins(io, loaded) : {};
}
