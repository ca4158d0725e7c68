import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { run } from "../../base/spawn.ts";
import { clip } from "../../base/text.ts";
import { isObject, type Env } from "../../config/index.ts";
import type { Finding } from "./scan/finding.ts";
import type { Dependencies } from "./scan/package.ts";

/** What the registry gave. */
export interface Packed {
  readonly file: string;
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly shasum: string;
}

export interface NpmDeps {
  readonly env: Env;
  readonly signal?: AbortSignal | undefined;
}

const PACK_MS = 120_000;
const INSTALL_MS = 600_000;
const MOST_OUTPUT = 8 * 1024 * 1024;

/** Installing runs nothing. It is said on the command line, which no file of settings overrides, and in the environment, for whatever npm starts. */
const IGNORE_SCRIPTS = "true";

async function npm(command: string, given: readonly string[], cwd: string, timeoutMs: number, { env, signal }: NpmDeps): Promise<string> {
  const args = [command, ...given, `--ignore-scripts=${IGNORE_SCRIPTS}`];
  const quiet = { ...env, npm_config_ignore_scripts: IGNORE_SCRIPTS, npm_config_update_notifier: "false", npm_config_fund: "false", npm_config_audit: "false" };
  const program = process.platform === "win32" ? "npm.cmd" : "npm";
  const result = await run(program, { args, cwd, env: quiet, timeoutMs, maxOutputBytes: MOST_OUTPUT, ...(signal ? { signal } : {}) });
  if (result.code === 0) return result.stdout;
  const said = clip((result.stderr || result.stdout).trim(), 600);
  const missing = /\bE404\b|\bETARGET\b/.test(said);
  throw new AppError(missing ? "NOT_FOUND" : "UNAVAILABLE", `npm ${command} failed (exit code ${result.code}): ${said}`);
}

/** Hashes of a file as npm writes them. */
export function hashesOf(file: string): { readonly integrity: string; readonly shasum: string } {
  const content = readFileSync(file);
  return {
    integrity: `sha512-${createHash("sha512").update(content).digest("base64")}`,
    shasum: createHash("sha1").update(content).digest("hex"),
  };
}

/** Downloads a package into `folder`. Runs no script of it, and checks that what came is what the registry says. */
export async function packFromRegistry(spec: string, folder: string, deps: NpmDeps): Promise<Packed> {
  const stdout = await npm("pack", [spec, "--json", "--pack-destination", folder], folder, PACK_MS, deps);
  const { filename, name, version, integrity, shasum } = packedFacts(stdout, spec);
  const file = join(folder, basename(filename));
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new AppError("UNAVAILABLE", `npm pack ${spec} named ${filename}, which does not exist`);
  const found = hashesOf(file);
  if ((integrity !== undefined && integrity !== found.integrity) || (shasum !== undefined && shasum !== found.shasum)) {
    throw new AppError(
      "INVALID_INPUT",
      `the download for ${spec} is not what the registry announced (${integrity ?? shasum}, found ${found.integrity}); nothing was installed`,
    );
  }
  return { file, name, version, ...found };
}

function packedFacts(
  stdout: string,
  spec: string,
): { filename: string; name: string; version: string; integrity?: string | undefined; shasum?: string | undefined } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(stdout);
  } catch {
    parsed = undefined;
  }
  const first: unknown = Array.isArray(parsed) ? parsed[0] : isObject(parsed) ? (Object.values(parsed).find(isObject) ?? parsed) : undefined;
  const text = (key: string): string | undefined => (isObject(first) && typeof first[key] === "string" ? first[key] : undefined);
  const [filename, name, version] = [text("filename"), text("name"), text("version")];
  if (filename === undefined || name === undefined || version === undefined) {
    throw new AppError("UNAVAILABLE", `npm pack ${spec} returned something unreadable: ${clip(stdout.trim(), 200)}`);
  }
  return { filename, name, version, integrity: text("integrity"), shasum: text("shasum") };
}

/** True when all packages that a plugin needs came with it. */
export function hasDependencies(plugin: string, { dependencies }: Dependencies): boolean {
  return Object.keys(dependencies).every((name) => statSync(join(plugin, "node_modules", name, "package.json"), { throwIfNoEntry: false })?.isFile() ?? false);
}

/**
 * Installs what a plugin needs into its `node_modules`. npm works in a folder of its own, in which there is nothing of the plugin but the names of packages:
 * no settings, scripts or lock files of the plugin reach it.
 */
export async function installDependencies(plugin: string, workFolder: string, wanted: Dependencies, deps: NpmDeps): Promise<Finding[]> {
  mkdirSync(workFolder, { recursive: true });
  writeFileSync(join(workFolder, "package.json"), JSON.stringify({ name: "plugin-dependencies", version: "0.0.0", private: true, ...wanted }));
  const flags = ["--omit=dev", "--omit=peer", "--legacy-peer-deps", "--no-bin-links", "--no-audit", "--no-fund", "--silent"];
  await npm("install", flags, workFolder, INSTALL_MS, deps);
  const made = join(workFolder, "node_modules");
  if (!statSync(made, { throwIfNoEntry: false })?.isDirectory()) return [];
  const findings = unbuilt(made);
  renameSync(made, join(plugin, "node_modules"));
  return findings;
}

/** Packages that wanted to run something when they were installed, for example to build native code. */
function unbuilt(nodeModules: string): Finding[] {
  try {
    const lock: unknown = JSON.parse(readFileSync(join(nodeModules, ".package-lock.json"), "utf8"));
    const packages = isObject(lock) && isObject(lock["packages"]) ? lock["packages"] : {};
    return Object.entries(packages)
      .filter(([, facts]) => isObject(facts) && facts["hasInstallScript"] === true)
      .map(([path]) => ({ severity: "warn", ruleId: "dependency-script", message: "has an install script; it was not run", file: path }));
  } catch {
    return []; // npm wrote no list: there is nothing to tell.
  }
}
