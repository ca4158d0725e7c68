/** A gateway whose agent asks a model in a process of its own, and that model asked without a gateway. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { BenchContext } from "../row.ts";
import { connectBench, type BenchClient } from "./client.ts";
import { makeBenchPlace, type BenchPlace, type BenchSetup } from "./gateway-process.ts";

interface ModelRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly unknown[];
}

export interface BenchModel extends Disposable {
  readonly baseUrl: string;
  /** The last request that came. */
  last(): Promise<ModelRequest>;
  /** When the last requests came and were answered, on the clock of `process.hrtime`, by the end of their last messages. */
  times(): Promise<readonly { readonly text: string; readonly at: number; readonly answeredAt?: number }[]>;
  /** Its next answers, whatever it is asked. */
  plan(...answers: readonly object[]): Promise<void>;
  /** How many requests came so far. */
  requests(): Promise<number>;
  /** Milliseconds to encode and send a request and to read the whole answer, and nothing else. */
  bareCall(request: ModelRequest): Promise<number>;
}

export async function startModel({ root, node }: Pick<BenchContext, "root" | "node">): Promise<BenchModel> {
  const child = spawn(node, [join(root, "bench/drivers/mock-model.ts")], { stdio: ["ignore", "pipe", "inherit"] });
  const [baseUrl] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return {
    baseUrl,
    last: async () => (await (await fetch(`${baseUrl}/last`)).json()) as ModelRequest,
    times: async () => (await (await fetch(`${baseUrl}/times`)).json()) as Awaited<ReturnType<BenchModel["times"]>>,
    plan: async (...answers) => void (await fetch(`${baseUrl}/next`, { method: "POST", body: JSON.stringify(answers) })),
    requests: async () => ((await (await fetch(`${baseUrl}/stats`)).json()) as { requests: number }).requests,
    async bareCall(request) {
      const started = performance.now();
      const headers = { "content-type": "application/json", authorization: "Bearer none" };
      const response = await fetch(`${baseUrl}/chat/completions`, { method: "POST", headers, body: JSON.stringify(request) });
      const bytes = await response.arrayBuffer();
      if (!response.ok || bytes.byteLength === 0) throw new Error(`the model answered ${response.status} with ${bytes.byteLength} bytes`);
      return performance.now() - started;
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}

/** A program that does as little as possible for a turn. */
export interface BareTurns extends Disposable {
  readonly pid: number;
  readonly client: BenchClient;
}

/** Its requests have the tools and the first message of the given one: as many bytes as a gateway's. */
export async function startBareTurns({ root, node, folder }: BenchContext, { baseUrl }: BenchModel, { messages, ...rest }: ModelRequest): Promise<BareTurns> {
  const args = [join(root, "bench/drivers/bare-turn.ts"), baseUrl, join(folder, "bare-turns.db")];
  const child = spawn(node, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write(`${JSON.stringify({ ...rest, messages: messages.slice(0, 1) })}\n`);
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const client = await connectBench({ url: `ws://127.0.0.1:${port}`, token: "", protocol: 3, clientId: "gateway-client", clientMode: "backend" });
  return {
    pid: child.pid!,
    client,
    [Symbol.dispose]() {
      client.close();
      child.kill();
    },
  };
}

/** What the file in the workspace says. */
export const NOTE = "a note for the bench";

/** The build that is measured has to be there. `more` is laid over the configuration and the environment. */
export async function makeAgentPlace(
  context: BenchContext,
  name: string,
  model: BenchModel,
  more: Pick<BenchSetup, "config" | "env"> = {},
): Promise<BenchPlace & { readonly stateDir: string }> {
  const workspace = join(context.folder, name, "workspace");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "note.txt"), `${NOTE}\n`);
  const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }];
  const config = {
    agents: { defaults: { workspace, model: { primary: "mock/m1" } } },
    models: { providers: { mock: { baseUrl: model.baseUrl, apiKey: "none", api: "openai-completions", models } } },
    tools: { exec: { host: "gateway", security: "full", ask: "off" } },
    ...more.config,
  };
  const place = await makeBenchPlace(context, name, { ...more, config, built: context.built });
  return { ...place, stateDir: join(context.folder, name, "state") };
}

/** Sessions that plain turns are taken in at once. */
export const PARALLEL = 20;

/** Plain turns per second, several at once: in sessions that are there, or each in one of its own. */
export async function plainTurns(place: BenchPlace, total: number, sessions: "known" | "new" = "known"): Promise<number> {
  const client = await connectBench(place.to);
  const run = async (count: number, name: string): Promise<number> => {
    const started = performance.now();
    let next = 0;
    await Promise.all(
      Array.from({ length: PARALLEL }, async (_, worker) => {
        for (; next < count;) {
          next += 1;
          await client.turn(`agent:main:bench-${name}-${sessions === "new" ? next : worker}`, "hello");
        }
      }),
    );
    return count / ((performance.now() - started) / 1000);
  };
  await run(Math.min(200, total), sessions === "new" ? "warm" : "plain");
  const rate = await run(total, sessions === "new" ? "first" : "plain");
  client.close();
  return rate;
}
