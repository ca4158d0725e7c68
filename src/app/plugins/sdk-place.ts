import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where the modules stand that plugins import as `openclaw/plugin-sdk`. */
export interface SdkPlace {
  readonly sdkDir: string;
  /** Packages of the bundle that plugins must share with the SDK, by specifier. */
  readonly bundled: Readonly<Record<string, string>>;
}

/** Packages that stand as modules of their own in the bundle. */
const VENDORED = ["zod", "typebox", "ws", "commander"];

/** In the bundle beside its entries; in a checkout among the sources. `from`: URL of the module that asks. */
export function sdkPlace(from: string): SdkPlace {
  const here = fileURLToPath(new URL(".", from));
  for (const folder of [join(here, "plugin-sdk"), join(here, "..", "plugin-sdk")]) {
    if (!existsSync(join(folder, "index.js"))) continue;
    const files = VENDORED.map((name) => [name, join(folder, "vendor", `${name}.js`)] as const).filter(([, file]) => existsSync(file));
    return { sdkDir: folder, bundled: Object.fromEntries(files) };
  }
  return { sdkDir: join(here, "..", "..", "plugins", "sdk", "paths"), bundled: {} };
}
