import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ChannelAccountSnapshot } from "../../../src/protocol/index.ts";
import { enter, type DeviceClient } from "../../harness/device-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../../harness/gateway-process.ts";
import { programArguments, type Build } from "../../harness/program.ts";
import { startLabModel, type LabModel } from "./lab-model.ts";

type Sections = Readonly<Record<string, unknown>>;

export interface StoredFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly mode: number;
}

/** A real gateway process with a scripted model behind it. */
export interface LabGateway extends AsyncDisposable {
  readonly place: Place;
  readonly model: LabModel;
  readonly url: string;
  readonly token: string;
  /** Where the agent's files are. */
  readonly workspace: string;
  /** May do everything. */
  readonly operator: DeviceClient;
  /** An account as `channels.status` shows it. */
  account(channel: string, accountId?: string): Promise<ChannelAccountSnapshot | undefined>;
  /** Says something in a session of its own, over the gateway's socket, and waits for the answer. */
  aside(): Promise<void>;
  /** Rewrites the configuration with these sections replaced. The running gateway reads it. */
  configure(sections: Sections): void;
  readonly sections: Sections;
  /** Runs a command of the program to its end. */
  cli(...args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }>;
  /** Files that came with messages, as they are on disk. */
  storedMedia(): readonly StoredFile[];
  /** True when nothing is on its way to a chat: what was to be sent is known to be there, or was given up. */
  isDelivered(): boolean;
  output(): string;
  /** False after `stop`, `kill` or `ended`. */
  isRunning(): boolean;
  /** The process itself, which may have ended without being asked to. */
  isAlive(): boolean;
  readonly pid: number;
  /** Ends the process as a service manager does. */
  stop(): Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Ends the process as a power cut does. */
  kill(): Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Waits for the process to end by itself. */
  ended(): Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** After `stop` or `ended`, with more variables for this life of the process. */
  start(env?: Record<string, string>): Promise<void>;
  /** What the process was to do within this time it does now. The time of day stays. In tests only. */
  skip(ms: number): Promise<void>;
}

/** Another build than `dist`, for work on what is in it. */
const BUILD = process.env["OPENCLAW_TEST_BUILD"] as Build | undefined;
/** Benches and campaigns have gateways with nothing in them. */
const IS_TEST = process.env["VITEST"] !== undefined;
const CLOCK_URL = new URL("../../harness/skipping-clock.mjs", import.meta.url).href;
const TOKEN = "token-of-the-lab-0123456789abcdef";
const SCOPES = ["operator.admin", "operator.read", "operator.write", "operator.approvals", "operator.pairing"];

function baseConfig(modelUrl: string, workspace: string): Sections {
  const model = { id: "large", name: "Large", contextWindow: 200_000, maxTokens: 8_000, input: ["text", "image"], reasoning: false };
  return {
    gateway: { mode: "local", auth: { mode: "token", token: TOKEN }, reload: { debounceMs: 10 } },
    agents: { defaults: { model: { primary: "acme/large" }, workspace, skipBootstrap: true } },
    models: { providers: { acme: { baseUrl: modelUrl, apiKey: "sk-lab-0123456789abcdef", api: "openai-completions", models: [model] } } },
  };
}

function filesBelow(folder: string): readonly StoredFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => {
      const path = join(parentPath, name);
      const { size, mode } = statSync(path);
      return { name, path, bytes: size, mode: mode & 0o777 };
    });
}

async function runCli(place: Place, args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [...programArguments(BUILD), ...args], { env: place.env, cwd: place.home, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output += String(part)));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}

/** The time of a gateway's process, which tests may move forward. */
function createClock(folder: string) {
  const socketPath = join(folder, "clock.sock");
  return {
    env({ NODE_OPTIONS = "" }: Record<string, string>): Record<string, string> {
      if (!IS_TEST) return {};
      return { NODE_OPTIONS: `${NODE_OPTIONS} --import=${CLOCK_URL}`, OPENCLAW_TEST_CLOCK: socketPath };
    },
    async skip(ms: number): Promise<void> {
      const socket = connect(socketPath);
      socket.write(String(ms));
      await once(socket.resume(), "close");
    },
  };
}

