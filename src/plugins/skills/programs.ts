/** Runs what installs the programs that skills lack. */
import { homedir } from "node:os";
import { join } from "node:path";
import { describeStep, findPrograms, INSTALLERS, planInstall, waysOf, type InstallHost, type InstallPlan, type SkillStatus } from "../../agent/index.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { AddressLookup } from "../../base/guarded-fetch.ts";
import type { HostPolicy } from "../../base/host-rules.ts";
import type { Ids } from "../../base/ids.ts";
import { run } from "../../base/spawn.ts";
import type { Env, OpenClawConfig } from "../../config/index.ts";
import { download } from "./download.ts";
import { scanSkill } from "./scan.ts";

export interface ProgramDeps {
  readonly env: Env;
  readonly platform: NodeJS.Platform;
  /** Downloads go below it: `<state>/tools`. */
  readonly toolsDir: string;
  readonly pid: number;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "hex">;
  /** How downloads reach the network; the public one alone when absent. */
  readonly network?: { readonly policy?: HostPolicy; readonly lookup?: AddressLookup } | undefined;
}

/** How far an install is. */
export interface InstallProgress {
  /** From 1. */
  readonly step: number;
  readonly steps: number;
  /** What runs, as one would type it. */
  readonly command: string;
  /** The newest line of its output, or how much was downloaded. */
  readonly text?: string;
}

export interface ProgramRequest {
  readonly plan: InstallPlan;
  readonly skill: { readonly name: string; readonly key: string; readonly baseDir: string };
  /** For all steps together. */
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: InstallProgress) => void) | undefined;
}

/** The documented result of an install. */
export interface ProgramOutcome {
  readonly ok: boolean;
  readonly message: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Of the last program that ran; null when none ended by itself. */
  readonly code: number | null;
  readonly warnings: readonly string[];
}

const DEFAULT_MS = 300_000;
const LEAST_MS = 1000;
const MOST_MS = 900_000;
const MOST_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Of each stream, its end is passed on. */
const SHOWN_CHARS = 20_000;
const LOOK_MS = 10_000;
/** Installers get no secrets of this environment. */
const SECRET = /key|token|secret|password|credential/i;

/** What installers inherit. */
function installerEnvironment(env: Env): Record<string, string | undefined> {
  const plain = Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET.test(name)));
  return { ...plain, npm_config_ignore_scripts: "true", NONINTERACTIVE: "1", HOMEBREW_NO_ENV_HINTS: "1", DEBIAN_FRONTEND: "noninteractive" };
}

/** Looks at what this machine can install with. `withBrewBin`: also where Homebrew puts programs, which takes a moment. */
export async function installHost(
  config: OpenClawConfig,
  { env, platform }: Pick<ProgramDeps, "env" | "platform">,
  { withBrewBin = false }: { readonly withBrewBin?: boolean } = {},
): Promise<InstallHost> {
  const { nodeManager = "npm", preferBrew = true } = config.skills?.install ?? {};
  const installers = await findPrograms(INSTALLERS, env, platform);
  const brewBin = withBrewBin && installers.has("brew") && !env["GOBIN"] ? await brewFolder(env) : undefined;
  return { platform, nodeManager, preferBrew, installers, isRoot: process.getuid?.() === 0, ...(brewBin === undefined ? {} : { brewBin }) };
}

/** An install that names a skill and one of its ways. */
export interface NamedInstall extends Pick<ProgramRequest, "timeoutMs" | "signal" | "onProgress"> {
  /** The skills there are. */
  readonly skills: readonly SkillStatus[];
  readonly name: string;
  readonly installId: string;
}

/** Installs what a skill lacks. Throws `NOT_FOUND` when there is no such skill, or no such way on this platform. */
export async function installForSkill(request: NamedInstall, deps: ProgramDeps & { readonly config: OpenClawConfig }): Promise<ProgramOutcome> {
  const { skills, name, installId, ...rest } = request;
  const skill = skills.find((one) => one.name === name);
  if (!skill) throw new AppError("NOT_FOUND", `there is no skill ${JSON.stringify(name)}; openclaw skills list shows them`);
  const way = waysOf(skill.install, deps.platform).find(({ id }) => id === installId);
  if (!way)
    throw new AppError("NOT_FOUND", `the skill ${name} has no install option ${JSON.stringify(installId)} here; openclaw skills info ${name} shows them`);
  const plan = planInstall(way, await installHost(deps.config, deps, { withBrewBin: way.kind === "go" }));
  return installProgram({ ...rest, plan, skill }, deps);
}

