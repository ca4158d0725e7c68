/** `/stop` in a chat: what runs ends with every process that it started. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startHijackedModel, orders } from "../harness/hijacked-model.ts";
import { expectInTime } from "../harness/in-time.ts";
import { startTelegramGateway } from "./telegram-gateway.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
/** What SECURITY.md promises. */
const BOUND_MS = 2000;

/** A process that nobody has buried yet does not run. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** A shell with children, grandchildren and one that left its parents and its group; each writes its number down. */
const TREE = [
  "echo $$ >> pids",
  "sh -c 'echo $$ >> pids; sleep 600 & echo $! >> pids; sh -c \"echo \\$\\$ >> pids; trap : TERM INT HUP; while :; do sleep 1; done\" & wait' &",
  "sleep 600 & echo $! >> pids",
  "echo ready > ready",
  "wait",
].join("\n");

test.each([
  ["/stop", "/stop"],
  ["a stop word", "stop"],
])(
  "35: %s in a chat ends the turn and its whole tree of processes within two seconds, and the model is not asked again",
  async (_name, word) => {
    await using model = await startHijackedModel();
    const provider = {
      baseUrl: model.url,
      apiKey: "k",
      api: "openai-completions",
      models: [{ id: "large", name: "Large", contextWindow: 200_000, maxTokens: 8192 }],
    };
    await using at = await startTelegramGateway(({ me }) => ({ dmPolicy: "allowlist", allowFrom: [me.id], streamMode: "off" }), {
      models: { providers: { acme: provider } },
      tools: { exec: { host: "gateway", security: "full", ask: "off" } },
    });
    const { telegram, gateway } = at;
    await expect.poll(() => telegram.polling, PATIENCE).toBe(true);
    telegram.say(orders([{ name: "exec", args: { command: TREE, yieldMs: 120_000, timeout: 600 } }]));
    const pidsFile = join(gateway.workspace, "pids");
    const pids = (): number[] => (existsSync(pidsFile) ? readFileSync(pidsFile, "utf8").trim().split("\n").map(Number) : []);
    await expect.poll(() => existsSync(join(gateway.workspace, "ready")) && pids().length, PATIENCE).toBe(5);
    expect(pids().map(isRunning)).toEqual(pids().map(() => true));
    const asked = model.requests.length;
    telegram.say(word);
    const said = performance.now();
    await expect.poll(() => pids().filter(isRunning), PATIENCE).toEqual([]);
    const took = performance.now() - said;
    await expect.poll(() => telegram.messages(telegram.me.id).filter(({ byBot }) => byBot).length, PATIENCE).toBeGreaterThan(0);
    expect(model.requests).toHaveLength(asked);
    expectInTime(took, BOUND_MS);
    // The chat goes on.
    telegram.say("and now?");
    await expect.poll(() => telegram.messages(telegram.me.id).some(({ byBot, text }) => byBot && text.includes("nothing to do")), PATIENCE).toBe(true);
  },
  90_000,
);
