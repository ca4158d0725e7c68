import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHostPackages } from "../load/host-packages.ts";
import { createModuleLoader, type ModuleLoader } from "../load/loader.ts";
import type { PluginsDeps } from "./create-plugins.ts";

/** Where the modules stand that plugins import as `openclaw/plugin-sdk`. */
interface SdkPlace {
  readonly sdkDir: string;
  /** Packages of the bundle that plugins must share with the SDK, by specifier. */
  readonly bundled: Readonly<Record<string, string>>;
}

/** Packages that plugins share with the host. */
const VENDORED = ["zod", "typebox", "ws", "commander"];

/** In the bundle beside its entries; in a checkout among the sources. `from`: URL of the module that asks. */
function sdkPlace(from: string): SdkPlace {
  const here = fileURLToPath(new URL(".", from));
  const vendored = (folder: string, extension: string): SdkPlace["bundled"] =>
    Object.fromEntries(VENDORED.map((name) => [name, join(folder, `${name}${extension}`)]));
  for (const folder of [join(here, "plugin-sdk"), join(here, "..", "plugin-sdk")]) {
    if (existsSync(join(folder, "index.js"))) return { sdkDir: folder, bundled: vendored(join(folder, "vendor"), ".mjs") };
  }
  const sources = join(here, "..", "..", "plugins", "sdk");
  return { sdkDir: join(sources, "paths"), bundled: vendored(join(sources, "vendor"), ".ts") };
}

/** Imports code of plugins and hooks, with this host's SDK. */
export function openModuleLoader({ config, clock, ids }: Pick<PluginsDeps, "config" | "clock" | "ids">): ModuleLoader {
  const { sdkDir, bundled } = sdkPlace(import.meta.url);
  return createModuleLoader({
    sdkDir,
    hostPackages: createHostPackages({ from: import.meta.url, bundled }),
    clock,
    cacheDir: join(config.paths.state, "cache", "plugins"),
    firstToken: ids.hex(4),
  });
}
