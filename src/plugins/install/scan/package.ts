import { isObject } from "../../../config/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { Finding } from "./finding.ts";

/** What npm would run, if it were allowed to. */
const LIFECYCLE = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "preuninstall", "uninstall", "postuninstall"];

/** Scripts that an install elsewhere would have run. */
export function scanScripts(pkg: Readonly<Record<string, unknown>>): Finding[] {
  const scripts = isObject(pkg["scripts"]) ? pkg["scripts"] : {};
  return LIFECYCLE.filter((name) => typeof scripts[name] === "string").map((name) => ({
    severity: "warn",
    ruleId: "lifecycle-script",
    message: `has a ${JSON.stringify(name)} script; it was not run`,
    file: "package.json",
  }));
}

const RANGE = /^[\w.*^~<>=|\s+-]*$/;
const ALIAS = /^npm:(?:@[\w.-]+\/)?[\w.-]+(?:@[\w.*^~<>=|\s+-]*)?$/;
const NAME = /^(?:@[a-z0-9_.~-]+\/)?[a-z0-9_~][a-z0-9_.~-]*$/i;

export interface Dependencies {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/**
 * Packages that a plugin needs, all of them from the registry. Throws for one from elsewhere: a folder, a repository, an address. The host's own package is left
 * out: plugins get it from the host.
 */
export function registryDependencies(pkg: Readonly<Record<string, unknown>>): Dependencies {
  const of = (key: string): Record<string, string> => {
    const given = isObject(pkg[key]) ? pkg[key] : {};
    const wanted: Record<string, string> = {};
    for (const [name, range] of Object.entries(given)) {
      if (name === "openclaw") continue;
      if (!NAME.test(name) || typeof range !== "string" || !(RANGE.test(range) || ALIAS.test(range))) {
        throw new AppError(
          "INVALID_INPUT",
          `package.json: ${key}: ${JSON.stringify(name)} comes from ${JSON.stringify(range)}; only packages of the registry are installed`,
        );
      }
      wanted[name] = range;
    }
    return wanted;
  };
  return { dependencies: of("dependencies"), optionalDependencies: of("optionalDependencies") };
}
