import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median, round } from "../stats.ts";
import type { BenchContext, Measure, Row } from "../row.ts";

const INSTALLED = 40;
const ENABLED = 10;
const idOf = (index: number): string => `plugin-${String(index).padStart(2, "0")}`;

/** A small plugin in two files: types, a tool, hooks, a command, a method, a service. */
const ENTRY = `import { answer, type Answer } from "./answer.js";
interface Api { pluginConfig?: Record<string, unknown>; logger: { info(text: string): void }; [member: string]: any }
export default {
  register(api: Api): void {
    api.registerTool({ name: "ID_tool", description: "looks", parameters: { type: "object", properties: {} }, execute: async (): Promise<Answer> => answer("ok") });
    api.on("before_tool_call", async () => undefined, { priority: 5 });
    api.on("message_received", (event: { content: string }) => void event.content);
    api.registerCommand({ name: "ID", description: "says", handler: () => ({ text: "hi" }) });
    api.registerGatewayMethod("ID.say", ({ respond }: { respond(ok: boolean, payload: unknown): void }) => respond(true, {}));
    api.registerService({ id: "ID", start() {}, stop() {} });
  },
};
`;
const ANSWER = `export interface Answer { content: { type: "text"; text: string }[] }
export const answer = (text: string): Answer => ({ content: [{ type: "text", text }] });
`;

function install(stateDir: string, installed: number, enabled: number): void {
  for (let index = 0; index < installed; index += 1) {
    const id = idOf(index);
    const folder = join(stateDir, "extensions", id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: { type: "object", properties: {} } }));
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ name: `@bench/${id}`, version: "1.0.0", type: "module", openclaw: { extensions: ["./index.ts"] } }),
    );
    writeFileSync(join(folder, "index.ts"), ENTRY.replaceAll("ID", id));
    writeFileSync(join(folder, "answer.ts"), ANSWER);
  }
  mkdirSync(stateDir, { recursive: true });
  const names = Array.from({ length: enabled }, (_, index) => idOf(index));
  const plugins = { allow: names, entries: Object.fromEntries(names.map((id) => [id, { enabled: true }])) };
  writeFileSync(join(stateDir, "openclaw.json"), JSON.stringify({ gateway: { mode: "local" }, ...(installed > 0 ? { plugins } : {}) }), { mode: 0o600 });
}

const rssMb = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

/** From spawn to the line that says that it is ready. */
async function startOnce(context: BenchContext, stateDir: string): Promise<{ readonly ms: number; readonly rss: number }> {
  const env = { PATH: process.env["PATH"], HOME: context.folder, OPENCLAW_STATE_DIR: stateDir, NO_COLOR: "1" };
  const started = performance.now();
  const child = spawn(context.node, [join(context.root, "bin/openclaw"), "gateway", "--port", "0"], { env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  let ready: { readonly ms: number; readonly rss: number } | undefined;
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (!output.includes("ready on")) continue;
    ready = { ms: performance.now() - started, rss: rssMb(child.pid!) };
    break;
  }
  child.stdout.resume();
  child.kill("SIGTERM");
  await once(child, "exit");
  if (!ready) throw new Error(`the gateway ended before it was ready:\n${output}`);
  const expected = stateDir.includes("with-plugins") ? `${ENABLED} plugins loaded` : "ready on";
  if (!output.includes(expected)) throw new Error(`the gateway did not say "${expected}":\n${output}`);
  return ready;
}

export const pluginStart: Measure = {
  name: "plugin start",
  async run(context): Promise<readonly Row[]> {
    const folders = { none: join(context.folder, "no-plugins"), some: join(context.folder, "with-plugins") };
    install(folders.none, 0, 0);
    install(folders.some, INSTALLED, ENABLED);
    const none: { ms: number; rss: number }[] = [];
    const some: { ms: number; rss: number }[] = [];
    const first: { ms: number; rss: number }[] = [];
    for (let index = 0; index <= (context.quick ? 2 : 21); index += 1) {
      const pair = [await startOnce(context, folders.none), await startOnce(context, folders.some)] as const;
      // The first makes the database and fills the compile cache.
      if (index === 0) continue;
      none.push(pair[0]);
      some.push(pair[1]);
    }
    // As after an installation: their TypeScript has to be made into JavaScript once.
    for (let index = 0; index < (context.quick ? 1 : 5); index += 1) {
      rmSync(join(folders.some, "cache", "plugins"), { recursive: true, force: true });
      first.push(await startOnce(context, folders.some));
    }
    const ms = (starts: readonly { ms: number }[]): number => median(starts.map((start) => start.ms));
    const rss = (starts: readonly { rss: number }[]): number => median(starts.map((start) => start.rss));
    return [
      {
        name: `gateway start with ${INSTALLED} plugins, ${ENABLED} enabled, over none`,
        value: round(ms(some) - ms(none), 1),
        unit: "ms",
        bar: 120,
        better: "lower",
        facts: {
          "without ms": round(ms(none), 1),
          "with ms": round(ms(some), 1),
          "first time ms": round(ms(first), 1),
          "more MB": round(rss(some) - rss(none), 1),
          "first time more MB": round(rss(first) - rss(none), 1),
        },
      },
    ];
  },
};
