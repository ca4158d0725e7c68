/**
 * `npm run compare -- --with <folder of an installed openclaw> [--protocol 4] [--runs 3] [--turns 100] [--json]`: this gateway beside another one, on this machine,
 * in one run and in turns: the same configuration, the same model server, the same client. It prints a table; nothing has a target here.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createRequire } from "node:module";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { freePort } from "../test/harness/free-port.ts";
import { startModel, type BenchModel } from "./drivers/agent-place.ts";
import { connectBench, createDevice, type BenchConnection } from "./drivers/client.ts";
import { residentMb } from "./drivers/process-facts.ts";
import { endProcess, untilReady } from "./drivers/startup.ts";
import { median, quantile, round } from "./stats.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TOKEN = "compare-token-0123456789abcdef0123456789";
const { gatewayFlags } = createRequire(import.meta.url)("../scripts/runtime.cjs") as { gatewayFlags(node: string): readonly string[] };

interface Program {
  readonly name: string;
  readonly version: string;
  readonly entry: string;
  readonly flags: readonly string[];
  readonly protocol: number;
}

interface Figures {
  readonly versionMs: number[];
  readonly readyMs: number[];
  readonly restMb: number[];
  readonly turnMs: number[];
  readonly turnsPerSecond: number[];
  readonly afterMb: number[];
}

/** The other program, from the folder that `npm install openclaw` made or from the package itself. */
function otherProgram(folder: string, protocol: number): Program {
  const found = [folder, join(folder, "node_modules/openclaw")].find((path) => existsSync(join(path, "openclaw.mjs")));
  if (found === undefined) throw new Error(`no openclaw.mjs in ${folder} or its node_modules/openclaw; install it there first: npm install openclaw`);
  const { version } = JSON.parse(readFileSync(join(found, "package.json"), "utf8")) as { version: string };
  return { name: "other", version, entry: join(found, "openclaw.mjs"), flags: [], protocol };
}

function writeConfig(folder: string, port: number, model: BenchModel): string {
  const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }];
  const config = {
    gateway: { mode: "local", port, bind: "loopback", auth: { mode: "token", token: TOKEN } },
    agents: { defaults: { workspace: join(folder, "workspace"), model: { primary: "mock/m1" }, heartbeat: { every: "0m" }, maxConcurrent: 32 } },
    models: { providers: { mock: { baseUrl: model.baseUrl, apiKey: "none", api: "openai-completions", models } } },
    discovery: { mdns: { mode: "off" } },
    update: { checkOnStart: false },
  };
  const path = join(folder, "openclaw.json");
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** One program, started on a state folder of its own. */
async function prepare(program: Program, folder: string, model: BenchModel) {
  mkdirSync(join(folder, "workspace"), { recursive: true });
  const port = await freePort();
  const to: BenchConnection = {
    url: `ws://127.0.0.1:${port}`,
    token: TOKEN,
    protocol: program.protocol,
    clientId: "gateway-client",
    clientMode: "backend",
    device: createDevice(),
  };
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    TMPDIR: folder,
    OPENCLAW_STATE_DIR: join(folder, "state"),
    OPENCLAW_CONFIG_PATH: writeConfig(folder, port, model),
    NO_COLOR: "1",
  };
  return {
    to,
    run: (...args: readonly string[]) => execFileSync(process.execPath, [program.entry, ...args], { env, stdio: ["ignore", "pipe", "ignore"] }),
    start: () => spawn(process.execPath, [...program.flags, program.entry, "gateway", "--port", String(port)], { env, stdio: "ignore" }),
  };
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

/** A start, a rest, turns one after the other, then twenty at a time, and the end. */
async function measure(prepared: Prepared, into: Figures, turns: number): Promise<void> {
  const versionAt = performance.now();
  prepared.run("--version");
  into.versionMs.push(performance.now() - versionAt);
  const started = performance.now();
  const child = prepared.start();
  try {
    const { readyMs } = await untilReady(prepared.to, child, started, { pollMs: 20, timeoutMs: 180_000 });
    into.readyMs.push(readyMs);
    await wait(5000);
    into.restMb.push(residentMb(child.pid!));
    const client = await connectBench(prepared.to);
    // The first turns load what turns need.
    for (let count = 0; count < 5; count += 1) await client.turn("agent:main:warm", "hello");
    for (let count = 0; count < turns; count += 1) into.turnMs.push((await client.turn("agent:main:one", "hello")).ms);
    const begun = performance.now();
    await Promise.all(
      Array.from({ length: 20 }, async (_, session) => {
        for (let count = 0; count < turns / 10; count += 1) await client.turn(`agent:main:many-${session}`, "hello");
      }),
    );
    into.turnsPerSecond.push((20 * Math.ceil(turns / 10)) / ((performance.now() - begun) / 1000));
    into.afterMb.push(residentMb(child.pid!));
    client.close();
  } finally {
    await endProcess(child);
  }
}

const noFigures = (): Figures => ({ versionMs: [], readyMs: [], restMb: [], turnMs: [], turnsPerSecond: [], afterMb: [] });

function summarise(figures: Figures): Readonly<Record<string, string>> {
  const { versionMs, readyMs, restMb, turnMs, turnsPerSecond, afterMb } = figures;
  const ms = (value: number): string => (value >= 1000 ? `${round(value / 1000, 1)} s` : `${round(value, value < 20 ? 1 : 0)} ms`);
  return {
    "`openclaw --version`": ms(median(versionMs)),
    "start until ready": ms(median(readyMs)),
    "memory at rest": `${round(median(restMb), 0)} MB`,
    "a turn, median (instant model)": ms(median(turnMs)),
    "a turn, 95th percentile": ms(quantile(turnMs, 0.95)),
    "turns per second, 20 sessions": String(round(median(turnsPerSecond), 0)),
    "memory after that": `${round(median(afterMb), 0)} MB`,
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      with: { type: "string" },
      protocol: { type: "string", default: "4" },
      runs: { type: "string", default: "3" },
      turns: { type: "string", default: "100" },
      json: { type: "boolean", default: false },
    },
  });
  if (values.with === undefined) throw new Error("expected --with <folder>: where `npm install openclaw` put the program to compare with");
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const own: Program = { name: "this", version, entry: join(ROOT, "bin/openclaw"), flags: gatewayFlags(process.execPath), protocol: 3 };
  const programs = [own, otherProgram(resolve(values.with), Number(values.protocol))];
  const folder = mkdtempSync(join(tmpdir(), "openclaw-compare-"));
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  try {
    using model = await startModel({ root: ROOT, node: process.execPath });
    const pairs = await Promise.all(
      programs.map(async (program, at) => ({ program, figures: noFigures(), prepared: await prepare(program, join(folder, `${at}`), model) })),
    );
    for (let run = 1; run <= Number(values.runs); run += 1) {
      for (const { program, figures, prepared } of pairs) {
        say(`run ${run} of ${values.runs}: ${program.name} ${program.version} …`);
        await measure(prepared, figures, Number(values.turns));
      }
    }
    const columns = pairs.map(({ program, figures }) => ({ title: `${program.name} (${program.version})`, facts: summarise(figures), figures }));
    if (values.json) {
      console.log(JSON.stringify(columns, null, 2));
      return;
    }
    console.log(`|  | ${columns.map(({ title }) => title).join(" | ")} |\n| --- | ${columns.map(() => "---").join(" | ")} |`);
    for (const name of Object.keys(columns[0]!.facts)) console.log(`| ${name} | ${columns.map(({ facts }) => facts[name]).join(" | ")} |`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
