import { AppError } from "../../base/errors.ts";
import { childEnvironment } from "../../base/spawn.ts";

export type ExecHost = "sandbox" | "gateway" | "node";
type Env = Readonly<Record<string, string>>;

/** Change how a program speaks, never what it does. */
const HARMLESS = /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|CI)$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The variables of a call, checked: what would load foreign code into a program is refused, never dropped in silence. */
export function callEnvironment(env: Env, host: ExecHost): Env {
  for (const [name, value] of Object.entries(env)) {
    if (!NAME.test(name)) throw new AppError("INVALID_INPUT", `env has the invalid name ${JSON.stringify(name)}; use letters, digits and _`);
    if (value.includes("\0")) throw new AppError("INVALID_INPUT", `env.${name} has a null character; remove it`);
    const pathOfHost = name.toUpperCase() === "PATH" && host !== "sandbox";
    if (pathOfHost) throw violation(name, `which programs run on this host is decided by its configuration (tools.exec.pathPrepend)`);
    if (!Object.hasOwn(childEnvironment({ [name]: value }), name)) throw violation(name, `it makes programs load code that the command does not name`);
  }
  return Object.fromEntries(Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function violation(name: string, why: string): AppError {
  return new AppError("PERMISSION_DENIED", `Security Violation: the variable ${name} may not be set: ${why}`, { details: { name } });
}

/** True when none of the variables can turn a known program into another one (pagers, editors, configuration by variable). */
export function isHarmless(env: Env): boolean {
  return Object.keys(env).every((name) => HARMLESS.test(name));
}
