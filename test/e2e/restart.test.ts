import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { connectNode } from "../../src/protocol/client/node.ts";
import type { GatewayClient } from "../../src/protocol/client/client.ts";
import { enter } from "../harness/device-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";
const GATEWAY = `mode: "local", auth: { token: "${TOKEN}" }`;
const QUICK = "reload: { debounceMs: 10 }";

function place(gateway = "", rest = ""): Place {
  const made = makePlace();
  made.configure(`{ gateway: { ${GATEWAY}, ${gateway} }, ${rest} }`);
  return made;
}

/** A client that comes back by itself. */
function connectTo(gateway: GatewayProcess): Promise<GatewayClient> {
  const client = { id: "test", mode: "test", version: "1.0.0", platform: "linux" } as const;
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-client-"));
  return connectNode({ url: gateway.url!, token: TOKEN, client, stateDir, reconnect: { firstMs: 20, maxMs: 50 } });
}

const times = (gateway: GatewayProcess, text: string): number => gateway.output().split(text).length - 1;
const isBack = (gateway: GatewayProcess, starts = 2): Promise<void> => gateway.waitFor(new RegExp(Array(starts).fill("ready on").join("[^]*?")));
const lockOf = ({ stateDir }: Place): { pid: number; port: number } => JSON.parse(readFileSync(join(stateDir, "gateway.lock"), "utf8"));
const baseHash = async (client: GatewayClient): Promise<string> => (await client.request("config.get", {})).hash!;

/** What the assistant said in the main session. */
async function answers(client: GatewayClient): Promise<readonly unknown[]> {
  const { messages } = (await client.call("chat.history", { sessionKey: "main" })) as { messages: { role: string; content: { text: string }[] }[] };
  return messages.filter(({ role }) => role === "assistant").map(({ content }) => content[0]?.text);
}

describe("by config.apply and config.patch", () => {
  test("clients are notified and closed with 1012, the same process opens again on its port, and the new file is in use", async () => {
    const home = place();
    await using gateway = await home.gateway();
    await using watcher = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.read"] });
    await using client = await connectTo(gateway);
    const before = client.hello.server.connId;
    const raw = `{ gateway: { ${GATEWAY} }, ui: { seamColor: "#ff0000" } }`;
    const params = { raw, baseHash: await baseHash(client), restartDelayMs: 0, sessionKey: "main", note: "a new colour", idempotencyKey: "apply-1" };
    const answer = await client.request("config.apply", params);
    const { pid } = gateway.child;
    expect(answer.restart).toEqual({
      ok: true,
      pid,
      signal: "SIGUSR1",
      mode: "emit",
      delayMs: 0,
      reason: "config.apply",
      coalesced: false,
      cooldownMsApplied: 0,
    });
    const path = join(home.stateDir, "restart-sentinel.json");
    expect(answer.sentinel).toMatchObject({ path, payload: { kind: "config-apply", sessionKey: "main", message: "a new colour" } });
    expect((await watcher.event("shutdown")).payload).toEqual({ reason: "gateway restarting", restartExpectedMs: 1500 });
    expect(await watcher.closed).toEqual({ code: 1012, reason: "service restart" });

    await isBack(gateway);
    const { queuedSystemEvents } = await client.request("status", {});
    expect(client.hello.server.connId).not.toBe(before);
    expect(queuedSystemEvents).toEqual(["Gateway restarted: config-apply ok (config.apply)\na new colour"]);
    expect(existsSync(path)).toBe(false);
    expect(await client.request("config.get", {})).toMatchObject({ config: { ui: { seamColor: "#ff0000" } } });
    expect(lockOf(home)).toMatchObject({ pid, port: Number(new URL(gateway.url!).port) });

    // The same request again is the same answer, and no second restart.
    expect(await client.request("config.apply", params)).toEqual(answer);
    expect(times(gateway, "restarting:")).toBe(1);
  });

  test("several requests are one restart: the earliest decides, the others say so", async () => {
    await using gateway = await place().gateway();
    await using client = await connectTo(gateway);
    const patch = async (seamColor: string, restartDelayMs: number) =>
      client.request("config.patch", { raw: JSON.stringify({ ui: { seamColor } }), baseHash: await baseHash(client), restartDelayMs });
    expect((await patch("#000001", 30_000)).restart).toMatchObject({ ok: true, delayMs: 30_000, coalesced: false });
    expect((await patch("#000002", 60_000)).restart).toMatchObject({ ok: true, reason: "config.patch", coalesced: true });
    expect((await patch("#000003", 0)).restart).toMatchObject({ ok: true, delayMs: 0, coalesced: false });
    await isBack(gateway);
    expect(await client.request("config.get", {})).toMatchObject({ config: { ui: { seamColor: "#000003" } } });
    expect(times(gateway, "restarting:")).toBe(1);
  });

  test("a gateway that waits for its restart ends at SIGTERM all the same", async () => {
    await using gateway = await place().gateway();
    await using client = await connectTo(gateway);
    await client.request("config.patch", { raw: "{ ui: { seamColor: '#00ff00' } }", baseHash: await baseHash(client) });
    gateway.child.kill("SIGTERM");
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(times(gateway, "restarting:")).toBe(0);
  });
});

