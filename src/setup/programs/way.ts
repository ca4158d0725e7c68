import { isObject } from "../../config/index.ts";

export type InstallerName = "npm" | "pnpm" | "yarn" | "bun";

/** A way to install what a skill lacks, as its author wrote it down. */
export interface Way {
  readonly kind: "brew" | "node" | "go" | "uv" | "download";
  /** Programs that it brings. */
  readonly bins: readonly string[];
  /** What runs; undefined: not something that is run here. */
  readonly line?: readonly [program: string, ...args: string[]] | undefined;
  /** Where a person gets it. */
  readonly url?: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** Names only: what begins with a dash would be an option, and paths and addresses are not what a registry keeps. */
const NODE_PACKAGE = /^(?:@[a-z\d][\w.-]*\/)?[a-z\d][\w.-]*(?:@[\w.^~-]+)?$/i;
const FORMULA = /^[a-z\d][\w.+-]*(?:\/[a-z\d][\w.+-]*){0,2}(?:@[\w.]+)?$/i;
const GO_MODULE = /^[a-z\d][\w-]*(?:\.[\w-]+)+(?:\/[\w.~-]+)+(?:@[\w.+-]+)?$/i;
const UV_PACKAGE = /^[a-z\d][\w.-]*(?:\[[\w,-]+\])?(?:==[\w.]+)?$/i;

const NODE_LINES: Readonly<Record<InstallerName, readonly [string, ...string[]]>> = {
  npm: ["npm", "install", "--global", "--ignore-scripts"],
  pnpm: ["pnpm", "add", "--global", "--ignore-scripts"],
  yarn: ["yarn", "global", "add", "--ignore-scripts"],
  bun: ["bun", "add", "--global", "--ignore-scripts"],
};

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((text) => typeof text === "string") : []);
const matching = (value: unknown, form: RegExp): string | undefined => (typeof value === "string" && form.test(value.trim()) ? value.trim() : undefined);

/** Undefined for what is not known or has another form than it should. */
function lineOf(kind: Way["kind"], option: Fields, nodeManager: InstallerName): Way["line"] {
  switch (kind) {
    case "brew": {
      const formula = matching(option["formula"], FORMULA);
      return formula === undefined ? undefined : ["brew", "install", formula];
    }
    case "node": {
      const name = matching(option["package"], NODE_PACKAGE);
      return name === undefined ? undefined : [...NODE_LINES[nodeManager], name];
    }
    case "go": {
      const module = matching(option["module"], GO_MODULE);
      return module === undefined ? undefined : ["go", "install", module];
    }
    case "uv": {
      const name = matching(option["package"], UV_PACKAGE);
      return name === undefined ? undefined : ["uv", "tool", "install", name];
    }
    default:
      return undefined;
  }
}

/** The ways that a skill's `install` list names for this platform. */
export function waysOf(written: readonly unknown[], platform: string, nodeManager: InstallerName): readonly Way[] {
  return written.flatMap((option): Way[] => {
    if (!isObject(option)) return [];
    const kind = (["brew", "node", "go", "uv", "download"] as const).find((known) => known === option["kind"]);
    const systems = textsOf(option["os"]);
    if (kind === undefined || (systems.length > 0 && !systems.includes(platform))) return [];
    const line = lineOf(kind, option, nodeManager);
    const url = matching(option["url"], /^https:\/\/\S+$/);
    if (line === undefined && url === undefined) return [];
    return [{ kind, bins: textsOf(option["bins"]), ...(line ? { line } : {}), ...(url === undefined ? {} : { url }) }];
  });
}
