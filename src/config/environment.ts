import { join } from "node:path";
import type { PathSegment } from "./document/document.ts";
import type { Env } from "./env.ts";
import { formatPath } from "./path.ts";
import type { ConfigFiles } from "./source-files.ts";
import { isObject, mapValues } from "./value.ts";

const LINE = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*("(?:\\[^]|[^"\\])*"|'[^']*'|`[^`]*`|[^\r\n]*)/gm;

/**
 * Reads `.env` text: `NAME=value`, an optional `export`, `#` remarks, single, double and back quotes (values in quotes may span lines; `\n` and
 * `\r` are line breaks in double quotes). Lines it cannot read are passed over.
 */
export function parseDotenv(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name = "", value = ""] of text.replace(/^\uFEFF/, "").matchAll(LINE)) found.set(name, unquoted(value));
  return found;
}

function unquoted(raw: string): string {
  const quote = raw[0];
  if (raw.length >= 2 && (quote === "'" || quote === "`") && raw.endsWith(quote)) return raw.slice(1, -1);
  if (raw.length >= 2 && quote === '"' && raw.endsWith('"')) {
    return raw.slice(1, -1).replaceAll(/\\([nrt"\\$])/g, (_, char: string) => ({ n: "\n", r: "\r", t: "\t" })[char] ?? char);
  }
  return raw.replace(/(?:^|[ \t])#.*$/, "").trim();
}

export type MutableEnv = Record<string, string | undefined>;

/** Variables that make a child process load foreign code. No file may bring them in. */
const REFUSED = /^(?:NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|BASH_ENV|ENV|PROMPT_COMMAND|IFS|PERL5OPT|PYTHONSTARTUP|RUBYOPT|LD_.*|DYLD_.*)$/;

/**
 * Variables that say where our files and code are. The working folder may be a stranger's checkout, so its `.env` may not set them: it would
 * choose the configuration, and with it the plugins, that run.
 */
const REFUSED_IN_CWD =
  /^(?:HOME|USERPROFILE|PATH|SHELL|PI_CODING_AGENT_DIR|(?:OPENCLAW|CLAWDBOT)_(?:HOME|STATE_DIR|CONFIG_PATH|OAUTH_DIR|AGENT_DIR|PROFILE|ROOT|BROWSER_CONTROL_MODULE|BUNDLED_\w+|\w*CATALOG_PATHS))$/;

export interface EnvironmentFiles {
  readonly env: MutableEnv;
  /** The files that were looked for, whether there or not. */
  readonly files: readonly string[];
  /** Names that were refused, with where they stood. */
  readonly refused: readonly string[];
}

/** The process's environment and, below it, `.env` of the working folder and of the state folder. A variable that is set stays. */
export function readEnvironmentFiles(env: Env, folders: { readonly cwd: string; readonly state: string }, files: ConfigFiles): EnvironmentFiles {
  const merged: MutableEnv = { ...env };
  const refused: string[] = [];
  const local = join(folders.cwd, ".env");
  const global = join(folders.state, ".env");
  if (local !== global) addFile(merged, local, files, (name) => REFUSED.test(name) || REFUSED_IN_CWD.test(name), refused);
  addFile(merged, global, files, (name) => REFUSED.test(name), refused);
  return { env: merged, files: [...new Set([local, global])], refused };
}

function addFile(env: MutableEnv, path: string, files: ConfigFiles, refuses: (name: string) => boolean, refused: string[]): void {
  if (!files.exists(path)) return;
  let text: string;
  try {
    text = Buffer.from(files.read(path)).toString("utf8");
  } catch {
    return; // A folder named .env, or one that is not ours to read: the reference to a variable in it will say what is missing.
  }
  for (const [name, value] of parseDotenv(text)) {
    if (env[name] === undefined && refuses(name)) refused.push(`${name} in ${path}`);
    else if (env[name] === undefined) env[name] = value;
  }
}

/** Adds the variables of the file's `env` block: `env.vars.<K>` and string keys of `env` itself, which win. Set ones stay. */
export function addEnvBlock(env: MutableEnv, config: unknown, refused: string[] = []): MutableEnv {
  const block = isObject(config) && isObject(config["env"]) ? config["env"] : {};
  const vars = isObject(block["vars"]) ? block["vars"] : {};
  const wanted = { ...vars, ...Object.fromEntries(Object.entries(block).filter(([key, value]) => key !== "vars" && typeof value === "string")) };
  const merged: MutableEnv = { ...env };
  for (const [name, value] of Object.entries(wanted)) {
    if (typeof value !== "string" || merged[name]?.trim()) continue;
    if (REFUSED.test(name)) refused.push(`${name} in env`);
    else merged[name] = substituteText(value, merged, () => {});
  }
  return merged;
}

const REFERENCE = /\$(\$?)\{([A-Z_][A-Z0-9_]*)\}/g;

/** True when the text is one `${VAR}` and nothing else. */
export function isReference(text: string): boolean {
  return /^\$\{[A-Z_][A-Z0-9_]*\}$/.test(text);
}

export function hasReference(text: string): boolean {
  return /(?<!\$)\$\{[A-Z_][A-Z0-9_]*\}/.test(text);
}

/** Replaces `${VAR}`; `$${VAR}` becomes `${VAR}`. Unset or empty variables are reported to `missing` and left as they are. */
export function substituteText(text: string, env: Env, missing: (name: string) => void): string {
  if (!text.includes("${")) return text;
  return text.replaceAll(REFERENCE, (whole: string, escape: string, name: string) => {
    if (escape) return whole.slice(1);
    const value = env[name];
    if (value !== undefined && value !== "") return value;
    missing(name);
    return whole;
  });
}

export interface MissingVariable {
  readonly name: string;
  readonly path: readonly PathSegment[];
  readonly message: string;
}

/** `value` with `${VAR}` replaced in every string value; keys are left alone. Unchanged parts are shared with `value`. */
export function substitute(value: unknown, env: Env, missing: MissingVariable[], path: readonly PathSegment[] = []): unknown {
  if (typeof value === "string") {
    return substituteText(value, env, (name) => {
      missing.push({ name, path, message: `Missing env var "${name}" referenced at config path: ${formatPath(path)}` });
    });
  }
  return mapValues(value, (child, key) => (typeof child === "string" && !child.includes("${") ? child : substitute(child, env, missing, [...path, key])));
}
