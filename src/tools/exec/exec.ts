import { statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { AppError, messageOf } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import { sandboxPath, type SandboxFiles } from "../sandbox-files.ts";
import type { Sandbox } from "../sandbox/sandboxes.ts";
import { defineTool } from "../declaration.ts";
import { failedOutcome, type ToolCall, type ToolContext, type ToolOutcome } from "../tool.ts";
import { askFirst } from "./ask-first.ts";
import type { ExecToolDeps } from "./deps.ts";
import { resolveExecutable } from "../executables.ts";
import { judgePlan, type JudgeRules } from "./judge.ts";
import { runOnNode } from "./on-node.ts";
import { pinPlan, planCommand, type ExecPlan } from "./plan.ts";
import { pinnedFiles } from "./remember/pins.ts";
import type { EffectiveRules } from "./rules-file.ts";
import { runPlan, type PlanRun } from "./run.ts";
import { askedHost, forCall, YIELD_MS, type ExecSettings } from "./settings.ts";
import { createTerminals, type Terminals } from "./terminal.ts";
import { createRootedFiles, type RootedFiles } from "../../base/rooted-files.ts";
import type { StartInput } from "../process/processes.ts";

/** In the workspace, so that the session's file tools reach it wherever they work. */
const FOLDER = ".openclaw/outputs";
const MOST_FILES = 20;
const MOST_LISTED = 1000;

/** Writes outputs that are too long to be shown to files of the session's workspace; the newest few stay. */
function outputKeeper({ clock, log }: ExecToolDeps, { workspaceDir, sessionKey }: ToolContext, place: SandboxFiles | undefined): StartInput["keepOutput"] {
  const [mount] = place?.mounts ?? [{ host: workspaceDir, writable: true }];
  if (!mount.writable || place?.readOnly === true) return undefined;
  return async (id, output) => {
    const whole = await output.whole();
    if (!whole) return undefined;
    const name = `${new Date(clock.now()).toISOString().replaceAll(/[:.]/g, "-")}-${id}.txt`;
    // The agent may have put links in the way: nothing is written outside.
    const files = createRootedFiles({ root: mount.host, unique: () => `${id}-${clock.now()}` });
    try {
      await files.write(join(mount.host, FOLDER, name), whole.content);
      await tidy(files, mount.host);
      return `${FOLDER}/${name}${whole.complete ? "" : " (its beginning)"}`;
    } catch (error) {
      log.warn(`a long output could not be stored: ${messageOf(error)}`, { sessionKey });
      return undefined;
    }
  };
}

/** Outputs belong to nobody's history. */
async function tidy(files: RootedFiles, root: string): Promise<void> {
  await using folder = await files.folder(join(root, FOLDER));
  const names = (await folder.read(MOST_LISTED)).flatMap(({ name, kind }) => (kind === "file" ? [name] : []));
  if (!names.includes(".gitignore")) await files.write(join(root, FOLDER, ".gitignore"), "*\n");
  const old = names
    .filter((name) => name.endsWith(".txt"))
    .sort()
    .slice(0, -MOST_FILES);
  for (const name of old) await files.remove(join(root, FOLDER, name));
}

/** Where programs are looked for when the gateway has no PATH. */
export const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Runs command lines on this machine, after the rules for its host. */
export const execTool = defineTool<ExecToolDeps>({
  name: "exec",
  groups: ["runtime"],
  reach: { reads: "both", outbound: true },
  promptLine: "run a command; with a terminal when a program needs one",
  icon: "🛠️",
  aliases: ["bash"],
  inSandbox: "allowed",
  overHttp: "never",
  label: "exec",
  description:
    "Run a shell command. It goes to the background after yieldMs milliseconds, or at once with background; the process tool looks after it then. Input is closed, so commands that ask questions need pty: a terminal, typed into with process write, send-keys, submit and paste.",
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", description: "Command line" },
      workdir: { type: "string", description: "Folder to run in; the workspace by default" },
      env: { type: "object", additionalProperties: { type: "string" }, description: "Variables to set" },
      yieldMs: { type: "number", description: "Milliseconds until it goes to the background (default 10000)" },
      background: { type: "boolean", description: "Go to the background at once" },
      timeout: { type: "number", description: "Timeout in seconds; 0 for none" },
      pty: { type: "boolean", description: "Run in a terminal, for commands that need one" },
      elevated: { type: "boolean", description: "Run on the host, where that is permitted" },
      host: { type: "string", description: "sandbox, gateway or node" },
      security: { type: "string", description: "deny, allowlist or full" },
      ask: { type: "string", description: "off, on-miss or always" },
      node: { type: "string", description: "Node to run on" },
    },
    required: ["command"],
  },
  run: (deps) => {
    const terminals = createTerminals(deps.env["PATH"] ?? DEFAULT_PATH);
    return async (call) => {
      try {
        return await execute(deps, terminals, call);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return failedOutcome(messageOf(error), { status: "error", error: messageOf(error) });
      }
    };
  },
});

