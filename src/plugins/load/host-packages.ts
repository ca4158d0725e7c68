import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/** Packages that plugins may import without bringing them. */
export interface HostPackages {
  /** URL of what `specifier` is in the host, if the host offers it. */
  resolve(specifier: string, byRequire: boolean): string | undefined;
}

export interface HostPackagesOptions {
  /** URL of a module of the host, from where `require` looks. Default: this one. */
  readonly from?: string;
  /** Specifier to absolute file, for packages that are part of the host's bundle: the instance that the SDK uses. */
  readonly bundled?: Readonly<Record<string, string>>;
}

/** Offered names with the name under which the host has them. */
const OFFERED: Readonly<Record<string, string>> = {
  zod: "zod",
  typebox: "typebox",
  "@sinclair/typebox": "typebox",
  ws: "ws",
  commander: "commander",
};

/** Schemas of these are nested into the host's, so `require` gets the same instance as `import`. */
const ONE_INSTANCE: ReadonlySet<string> = new Set(["zod", "typebox"]);

/** What is not in `bundled` is looked for in the `node_modules` around the host. */
export function createHostPackages({ from = import.meta.url, bundled = {} }: HostPackagesOptions = {}): HostPackages {
  return {
    resolve(specifier, byRequire) {
      const name = packageName(specifier);
      const host = OFFERED[name];
      const renamed = host === undefined ? specifier : host + specifier.slice(name.length);
      const file = bundled[renamed];
      if (file !== undefined) return pathToFileURL(file).href;
      if (host === undefined) return undefined;
      try {
        return byRequire && !ONE_INSTANCE.has(host) ? pathToFileURL(createRequire(from).resolve(renamed)).href : import.meta.resolve(renamed);
      } catch {
        return undefined;
      }
    },
  };
}

/** `@scope/name` or `name` of a bare specifier. */
export function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