describe("by SIGUSR1", () => {
  test("it restarts again and again in one process, and the lock is held throughout", async () => {
    const home = place();
    await using gateway = await home.gateway();
    for (let starts = 2; starts <= 4; starts += 1) {
      gateway.child.kill("SIGUSR1");
      await isBack(gateway, starts);
    }
    expect(lockOf(home).pid).toBe(gateway.child.pid);
    await using second = await home.gateway();
    expect((await second.exited).code).toBe(1);
    expect(second.output()).toContain(`process ${gateway.child.pid}`);
    gateway.child.kill("SIGTERM");
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(existsSync(join(home.stateDir, "gateway.lock"))).toBe(false);
  });

  test("commands.restart: false forbids it, for the command line too", async () => {
    const home = place("", "commands: { restart: false }");
    await using gateway = await home.gateway();
    gateway.child.kill("SIGUSR1");
    await gateway.waitFor("SIGUSR1 is ignored: commands.restart is false");
    expect(home.cli("gateway", "restart")).toMatchObject({ code: 1, stderr: expect.stringContaining("commands.restart is false") });
    expect(times(gateway, "restarting:")).toBe(0);
  });

  test("a run that was accepted before it is finished first, its answer reaches the client, and it is answered once", async () => {
    await using gateway = await place().gateway();
    await using client = await connectTo(gateway);
    const final = Promise.withResolvers<void>();
    client.on("chat", ({ runId, state }) => runId === "run-1" && state === "final" && final.resolve());
    const message = { sessionKey: "main", message: "hello @chunks=6 @gap=50", idempotencyKey: "run-1" };
    expect(await client.request("chat.send", message)).toMatchObject({ runId: "run-1" });
    gateway.child.kill("SIGUSR1");
    await gateway.waitFor("waits for 1 runs");
    await final.promise;
    await isBack(gateway);
    expect(await client.request("chat.send", message)).toMatchObject({ runId: "run-1", status: "ok" });
    expect(await answers(client)).toEqual(["hello w1 w2 w3 w4 w5"]);
  });

  test("messages sent all through a restart are each answered once, whichever side of it they fell on", async () => {
    await using gateway = await place().gateway();
    await using client = await connectTo(gateway);
    const texts = Array.from({ length: 60 }, (_, index) => `message ${index}`);
    const send = (from: number): Promise<unknown>[] =>
      texts
        .slice(from, from + 20)
        .map((message) => client.request("chat.send", { sessionKey: "main", message: `${message} @chunks=1`, idempotencyKey: message }));
    const sent = send(0);
    gateway.child.kill("SIGUSR1");
    sent.push(...send(20));
    await gateway.waitFor("restarting: SIGUSR1");
    sent.push(...send(40));
    expect(await Promise.all(sent)).toHaveLength(texts.length);
    await isBack(gateway);
    await expect.poll(async () => (await answers(client)).length).toBe(texts.length);
    expect(new Set(await answers(client))).toEqual(new Set(texts));
  });
});