async function execute(deps: ExecToolDeps, terminals: Terminals, call: ToolCall): Promise<ToolOutcome> {
  const { params, context } = call;
  const chosen = place(deps, call);
  if (chosen.settings.host === "node") return await runOnNode(deps, call, chosen.settings);
  const { sandbox } = chosen;
  await sandbox?.ready();
  const terminal = params["pty"] === true ? await terminals.for(sandbox) : undefined;
  const warnings: string[] = params["pty"] === true && !terminal ? ["Warning: no terminal is available here; running without one."] : [];
  const files = sandbox?.files ?? (deps.sandboxed(context) ? await filesOfSandbox(deps, context) : undefined);
  const cwd = sandbox ? await folderInside(sandbox, params["workdir"], warnings) : folderOutside(files, call, warnings);
  const plan = planCommand({
    command: String(params["command"]),
    cwd,
    host: chosen.settings.host,
    env: (params["env"] ?? {}) as Readonly<Record<string, string>>,
    pluginEnv: (await deps.pluginEnvironment?.(context, chosen.settings.host)) ?? {},
    path: sandbox?.path ?? withFolder(deps.env["PATH"] ?? DEFAULT_PATH, deps.programFolder),
    pathPrepend: chosen.settings.pathPrepend,
    shell: deps.env["SHELL"],
    sandbox,
    pty: terminal !== undefined,
  });
  const run = { ...planRun(deps, call, chosen.settings, warnings), sandbox, terminal, keepOutput: outputKeeper(deps, context, files) };
  if (chosen.settings.host !== "gateway") return await runPlan(plan, plan.hash, run);
  return await underRules(deps, call, pinPlan(plan, pinnedFiles(plan, deps.home)), chosen.settings, run);
}

/** Last, so that nothing of it is found in place of a program of the system. */
export function withFolder(path: string, folder: string | undefined): string {
  return folder === undefined || path.split(delimiter).includes(folder) ? path : `${path}${delimiter}${folder}`;
}

/** Runs, asks or refuses, as the operator's rules say. */
async function underRules(deps: ExecToolDeps, call: ToolCall, plan: ExecPlan, settings: ExecSettings, run: PlanRun): Promise<ToolOutcome> {
  const { context } = call;
  const judged = await rulesFor(deps, context, plan, settings);
  const verdict = judgePlan(plan, judged);
  if (verdict.kind === "deny") return failedOutcome(verdict.text, { status: "error", error: verdict.text });
  if (verdict.kind === "ask") return await askFirst(deps, { plan, rules: judged, satisfied: verdict.satisfied, settings, run, context });
  const noted = [deps.rules.used(context.agentId, verdict.entries, plan.command), deps.remembered.used(verdict.remembered)];
  for (const one of noted) await one.catch((error: unknown) => deps.log.warn(messageOf(error)));
  return await runPlan(plan, plan.hash, run);
}

/** Everything that decides about a plan on this machine. */
export async function rulesFor(deps: RulingDeps, context: ToolContext, plan: ExecPlan, settings: ExecSettings): Promise<JudgeRules & EffectiveRules> {
  const rules = deps.rules.effective(context.agentId, settings);
  const { safeBins } = settings;
  const skillPrograms = rules.autoAllowSkills ? await skillFiles(deps, context, plan) : undefined;
  const remembered = await deps.remembered.rules(context.agentId);
  const sealed = deps.sealed?.(context);
  return { ...rules, remembered, home: deps.home, ignoreCase: deps.ignoreCase, skillPrograms, sealed, ...(safeBins ? { safeBins } : {}) };
}

/** The files that the names of skills' programs mean for this plan. One in the workspace could be anything by now. */
async function skillFiles({ skillPrograms }: Pick<ExecToolDeps, "skillPrograms">, context: ToolContext, { path }: ExecPlan): Promise<ReadonlySet<string>> {
  const names = (await skillPrograms?.(context)) ?? [];
  const files = names.flatMap((name) => (name.includes("/") ? [] : (resolveExecutable(name, "/", path) ?? [])));
  return new Set(files.filter((file) => !isInside(context.workspaceDir, file)));
}

/** What decides where a command runs, and whether it may. */
export type RulingDeps = Pick<
  ExecToolDeps,
  | "rules"
  | "remembered"
  | "settings"
  | "env"
  | "programFolder"
  | "home"
  | "ignoreCase"
  | "sandboxed"
  | "sandbox"
  | "skillPrograms"
  | "sealed"
  | "elevation"
  | "nodes"
>;

interface Place {
  readonly settings: ExecSettings;
  readonly sandbox?: Sandbox;
}

