import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { programArguments, type Build } from "./program.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = join(ROOT, "bin/openclaw");
/** Less than a test has: what is waited for in vain is then named. */
const PATIENCE_MS = 40_000;

/** A home and state folder of its own for one test. Nothing of the user's environment reaches the processes it starts. */
export interface Place {
  readonly home: string;
  readonly stateDir: string;
  readonly configPath: string;
  readonly env: Record<string, string | undefined>;
  /** Writes the configuration file. */
  configure(text: string): void;
  /** Runs a command to its end. */
  cli(...args: string[]): { readonly code: number | null; readonly stdout: string; readonly stderr: string };
  /** Runs a command to its end, beside others. */
  start(...args: string[]): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  /** Starts a gateway on a free port and waits until it is ready or has ended. */
  gateway(options?: GatewayOptions): Promise<GatewayProcess>;
}

export interface GatewayOptions {
  /** Starts only with a configuration that says so. */
  readonly strict?: boolean;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** A command that runs the gateway: `strace …`. */
  readonly wrap?: readonly string[];
  readonly build?: Build;
  /** The configuration says which port, instead of a free one. */
  readonly portFromConfig?: boolean;
}

export interface GatewayProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Where it listens; undefined when it ended before it was ready. */
  readonly url: string | undefined;
  readonly output: () => string;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Resolves when the output contains the text; rejects when it ends without it, or takes too long. */
  waitFor(text: string | RegExp): Promise<void>;
}

export function makePlace(): Place {
  const home = mkdtempSync(join(tmpdir(), "openclaw-e2e-"));
  const stateDir = join(home, ".openclaw-state");
  const configPath = join(home, "openclaw.json");
  // Which bundled skills can be used depends on the programs of the machine: none are there unless a test wants them.
  const skills = { OPENCLAW_BUNDLED_SKILLS_DIR: join(home, "no-skills") };
  // Nobody listens there: a test that wants a platform brings one.
  const platforms = { OPENCLAW_TEST_TELEGRAM_API_ROOT: "http://127.0.0.1:1" };
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    OPENCLAW_STATE_DIR: stateDir,
    OPENCLAW_CONFIG_PATH: configPath,
    TMPDIR: home,
    ...skills,
    ...platforms,
  };
  return {
    home,
    stateDir,
    configPath,
    env,
    configure: (text) => writeFileSync(configPath, text, { mode: 0o600 }),
    cli(...args) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], { env, cwd: home, encoding: "utf8", timeout: PATIENCE_MS });
      return { code: status, stdout, stderr };
    },
    start: (...args) =>
      new Promise((resolve) => {
        const child = execFile(process.execPath, [BIN, ...args], { env, cwd: home, timeout: PATIENCE_MS }, (_error, stdout, stderr) => {
          resolve({ code: child.exitCode, stdout, stderr });
        });
      }),
    gateway: (options = {}) => startGateway(env, home, options),
  };
}

async function startGateway(env: Record<string, string | undefined>, cwd: string, options: GatewayOptions): Promise<GatewayProcess> {
  const line = [
    ...(options.wrap ?? []),
    process.execPath,
    ...programArguments(options.build),
    "gateway",
    ...(options.strict ? [] : ["--allow-unconfigured"]),
    ...(options.portFromConfig ? [] : ["--port", "0"]),
    ...(options.args ?? []),
  ];
  const child = spawn(line[0]!, line.slice(1), { env: { ...env, ...options.env }, cwd, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += String(chunk);
      for (const listener of listeners) listener();
    });
  }
  const exited = once(child, "close").then(([code, signal]) => {
    for (const listener of listeners) listener();
    return { code: code as number | null, signal: signal as string | null };
  });
  const waitFor = (text: string | RegExp): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      if (typeof text === "string" ? output.includes(text) : text.test(output)) resolve();
      else if (child.exitCode !== null || child.signalCode !== null) reject(new Error(`the gateway ended without saying ${text}:\n${output}`));
    };
    listeners.add(look);
    look();
    const timer = setTimeout(() => reject(new Error(`the gateway did not say ${text} within ${PATIENCE_MS / 1000} s:\n${output}`)), PATIENCE_MS);
    return promise.finally(() => {
      clearTimeout(timer);
      listeners.delete(look);
    });
  };
  await Promise.race([waitFor(/\bready on \S/), exited]).catch(() => {});
  return {
    child,
    url: /ready on (\S+)/.exec(output)?.[1],
    output: () => output,
    exited,
    waitFor,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
