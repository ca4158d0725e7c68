/** Commands do not outlive a gateway that was killed: the next start ends them and notifies the sessions that left them in the background. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { identify, isRunning, type ProcessIdentity } from "../../src/base/process-identity.ts";
import { enter } from "../harness/device-client.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { startMockModel } from "../harness/mock-model.ts";

const TOKEN = "a-token-for-commands-0123456789";
const SOON = { timeout: 20_000, interval: 25 };

test("a background and a foreground command of a killed gateway are ended by the next one, and the session is notified of the first", async () => {
  using model = await startMockModel();
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true, maxRetries: 3 }));
  const workspace = join(place.home, "workspace");
  mkdirSync(workspace);
  const models = [{ id: "m1", name: "Mock One", contextWindow: 200_000, maxTokens: 8192 }];
  place.configure(
    JSON.stringify({
      gateway: { auth: { mode: "token", token: TOKEN } },
      agents: { defaults: { workspace, model: { primary: "mock/m1" } } },
      models: { providers: { mock: { baseUrl: model.url, apiKey: "none", api: "openai-completions", models } } },
      tools: { exec: { host: "gateway", security: "full", ask: "off" } },
    }),
  );
  const records = (): readonly string[] => {
    try {
      return readdirSync(join(place.stateDir, "commands"));
    } catch {
      return [];
    }
  };
  const running: ProcessIdentity[] = [];
  onTestFinished(() => {
    for (const identity of running) if (isRunning(identity)) process.kill(-identity.pid, "SIGKILL");
  });

  await using first = await place.gateway();
  {
    await using client = await enter(first.url!, { token: TOKEN, scopes: ["operator.admin"] });
    const send = (sessionKey: string, message: string) => client.ask("chat.send", { sessionKey, message, idempotencyKey: message });
    await model.plan({ tool: "exec", args: JSON.stringify({ command: "sleep 613", background: true }) }, { say: "It runs." });
    await send("agent:main:web:back", "one");
    await client.next(({ event, payload }) => event === "chat" && payload?.["state"] === "final");
    await model.plan({ tool: "exec", args: JSON.stringify({ command: "true; sleep 614; true" }) }, { say: "Never." });
    await send("agent:main:web:front", "two");
    await expect.poll(() => records().length, SOON).toBe(2);
  }
  running.push(...records().map((name) => identify(Number.parseInt(name, 10))));
  first.child.kill("SIGKILL");
  await first.exited;
  expect(running.map(isRunning)).toEqual([true, true]);

  await using second = await place.gateway();
  await expect.poll(() => running.some(isRunning), SOON).toBe(false);
  expect(records()).toEqual([]);
  await using client = await enter(second.url!, { token: TOKEN, scopes: ["operator.admin"] });
  await model.plan({ say: "I see." });
  await client.ask("chat.send", { sessionKey: "agent:main:web:back", message: "three", idempotencyKey: "three" });
  const page = async (): Promise<string> => JSON.stringify((await client.ask("chat.page", { sessionKey: "agent:main:web:back" })).payload);
  await expect.poll(page, SOON).toMatch(/Exec interrupted \([a-z-]+, outcome-unknown: the gateway was killed while it ran\): sleep 613/);
});
