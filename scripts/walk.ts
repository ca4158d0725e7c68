/**
 * `npm run walk -- telegram|chat|hook|config [--json]`: sends one real message (or configuration change) through a gateway that runs from its sources, and
 * prints the functions of the main thread that it passes, in order. The third one is recorded: what the first ones load and cache is there by then.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { makeAgentPlace, startModel } from "../bench/drivers/agent-place.ts";
import { startBotApi } from "../bench/drivers/bot-api.ts";
import { connectBench } from "../bench/drivers/client.ts";
import type { BenchContext } from "../bench/row.ts";
import type { Visited } from "./walk/observe.ts";
import { printWalk, summarise } from "./walk/print.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const SESSION = "agent:main:walk";
/** Until everything that follows an answer (delivery receipts, upkeep, files) is over. */
const SETTLE_MS = 1500;

/** What is sent, and how long it takes until its answer is there. */
interface Route {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  prepare?(stateDir: string): void;
  /** Sends one and waits for its answer. */
  open(place: Awaited<ReturnType<typeof makeAgentPlace>>): Promise<{ once(n: number): Promise<void>; close(): void }>;
}

async function chatRoute(): Promise<Route> {
  return {
    async open({ to }) {
      const client = await connectBench(to);
      return { once: async (n) => void (await client.turn(SESSION, `hello ${n}`)), close: () => client.close() };
    },
  };
}

async function telegramRoute(stack: AsyncDisposableStack): Promise<Route> {
  const bot = stack.use(await startBotApi());
  return {
    config: { channels: { telegram: { botToken: bot.token, dmPolicy: "open", allowFrom: ["*"] } } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: bot.apiRoot },
    open: async () => ({
      async once(n) {
        await bot.polled();
        const before = bot.sent.length;
        bot.say([100], `hello ${n}`);
        await bot.sentTexts(before + 1);
      },
      close: () => {},
    }),
  };
}

const HOOK_PLUGIN = `export default {
  id: "walk-hook",
  register(api) {
    api.on("message_received", () => {});
    api.on("before_prompt_build", () => ({ prependContext: "a walk" }));
  },
};
`;

async function hookRoute(): Promise<Route> {
  return {
    ...(await chatRoute()),
    config: { plugins: { allow: ["walk-hook"], entries: { "walk-hook": { enabled: true } } } },
    prepare(stateDir) {
      const folder = join(stateDir, "extensions", "walk-hook");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id: "walk-hook", configSchema: { type: "object", properties: {} } }));
      writeFileSync(
        join(folder, "package.json"),
        JSON.stringify({ name: "walk-hook", version: "1.0.0", type: "module", openclaw: { extensions: ["./index.js"] } }),
      );
      writeFileSync(join(folder, "index.js"), HOOK_PLUGIN);
    },
  };
}

async function configRoute(): Promise<Route> {
  return {
    async open({ to }) {
      const client = await connectBench(to);
      return {
        async once(n) {
          const { hash } = await client.request("config.get", {});
          await client.request("config.patch", { raw: JSON.stringify({ messages: { responsePrefix: `walk ${n}` } }), baseHash: hash });
        },
        close: () => client.close(),
      };
    },
  };
}

const ROUTES: Readonly<Record<string, (stack: AsyncDisposableStack) => Promise<Route>>> = {
  telegram: telegramRoute,
  chat: chatRoute,
  hook: hookRoute,
  config: configRoute,
};

async function until(file: string): Promise<void> {
  while (!existsSync(file)) await wait(5);
}

/** Records the third of three messages. */
async function record(context: BenchContext, openRoute: (stack: AsyncDisposableStack) => Promise<Route>): Promise<readonly Visited[]> {
  await using stack = new AsyncDisposableStack();
  const model = stack.use(await startModel(context));
  const route = await openRoute(stack);
  const file = join(context.folder, "walk.json");
  const observe = pathToFileURL(join(root, "scripts/walk/observe.ts")).href;
  const place = await makeAgentPlace(context, "walk", model, {
    ...(route.config ? { config: route.config } : {}),
    env: { ...route.env, WALK_FILE: file, NODE_OPTIONS: `--import=${observe}` },
  });
  route.prepare?.(place.stateDir);
  const gateway = stack.use(await place.start("typed"));
  const way = await route.open(place);
  stack.defer(way.close);
  for (const n of [1, 2]) await way.once(n);
  await wait(SETTLE_MS);
  gateway.child.kill("SIGUSR2");
  await until(`${file}.started`);
  await way.once(3);
  await wait(SETTLE_MS);
  gateway.child.kill("SIGUSR2");
  await until(file);
  return JSON.parse(readFileSync(file, "utf8")) as readonly Visited[];
}

const { values, positionals } = parseArgs({ options: { json: { type: "boolean" } }, allowPositionals: true });
const name = positionals[0] ?? "chat";
const openRoute = ROUTES[name];
if (!openRoute) throw new Error(`expected one of ${Object.keys(ROUTES).join(", ")}, got ${name}`);
const folder = mkdtempSync(join(tmpdir(), "openclaw-walk-"));
const loadStore = (): never => {
  throw new Error("a walk needs no store of its own");
};
const context: BenchContext = { root, folder, node: process.execPath, built: "src", quick: true, say: () => {}, loadStore };
try {
  const visited = summarise(await record(context, openRoute), root);
  if (values.json) console.log(JSON.stringify({ walk: name, files: visited.files.length, functions: visited.count, steps: visited.steps }));
  else printWalk(name, visited);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
