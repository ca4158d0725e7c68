import { createRequire } from "node:module";
import { join } from "node:path";
import { AppError, messageOf } from "../../../../base/errors.ts";
import { packageFolder } from "../../../../base/program-name.ts";
import { existsSync, readFileSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { shellQuote } from "../../../../base/text.ts";
import { gatewayPort, homeFolder } from "../../../../config/index.ts";
import { loadFor } from "../../../config-source.ts";
import type { Io } from "../../../io.ts";
import { describeService, type ServiceCommand, type ServiceDefinition } from "./definition.ts";

function packageRoot(from: string): string {
  const root = packageFolder(from);
  if (root !== undefined) return root;
  throw new AppError("NOT_FOUND", `bin/openclaw not found above ${from}; a service needs an installed openclaw`);
}

/** What a service runs: the package's own runtime, which no update of the system takes away, and its entry. */
function serviceProgram(): { readonly node: string; readonly entry: string } {
  const root = packageRoot(import.meta.dirname);
  const { pinnedNode } = createRequire(import.meta.url)(join(root, "scripts", "runtime.cjs")) as { pinnedNode(): string | undefined };
  return { node: pinnedNode() ?? process.execPath, entry: join(root, "bin", "openclaw") };
}

interface ServiceFlags {
  readonly port?: number | undefined;
  readonly token?: string | undefined;
  /** See `ServiceFacts`. */
  readonly node?: readonly string[] | undefined;
}

/** This user's gateway service, installed or not; undefined on platforms without one. */
export function findService(io: Io, flags: ServiceFlags = {}): ServiceDefinition | undefined {
  const { snapshot, paths } = loadFor(io);
  return describeService({
    platform: process.platform,
    home: homeFolder({ env: io.env, cwd: io.cwd, osHome: homedir(), exists: existsSync }),
    stateDir: paths.state,
    configPath: snapshot.path,
    profile: io.env["OPENCLAW_PROFILE"]?.trim() || undefined,
    port: gatewayPort(io.env, { flag: flags.port, config: snapshot.config.gateway?.port }),
    token: flags.token,
    version: io.version,
    program: serviceProgram(),
    temporary: tmpdir(),
    uid: process.getuid?.() ?? 0,
    node: flags.node,
  });
}

/** The service, or why there can be none. */
export function requireService(io: Io, flags: ServiceFlags = {}): ServiceDefinition {
  const service = findService(io, flags);
  if (service) return service;
  throw new AppError(
    "UNAVAILABLE",
    `services are supported on Linux (systemd), macOS (launchd) and Windows (tasks), not on ${process.platform}; run \`openclaw gateway\` from your own service manager`,
  );
}

export const isInstalled = ({ file }: ServiceDefinition): boolean => existsSync(file);

/** The installed service of exactly this state folder: another one of the same name is none of our business. */
export function installedService(io: Io): ServiceDefinition | undefined {
  const service = findService(io);
  if (!service) return undefined;
  try {
    return readFileSync(service.file, "utf8").includes(service.stateMark) ? service : undefined;
  } catch {
    return undefined;
  }
}

const CONTROL_MS = 60_000;

/** Runs the platform's commands one after the other, until one fails. Gives the failure in words. */
export async function control(io: Io, commands: readonly ServiceCommand[]): Promise<string | undefined> {
  const { run } = await import("../../../../base/spawn.ts");
  for (const [command, ...args] of commands) {
    try {
      const { code, stderr, stdout } = await run(command, { args, env: io.env, timeoutMs: CONTROL_MS, maxOutputBytes: 1_048_576 });
      if (code !== 0) return `${[command, ...args].join(" ")}: ${(stderr || stdout).trim() || `exit code ${code}`}`;
    } catch (error) {
      return messageOf(error);
    }
  }
  return undefined;
}

/** Restarts a service. What comes before the last command ends it, and fails where nothing runs. */
export async function restartService(io: Io, { restart }: ServiceDefinition): Promise<string | undefined> {
  for (const command of restart.slice(0, -1)) await control(io, [command]);
  return control(io, restart.slice(-1));
}

/** Services of this user go on when the user logs out. */
export async function lingers(io: Io): Promise<boolean> {
  const { run } = await import("../../../../base/spawn.ts");
  try {
    const args = ["show-user", userInfo().username, "--property=Linger"];
    return (await run("loginctl", { args, env: io.env, timeoutMs: 5000, maxOutputBytes: 65_536 })).stdout.includes("Linger=yes");
  } catch {
    // No such program, or a user without an entry: unknown.
    return false;
  }
}

/** A word of a command in a terminal of Windows: quotation marks inside of a word are single ones where that is possible, which every shell there passes on. */
const windowsWord = (word: string): string => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word.replaceAll('"', word.includes("'") ? '\\"' : "'")}"`);
const posixWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word));

/** The commands as they are typed in the user's own terminal. */
export const commandLines = ({ kind }: Pick<ServiceDefinition, "kind">, commands: readonly ServiceCommand[]): readonly string[] =>
  commands.map((line) => line.map(kind === "schtasks" ? windowsWord : posixWord).join(" "));

export interface ServiceState {
  readonly loaded: boolean;
  readonly running: boolean;
  readonly pid?: number;
  /** In the platform's words. */
  readonly detail: string;
}

/** The state of the service, as the platform reports it. */
export async function serviceState(io: Io, service: ServiceDefinition): Promise<ServiceState> {
  const { run } = await import("../../../../base/spawn.ts");
  const [command, ...args] = service.show;
  try {
    const { code, stdout, stderr } = await run(command, { args, env: io.env, timeoutMs: 5000, maxOutputBytes: 1_048_576 });
    if (code !== 0) return { loaded: false, running: false, detail: stderr.trim().split("\n")[0] ?? "" };
    return { systemd: parseSystemd, launchd: parseLaunchd, schtasks: parseTask }[service.kind](stdout);
  } catch (error) {
    return { loaded: false, running: false, detail: messageOf(error) };
  }
}

export function parseSystemd(text: string): ServiceState {
  const facts = Object.fromEntries(
    text
      .trim()
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  const pid = Number(facts["MainPID"]);
  return {
    loaded: facts["LoadState"] === "loaded",
    running: facts["ActiveState"] === "active" || facts["ActiveState"] === "activating",
    ...(pid > 0 ? { pid } : {}),
    detail: `${facts["ActiveState"] ?? "unknown"} (${facts["SubState"] ?? "unknown"}), last exit ${facts["ExecMainStatus"] ?? "unknown"}`,
  };
}

export function parseTask(text: string): ServiceState {
  const value = (name: string): string | undefined => new RegExp(`^${name}:\\s*(.+?)\\s*$`, "m").exec(text)?.[1];
  return { loaded: true, running: value("Status") === "Running", detail: `${value("Status") ?? "unknown"}, last exit ${value("Last Result") ?? "unknown"}` };
}

export function parseLaunchd(text: string): ServiceState {
  const value = (name: string): string | undefined => new RegExp(`^\\s*${name} = (.+)$`, "m").exec(text)?.[1];
  const pid = Number(value("pid"));
  return {
    loaded: true,
    running: value("state") === "running",
    ...(pid > 0 ? { pid } : {}),
    detail: `${value("state") ?? "unknown"}, last exit ${value("last exit code") ?? "unknown"}`,
  };
}