/** Where the call runs. Throws when it may not run there. */
export function place(deps: RulingDeps, { params, context }: Pick<ToolCall, "params" | "context">): Place {
  const settings = forCall(deps.settings(context), params);
  if (settings.denied) throw new AppError("PERMISSION_DENIED", "exec denied: security=deny for this session (/exec)");
  const elevation = deps.elevation(context);
  const wanted = params["elevated"];
  if (wanted === true && !elevation.permitted) throw new AppError("PERMISSION_DENIED", `elevated is not available right now\n${elevation.reason}`);
  const level = elevation.permitted && wanted !== false ? elevation.level : "off";
  const elevated = wanted === true ? (level === "full" ? "full" : "ask") : level;
  // The file of approvals is asked in every case: nothing goes past it.
  if (elevated === "full") return { settings: { ...settings, ...settings.limit, host: "gateway" } };
  if (elevated !== "off") return { settings: { ...settings, host: "gateway", security: settings.hostSecurity } };
  const host = askedHost(params) ?? settings.host;
  if (host !== settings.host) {
    throw new AppError("PERMISSION_DENIED", `exec host not allowed (requested ${host}; configure tools.exec.host=${settings.host} to allow).`);
  }
  if (host === "node" && !deps.nodes) throw new AppError("UNAVAILABLE", "exec host=node needs a paired node that runs commands; there is none");
  if (host !== "sandbox") return { settings };
  // Without a sandbox it runs on this machine, and by the rules for that: nothing runs here unasked that nobody allowed.
  if (!deps.sandboxed(context)) return { settings: { ...settings, host: "gateway", security: settings.hostSecurity } };
  const sandbox = deps.sandbox?.(context);
  if (!sandbox) throw new AppError("UNAVAILABLE", "this session must run in a sandbox, and this machine has none; nothing was run");
  return { settings, sandbox };
}

function workingFolder(workdir: unknown, workspace: string, warnings: string[]): string {
  const asked = typeof workdir === "string" && workdir.trim() !== "" ? resolve(workspace, workdir.trim()) : undefined;
  if (asked === undefined || isFolder(asked)) return asked ?? workspace;
  warnings.push(`Warning: workdir ${JSON.stringify(asked)} does not exist; running in ${JSON.stringify(workspace)}.`);
  return workspace;
}

/**
 * Where a command runs on this machine. One that leaves its sandbox runs in the folder that the session works in, as it lies on the host; paths that
 * the session knows mean the same for it.
 */
function folderOutside(files: SandboxFiles | undefined, { params, context }: ToolCall, warnings: string[]): string {
  if (!files) return workingFolder(params["workdir"], context.workspaceDir, warnings);
  const [{ host, inside }] = files.mounts;
  const workspace = isFolder(host) ? host : context.workspaceDir;
  const asked = typeof params["workdir"] === "string" ? params["workdir"].trim() : "";
  if (asked === "") return workspace;
  const shown = resolve(inside, asked);
  const mounted = files.mounts.some((mount) => isInside(mount.inside, shown));
  return workingFolder(mounted ? sandboxPath(files, context.workspaceDir, shown).path : asked, workspace, warnings);
}

/** Undefined when there is none to be had: a command that leaves it does not need it. */
async function filesOfSandbox({ sandbox, log }: ExecToolDeps, context: ToolContext): Promise<SandboxFiles | undefined> {
  try {
    const files = sandbox?.(context)?.files;
    await files?.ready();
    return files;
  } catch (error) {
    log.debug(`the sandbox folder is not available: ${messageOf(error)}`, { sessionKey: context.sessionKey });
    return undefined;
  }
}

async function folderInside(sandbox: Sandbox, workdir: unknown, warnings: string[]): Promise<string> {
  const asked = typeof workdir === "string" && workdir.trim() !== "" ? workdir.trim() : undefined;
  const found = await sandbox.folder(asked);
  if (found !== undefined) return found;
  const workspace = await sandbox.folder(undefined);
  if (workspace === undefined) throw new AppError("NOT_FOUND", "the sandbox has no folder to run in");
  warnings.push(`Warning: workdir ${JSON.stringify(asked)} is not in the sandbox; running in ${JSON.stringify(workspace)}.`);
  return workspace;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function planRun(deps: ExecToolDeps, { params, context, signal, update }: ToolCall, settings: ExecSettings, warnings: string[]): PlanRun {
  const background = params["background"] === true;
  const yieldMs = typeof params["yieldMs"] === "number" ? params["yieldMs"] : settings.backgroundMs;
  const canBackground = deps.canBackground(context);
  if (background && !canBackground) warnings.push("Warning: the process tool is not allowed here; running in the foreground.");
  const seconds = params["timeout"];
  const timeoutMs = typeof seconds === "number" ? seconds * 1000 : settings.timeoutMs;
  return {
    processes: deps.processes,
    clock: deps.clock,
    env: deps.env,
    passEnv: settings.passEnv,
    hint: (plan, output) => (plan.sandbox === undefined ? deps.hints?.hint(context.sessionKey, plan, output) : undefined),
    skillEnv: context.skillEnv,
    scope: context.sessionKey,
    signal,
    update,
    warnings,
    yieldMs: !canBackground ? undefined : background ? 0 : Math.min(Math.max(yieldMs, YIELD_MS.min), YIELD_MS.max),
    timeoutMs: timeoutMs > 0 ? timeoutMs : undefined,
    cleanupMs: settings.cleanupMs,
    ...(settings.notifyOnExit
      ? { onBackgroundEnd: (text, empty, end) => (empty && !settings.notifyOnExitEmptySuccess ? undefined : deps.announce(context, text, end)) }
      : {}),
  };
}