async function brewFolder(env: Env): Promise<string | undefined> {
  try {
    const { code, stdout } = await run("brew", { args: ["--prefix"], env: installerEnvironment(env), timeoutMs: LOOK_MS, maxOutputBytes: 65_536 });
    const prefix = stdout.trim();
    return code === 0 && prefix.startsWith("/") ? join(prefix, "bin") : undefined;
  } catch {
    return undefined; // Go puts its programs where it does without Homebrew.
  }
}

const clampTime = (wanted: number | undefined): number => Math.min(MOST_MS, Math.max(LEAST_MS, wanted ?? DEFAULT_MS));

interface Output {
  stdout: string;
  stderr: string;
  code: number | null;
}

/** Runs a plan to its end. Never rejects: a failure is an outcome. */
export async function installProgram(request: ProgramRequest, deps: ProgramDeps): Promise<ProgramOutcome> {
  const { plan, skill } = request;
  const output: Output = { stdout: "", stderr: "", code: null };
  const warnings = [...scanWarnings(skill.baseDir)];
  const ended = (ok: boolean, message: string): ProgramOutcome => ({
    ok,
    message,
    stdout: output.stdout.slice(-SHOWN_CHARS),
    stderr: output.stderr.slice(-SHOWN_CHARS),
    code: output.code,
    warnings,
  });
  if (plan.blocked !== undefined) return ended(false, plan.blocked);
  const deadline = deps.clock.now() + clampTime(request.timeoutMs);
  try {
    const folders: string[] = [];
    for (const index of plan.steps.keys()) {
      const folder = await runStep(request, index, { deadline, output }, deps);
      if (folder !== undefined) folders.push(folder);
    }
    warnings.push(...(await stillMissing(plan, folders, deps)));
    return ended(true, folders.length > 0 ? `Downloaded to ${folders.join(", ")}` : "Installed");
  } catch (error) {
    return ended(false, messageOf(error));
  }
}

/** Gives the folder of a download. */
async function runStep(
  { plan, skill, signal, onProgress }: ProgramRequest,
  index: number,
  { deadline, output }: { readonly deadline: number; readonly output: Output },
  deps: ProgramDeps,
): Promise<string | undefined> {
  const step = plan.steps[index];
  if (!step) return undefined;
  const command = describeStep(step);
  const report = (text?: string): void => onProgress?.({ step: index + 1, steps: plan.steps.length, command, ...(text === undefined ? {} : { text }) });
  const timeoutMs = deadline - deps.clock.now();
  if (timeoutMs <= 0) throw new AppError("TIMEOUT", `the time limit was reached before: ${command}`);
  report();
  if (step.kind === "download") return download(step.download, { skillKey: skill.key, bins: plan.way.bins, timeoutMs, signal, report }, deps);
  const [program, ...args] = step.line;
  const result = await run(program, {
    args,
    cwd: homedir(),
    env: { ...installerEnvironment(deps.env), ...step.env },
    timeoutMs,
    maxOutputBytes: MOST_OUTPUT_BYTES,
    signal,
    onOutput(_stream, chunk) {
      const line = chunk.toString("utf8").trim().split(/\r|\n/).at(-1)?.trim();
      if (line) report(line.slice(0, 200));
    },
  });
  output.stdout += result.stdout;
  output.stderr += result.stderr;
  output.code = result.code;
  if (result.code === 0) return undefined;
  const said = (result.stderr.trim() || result.stdout.trim()).slice(-600);
  throw new AppError("UNAVAILABLE", `${command} failed: exit code ${result.code}${said === "" ? "" : `: ${said}`}`);
}

/** What was installed and is not found: mostly a folder that is not on the path. */
async function stillMissing({ way }: InstallPlan, folders: readonly string[], { env, platform }: ProgramDeps): Promise<readonly string[]> {
  const found = await findPrograms(way.bins, env, platform);
  const missing = way.bins.filter((name) => !found.has(name));
  if (missing.length === 0) return [];
  const where = folders.length > 0 ? `add its folder in ${folders.join(", ")} to PATH` : "add the folder that it was installed into to PATH";
  return [`${missing.join(", ")} cannot be found on PATH yet: ${where}, then restart the gateway`];
}

function scanWarnings(baseDir: string): readonly string[] {
  try {
    return scanSkill(baseDir)
      .findings.filter(({ severity }) => severity !== "info")
      .map(({ message, file, line }) => `${file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}: `}${message}`);
  } catch (error) {
    return [`the files of the skill could not be scanned: ${messageOf(error)}`];
  }
}
