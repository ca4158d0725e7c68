import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as StoreModule from "../../src/store/index.ts";
import type { Place } from "./gateway-process.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** `dist` is what users run; `dist-test`, and any folder whose name begins so, is the same with failpoints in it. */
export type Build = "dist" | "dist-test" | `dist-test-${string}`;

/** The store alone, with failpoints. */
export const STORE_URL = pathToFileURL(join(ROOT, "dist-test/store.js")).href;

/** Opens a state folder in this process, as the build with failpoints does. */
export async function openTestStore(stateDir: string): Promise<StoreModule.Store> {
  const { openStore } = (await import(STORE_URL)) as typeof StoreModule;
  const { systemClock } = await import("../../src/base/clock.ts");
  return openStore({ stateDir, clock: systemClock });
}

/** The arguments of Node that run the program of a build; the program's own come behind them. */
export function programArguments(build: Build = "dist"): string[] {
  if (build === "dist") return [join(ROOT, "bin/openclaw")];
  const cli = pathToFileURL(join(ROOT, build, "cli.js")).href;
  // As `bin/openclaw` does: hundreds of processes need not compile the same code.
  const cache = `process.getBuiltinModule("node:module").enableCompileCache(${JSON.stringify(join(ROOT, build, ".cache"))});`;
  return ["--input-type=module", "-e", `${cache} const cli = await import(${JSON.stringify(cli)}); await cli.main(process.argv.slice(1));`, "--"];
}

export interface CommandOptions {
  readonly build?: Build;
  /** A command that runs the program: `setpriv …`. */
  readonly wrap?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArguments?: readonly string[];
}

export interface CommandResult {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the program in a place to its end: another build, another user, another environment. */
export function runCommand(place: Place, args: readonly string[], options: CommandOptions = {}): CommandResult {
  const line = [...(options.wrap ?? []), process.execPath, ...(options.nodeArguments ?? []), ...programArguments(options.build), ...args];
  const env = { ...place.env, ...options.env };
  const { status, signal, stdout, stderr } = spawnSync(line[0]!, line.slice(1), { env, cwd: place.home, encoding: "utf8", timeout: 40_000 });
  return { code: status, signal, stdout, stderr };
}

/** Runs the build with failpoints and kills it where `failpoint` names. */
export function killAt(failpoint: string, place: Place, args: readonly string[]): CommandResult {
  const result = runCommand(place, args, { build: "dist-test", env: { OPENCLAW_FAILPOINT: failpoint } });
  if (result.signal !== "SIGKILL") throw new Error(`it was not killed at ${failpoint}: ${result.stdout}${result.stderr}`);
  return result;
}