/** `env` reaches the gateway only; `sections` are laid over a configuration with a model and a token. */
export async function startLabGateway(
  options: { readonly sections?: Sections; readonly env?: Record<string, string>; readonly build?: Build } = {},
): Promise<LabGateway> {
  const place = makePlace();
  const workspace = join(place.home, "workspace");
  mkdirSync(workspace);
  const model = await startLabModel();
  const clock = createClock(place.home);
  let sections = { ...baseConfig(model.url, workspace), ...options.sections };
  let asides = 0;
  let running: { readonly process: GatewayProcess; readonly operator: DeviceClient } | undefined;
  let output = "";
  const configure = (next: Sections): void => {
    sections = { ...sections, ...next };
    place.configure(JSON.stringify(sections));
  };
  configure({});

  async function start(env: Record<string, string> = {}): Promise<void> {
    const build = options.build ?? BUILD;
    const variables = { ...options.env, ...env };
    const process = await place.gateway({ ...(build === undefined ? {} : { build }), env: { ...variables, ...clock.env(variables) } });
    if (process.url === undefined) throw new Error(`the gateway did not start:\n${process.output()}`);
    running = { process, operator: await enter(process.url, { token: TOKEN, scopes: SCOPES }) };
  }

  function live(): NonNullable<typeof running> {
    if (!running) throw new Error("the gateway was stopped: start() it first");
    return running;
  }

  async function end(signal?: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: string | null }> {
    const { process, operator } = live();
    if (signal === undefined) await process.exited;
    else process.child.kill(signal);
    running = undefined;
    const ended = await process.exited;
    output += process.output();
    await operator[Symbol.asyncDispose]();
    return ended;
  }

  await start();
  return {
    place,
    model,
    workspace,
    token: TOKEN,
    get url() {
      return live().process.url!;
    },
    get operator() {
      return live().operator;
    },
    get sections() {
      return sections;
    },
    async account(channel, accountId = "default") {
      const { ok, payload, error } = await live().operator.request("channels.status", {});
      if (!ok) throw new Error(`channels.status: ${JSON.stringify(error)}`);
      const accounts = payload!["channelAccounts"] as Readonly<Record<string, readonly ChannelAccountSnapshot[]>>;
      return accounts[channel]?.find((one) => one.accountId === accountId);
    },
    async aside() {
      const idempotencyKey = `aside-${(asides += 1)}`;
      const { operator } = live();
      const sent = await operator.request("chat.send", { sessionKey: "agent:main:aside", message: "aside", idempotencyKey });
      if (!sent.ok) throw new Error(`chat.send: ${JSON.stringify(sent.error)}`);
      await operator.request("agent.wait", { runId: idempotencyKey, timeoutMs: 20_000 });
    },
    configure,
    cli: (...args) => runCli(place, args),
    storedMedia: () => filesBelow(join(place.stateDir, "media", "inbound")),
    isDelivered() {
      using db = new DatabaseSync(join(place.stateDir, "openclaw.db"), { readOnly: true, timeout: 5000 });
      return db.prepare("SELECT 1 FROM outbox WHERE state IN ('pending', 'attempting', 'unknown') LIMIT 1").get() === undefined;
    },
    isRunning: () => running !== undefined,
    isAlive: () => running !== undefined && running.process.child.exitCode === null && running.process.child.signalCode === null,
    get pid() {
      return live().process.child.pid!;
    },
    output: () => output + (running?.process.output() ?? ""),
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    ended: () => end(),
    start,
    skip: clock.skip,
    async [Symbol.asyncDispose]() {
      if (running) await end("SIGKILL");
      await model[Symbol.asyncDispose]();
      rmSync(place.home, { recursive: true, force: true });
    },
  };
}
