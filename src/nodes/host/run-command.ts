import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { childEnvironment, startChild, type Child } from "../../base/spawn.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import {
  approvedStart,
  ASK_LEVELS,
  commandText,
  execSettings,
  judgePlan,
  pinnedFiles,
  pinPlan,
  planCommand,
  SECURITY_LEVELS,
  stricterAsk,
  stricterSecurity,
  type ExecAsk,
  type ExecPlan,
  type ExecRules,
  type ExecSecurity,
} from "../../tools/index.ts";
import { HostError } from "./host-error.ts";

/** One invoke as a command sees it. */
export interface HostCall {
  readonly params: unknown;
  readonly signal: AbortSignal;
  /** Called before something is done that must not be done twice. */
  begin(): void;
  /** Takes text while the command runs, where the caller wants it. */
  readonly progress: ((text: string) => void) | undefined;
}

export interface RunCommandDeps {
  readonly clock: Clock;
  readonly config: () => OpenClawConfig;
  readonly rules: ExecRules;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** What `system.run` answers. */
export interface RunResult {
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly success: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly error: string | null;
}

/** Bytes of output that are sent back, of both streams together; the last ones count. */
const MOST_OUTPUT = 200_000;
const KILL_AFTER_MS = 3000;
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";
const DEFAULT_AGENT = "main";

interface Asked {
  readonly text: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly agentId: string;
  readonly timeoutMs: number | undefined;
  readonly approved: boolean;
  readonly security: ExecSecurity;
  readonly ask: ExecAsk;
}

const invalid = (message: string): HostError => new HostError("INVALID_REQUEST", message);

/** Variables that would load foreign code, and the PATH, are dropped. */
function keptEnvironment(env: unknown): Readonly<Record<string, string>> {
  if (env === undefined || env === null) return {};
  if (!isRecord(env)) throw invalid("env must map names to strings");
  const texts = Object.entries(env).filter((pair): pair is [string, string] => typeof pair[1] === "string" && pair[0].toUpperCase() !== "PATH");
  return childEnvironment(Object.fromEntries(texts));
}

/** The agent whose rules apply. */
export const agentOf = (agentId: unknown): string => (typeof agentId === "string" && agentId.trim() !== "" ? agentId.trim().toLowerCase() : DEFAULT_AGENT);

function parseAsked(params: unknown, home: string): Asked {
  if (!isRecord(params)) throw invalid("system.run takes an object");
  const { command, rawCommand, cwd, env, agentId, timeoutMs, approved } = params;
  const words = Array.isArray(command) ? command.filter((word): word is string => typeof word === "string") : [];
  const [first, ...rest] = words;
  if (first === undefined || !Array.isArray(command) || words.length !== command.length) throw invalid("command must be a list of strings");
  const text = commandText([first, ...rest]);
  if (typeof rawCommand === "string" && rawCommand !== "" && rawCommand !== text) throw invalid("rawCommand does not match command");
  const folder = typeof cwd === "string" && cwd.trim() !== "" ? cwd.trim() : home;
  if (!isAbsolute(folder) || statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw invalid(`cwd is not a folder on this node: ${folder}`);
  return {
    text,
    cwd: folder,
    env: keptEnvironment(env),
    agentId: agentOf(agentId),
    timeoutMs: typeof timeoutMs === "number" && timeoutMs > 0 ? timeoutMs : undefined,
    approved: approved === true,
    security: SECURITY_LEVELS.find((level) => level === params["security"]) ?? "full",
    ask: ASK_LEVELS.find((level) => level === params["ask"]) ?? "off",
  };
}

/** Throws unless this node's own rules, or an approval, let the plan run. */
function checkRules(plan: ExecPlan, { agentId, approved, security, ask }: Asked, { config, rules, home, platform }: RunCommandDeps): void {
  const settings = execSettings(config(), agentId, { host: "node" });
  const effective = rules.effective(agentId, { security: stricterSecurity(security, settings.security), ask: stricterAsk(ask, settings.ask) });
  const { safeBins } = settings;
  const verdict = judgePlan(plan, { ...effective, home, ignoreCase: platform === "darwin" || platform === "win32", ...(safeBins ? { safeBins } : {}) });
  if (effective.security === "deny") throw new HostError("UNAVAILABLE", "SYSTEM_RUN_DISABLED: security=deny");
  if (verdict.kind === "deny") throw new HostError("UNAVAILABLE", "SYSTEM_RUN_DENIED: allowlist miss");
  if (verdict.kind === "ask" && !approved) throw new HostError("UNAVAILABLE", "SYSTEM_RUN_DENIED: approval required");
}

/** The last bytes of what a command writes, as text. */
class BoundedOutput {
  readonly #decoder = new StringDecoder("utf8");
  #text = "";
  #dropped = 0;

  /** Returns the text of the chunk. */
  add(chunk: Buffer): string {
    const text = this.#decoder.write(chunk);
    this.#text += text;
    if (this.#text.length > 2 * MOST_OUTPUT) this.#cut(MOST_OUTPUT);
    return text;
  }

  take(most: number): string {
    if (this.#text.length > most) this.#cut(most);
    return this.#dropped === 0 ? this.#text : `… (${this.#dropped} characters before this)\n${this.#text}`;
  }

  #cut(most: number): void {
    this.#dropped += this.#text.length - most;
    this.#text = this.#text.slice(-most).toWellFormed();
  }
}

async function execute(plan: ExecPlan, timeoutMs: number | undefined, { clock, env, config }: RunCommandDeps, call: HostCall): Promise<RunResult> {
  const { signal, progress } = call;
  const passEnv = config().tools?.exec?.passEnv;
  const { program, args, cwd, env: whole } = approvedStart(plan, plan.hash, { env, ...(Array.isArray(passEnv) ? { passEnv } : {}) });
  const output = { stdout: new BoundedOutput(), stderr: new BoundedOutput() };
  const onOutput = (stream: "stdout" | "stderr", chunk: Buffer): undefined => {
    const text = output[stream].add(chunk);
    progress?.(text);
  };
  let timedOut = false;
  let child: Child;
  try {
    child = await startChild(program, { args, cwd, env: whole, onOutput });
  } catch (error) {
    return { exitCode: null, timedOut: false, success: false, stdout: "", stderr: "", error: messageOf(error) };
  }
  const end = (): void => {
    child.signal("SIGTERM");
    clock.after(KILL_AFTER_MS, () => void child.signal("SIGKILL"));
  };
  const onTimeout = (): void => {
    timedOut = true;
    end();
  };
  using _timer = timeoutMs === undefined ? undefined : clock.after(timeoutMs, onTimeout);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const { code, signal: by } = await child.exited;
  signal.removeEventListener("abort", end);
  const stderr = output.stderr.take(MOST_OUTPUT / 2);
  const stdout = output.stdout.take(MOST_OUTPUT - stderr.length);
  const error = timedOut ? "the command timed out" : code === null ? `the command was ended by signal ${by ?? "unknown"}` : null;
  return { exitCode: code, timedOut, success: code === 0, stdout, stderr, error };
}

/** Plans a command, judges the plan by this node's rules and runs exactly that plan. `begin` is called right before it starts. */
export async function runCommand(call: HostCall, deps: RunCommandDeps): Promise<RunResult & { readonly command: string }> {
  const asked = parseAsked(call.params, deps.home);
  let plan: ExecPlan;
  try {
    const planned = planCommand({
      command: asked.text,
      cwd: asked.cwd,
      host: "node",
      env: asked.env,
      path: deps.env["PATH"] ?? DEFAULT_PATH,
      shell: "/bin/sh",
    });
    plan = pinPlan(planned, pinnedFiles(planned, deps.home));
  } catch (error) {
    if (error instanceof AppError) throw invalid(error.message);
    throw error;
  }
  checkRules(plan, asked, deps);
  call.begin();
  return { ...(await execute(plan, asked.timeoutMs, deps, call)), command: asked.text };
}
