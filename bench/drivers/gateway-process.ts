import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { freePort } from "../../test/harness/free-port.ts";
import type { BenchContext } from "../row.ts";
import { createDevice, type BenchConnection } from "./client.ts";
import { endProcess, untilReady, type Ready } from "./startup.ts";

const { gatewayFlags } = createRequire(import.meta.url)("../../scripts/runtime.cjs") as { gatewayFlags(node: string): readonly string[] };
const TOKEN = "bench-token-0123456789abcdef0123456789abcdef";

/** A place for gateways: state, configuration, port and the device that measures. */
export interface BenchPlace {
  readonly port: number;
  readonly to: BenchConnection;
  /** Spawns one and waits until it answers: as `npm start` and services run it, or as it is when a user types `openclaw gateway`. */
  start(how?: "kept" | "typed"): Promise<BenchGateway>;
}

export interface BenchGateway extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly ready: Ready;
}

export interface BenchSetup {
  /** Areas; what `gateway` says is laid over how it is reached. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Start what was built into this folder, instead of what `bin/openclaw` starts. `src`: the sources themselves. */
  readonly built?: string;
  /** Beside what every gateway gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** How often a start is asked whether it is ready: a start is known no better than that. */
  readonly pollMs?: number;
}

/** As `bin/openclaw` does it, for another build: with the compiled code of the last run kept beside it. */
function writeStart(folder: string, root: string, built: string): string {
  const file = join(folder, "start.cjs");
  const entry = built === "src" ? "src/cli/main.ts" : join(built, "cli.js");
  // As `bin/openclaw` does it.
  const text = `if (process.execArgv.length === 0) require("node:v8").setFlagsFromString("--invocation-count-for-maglev=20000");
require("node:module").enableCompileCache(${JSON.stringify(join(built === "src" ? folder : join(root, built), ".cache"))});
require(${JSON.stringify(join(root, entry))}).main(process.argv.slice(2));
`;
  writeFileSync(file, text);
  return file;
}

export async function makeBenchPlace(
  context: BenchContext,
  name: string,
  { config = {}, built, env: more = {}, pollMs = 20 }: BenchSetup = {},
): Promise<BenchPlace> {
  const folder = join(context.folder, name);
  const configPath = join(folder, "openclaw.json");
  mkdirSync(folder, { recursive: true });
  const { gateway, ...areas } = config;
  writeFileSync(
    configPath,
    JSON.stringify({ gateway: { mode: "local", auth: { mode: "token", token: TOKEN }, ...(gateway as object | undefined) }, ...areas }),
  );
  const entry = built === undefined ? join(context.root, "bin/openclaw") : writeStart(folder, context.root, built);
  const port = await freePort();
  const to: BenchConnection = {
    url: `ws://127.0.0.1:${port}`,
    token: TOKEN,
    protocol: 3,
    clientId: "gateway-client",
    clientMode: "backend",
    device: createDevice(),
  };
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    TMPDIR: folder,
    OPENCLAW_STATE_DIR: join(folder, "state"),
    OPENCLAW_CONFIG_PATH: configPath,
    NO_COLOR: "1",
    ...more,
  };
  return {
    port,
    to,
    async start(how = "kept") {
      const flags = how === "kept" ? gatewayFlags(context.node) : [];
      const started = performance.now();
      const child = spawn(context.node, [...flags, entry, "gateway", "--port", String(port)], {
        env,
        stdio: ["ignore", "ignore", "inherit"],
      });
      try {
        const ready = await untilReady(to, child, started, { pollMs, timeoutMs: 30_000 });
        return { child, pid: child.pid!, ready, [Symbol.asyncDispose]: async () => void (await endProcess(child)) };
      } catch (error) {
        child.kill("SIGKILL");
        throw error;
      }
    },
  };
}