describe("by the command line", () => {
  test("gateway restart restarts the process that runs, and returns when it answers again", async () => {
    const home = place();
    await using gateway = await home.gateway();
    const { code, stdout } = home.cli("gateway", "restart", "--json");
    expect(code).toBe(0);
    const { pid } = gateway.child;
    expect(JSON.parse(stdout)).toEqual({ ok: true, restarted: true, pid, url: gateway.url!.replace("http", "ws"), durationMs: expect.any(Number) });
    expect(home.cli("gateway", "restart")).toMatchObject({ code: 0, stdout: expect.stringContaining(`Process ${pid} answers on`) });
    await isBack(gateway, 3);
    expect(times(gateway, "restarting:")).toBe(2);
  });

  test("without a gateway it says how to start one", () => {
    expect(place().cli("gateway", "restart")).toMatchObject({ code: 1, stderr: expect.stringMatching(/no gateway is running on .*openclaw gateway/) });
  });

  test("usage-cost shows what was used by day, or that nothing was", async () => {
    const home = place();
    await using gateway = await home.gateway();
    expect(gateway.url).toBeDefined();
    expect(home.cli("gateway", "usage-cost")).toMatchObject({ code: 0, stdout: "No usage in the last 30 days\n" });
    expect(JSON.parse(home.cli("gateway", "usage-cost", "--days", "7", "--json").stdout)).toMatchObject({ days: 7, daily: [], totals: { totalCost: 0 } });
    expect(home.cli("gateway", "usage-cost", "--days", "none")).toMatchObject({ code: 1, stderr: expect.stringContaining("--days") });
  });
});

describe("by a change of the file", () => {
  test("what needs a restart restarts it; what is read on use does not, and is used", async () => {
    const home = place(QUICK, 'logging: { consoleLevel: "info" }');
    await using gateway = await home.gateway();
    home.configure(`{ gateway: { ${GATEWAY}, ${QUICK} }, logging: { consoleLevel: "debug" }, agents: { defaults: { heartbeat: { every: "0m" } } } }`);
    await gateway.waitFor(/configuration changed: .*logging\.consoleLevel/);
    // At the new level, in the gateway that ran with the old one.
    await gateway.waitFor('"heartbeat" is not running yet');
    expect(times(gateway, "restarting:")).toBe(0);
    home.configure(`{ gateway: { ${GATEWAY}, ${QUICK} }, commands: { text: false } }`);
    await gateway.waitFor(/restarting: config change: .*commands\.text/);
    await isBack(gateway);
  });

  test.each([
    ["hot", "config reload requires gateway restart; hot mode ignoring (commands.text)"],
    ["off", "config reload is off; ignoring (commands.text)"],
  ])("gateway.reload.mode %s leaves it running, and says so", async (mode, said) => {
    const reload = `reload: { debounceMs: 10, mode: "${mode}" }`;
    const home = place(reload);
    await using gateway = await home.gateway();
    home.configure(`{ gateway: { ${GATEWAY}, ${reload} }, commands: { text: false } }`);
    await gateway.waitFor(said);
    expect(times(gateway, "a restart is planned")).toBe(0);
    // The mode of the new file counts: this one restarts for anything.
    home.configure(`{ gateway: { ${GATEWAY}, reload: { debounceMs: 10, mode: "restart" } }, commands: { text: false } }`);
    await isBack(gateway);
  });

  test("config.set restarts it when its change needs that", async () => {
    await using gateway = await place().gateway();
    await using client = await connectTo(gateway);
    await client.request("config.set", { raw: `{ gateway: { ${GATEWAY} }, commands: { text: false } }`, baseHash: await baseHash(client) });
    await isBack(gateway);
    expect(gateway.output()).toContain("restarting: config change: commands.text");
  });

  test("a file that is mended to what it was is valid again", async () => {
    const home = place(QUICK);
    await using gateway = await home.gateway();
    const good = readFileSync(home.configPath, "utf8");
    home.configure("{ broken");
    await gateway.waitFor("config reload skipped (invalid config)");
    home.configure(good);
    await gateway.waitFor("is valid again");
    expect(JSON.parse(home.cli("status", "--json").stdout).health).toMatchObject({ status: "ok", problems: [] });
    expect(times(gateway, "restarting:")).toBe(0);
  });

  test("a gateway that cannot be opened again says why, in its log too, ends with 1 and leaves no lock", async () => {
    const home = place(QUICK);
    await using gateway = await home.gateway();
    {
      using db = new DatabaseSync(join(home.stateDir, "openclaw.db"));
      db.exec("PRAGMA user_version = 900; UPDATE meta SET value = '800' WHERE key = 'store.min_reader'");
    }
    home.configure(`{ gateway: { ${GATEWAY}, ${QUICK}, controlUi: { basePath: "/other" } } }`);
    gateway.child.kill("SIGUSR1");
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    const why = /the gateway could not start again after a restart \(.*\): the database has schema version 900/;
    expect(gateway.output()).toMatch(why);
    expect(home.cli("logs").stdout).toMatch(why);
    expect(existsSync(join(home.stateDir, "gateway.lock"))).toBe(false);
  });
});
