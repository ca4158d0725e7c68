import { createRequire, type ResolveFnOutput, type ResolveHookContext } from "node:module";
import { pathToFileURL } from "node:url";

/** Packages that plugins may import without bringing them. */
export interface HostPackages {
  /** URL of what `specifier` is in the host, if the host offers it. `next` is what resolves an `import`; without it the specifier was required. */
  resolve(specifier: string, next?: NextResolve): string | undefined;
}

export type NextResolve = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

export interface HostPackagesOptions {
  /** URL of a module of the host, from where packages are looked for. Default: this one. */
  readonly from?: string;
  /** Specifier to absolute file, for the packages of which `import`, `require` and the SDK share one instance. */
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

/** What is not in `bundled` is looked for in the `node_modules` around the host. */
export function createHostPackages({ from = import.meta.url, bundled = {} }: HostPackagesOptions = {}): HostPackages {
  return {
    resolve(specifier, next) {
      const name = packageName(specifier);
      const host = OFFERED[name];
      const renamed = host === undefined ? specifier : host + specifier.slice(name.length);
      const file = bundled[renamed];
      if (file !== undefined) return pathToFileURL(file).href;
      if (host === undefined) return undefined;
      try {
        return next ? next(renamed, { parentURL: from }).url : pathToFileURL(createRequire(from).resolve(renamed)).href;
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
