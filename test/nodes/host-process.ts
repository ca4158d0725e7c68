import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import { programArguments, type Build } from "../harness/program.ts";
import { TOKEN } from "../security/start.ts";

export interface HostProcess extends AsyncDisposable {
  readonly place: Place;
  readonly child: ChildProcess;
  output(): string;
  /** Resolves when the output contains the text; rejects when the process ends without it. */
  waitFor(text: string): Promise<void>;
  readonly exited: Promise<number | null>;
  kill(): Promise<void>;
}

export interface HostOptions {
  readonly place?: Place;
  readonly name?: string;
  /** The gateway's. */
  readonly token?: string;
  /** The node's own `exec-approvals.json`. */
  readonly rules?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly build?: Build;
  /** A command that runs the node: `setpriv …`. */
  readonly wrap?: readonly string[];
}

/** `openclaw node run` in a process of its own, with a state folder of its own. */
export function startHost(url: string, { place = makePlace(), name, rules, token = TOKEN, env = {}, build, wrap = [] }: HostOptions = {}): HostProcess {
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  if (rules) writeFileSync(join(place.stateDir, "exec-approvals.json"), JSON.stringify({ version: 1, ...rules }), { mode: 0o600 });
  const flags = ["--port", new URL(url).port, "--token", token, ...(name === undefined ? [] : ["--display-name", name])];
  const line = [...wrap, process.execPath, ...programArguments(build), "node", "run", ...flags];
  const child = spawn(line[0]!, line.slice(1), {
    env: { ...place.env, ...env },
    cwd: place.home,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (part) => {
      output += String(part);
      changed();
    });
  }
  const exited = once(child, "close").then(([code]) => {
    changed();
    return code as number | null;
  });
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  return {
    place,
    child,
    output: () => output,
    exited,
    waitFor(text) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const look = (): void => {
        if (output.includes(text)) resolve();
        else if (child.exitCode !== null || child.signalCode !== null) reject(new Error(`the node ended without saying ${text}:\n${output}`));
      };
      listeners.add(look);
      look();
      return promise.finally(() => listeners.delete(look));
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
