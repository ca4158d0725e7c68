import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDevice } from "../harness/auth.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { freePort } from "../harness/free-port.ts";
import { runCommand } from "../harness/program.ts";
import { createStranger } from "../harness/stranger.ts";
import { fakePrograms } from "../setup/fake-programs.ts";

const TOKEN = "a-token-of-this-test-0123456789";
const CONFIG = `{ gateway: { mode: "local", auth: { token: "${TOKEN}" } } }`;

describe("with a running gateway", () => {
  let place: Place;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    place = makePlace();
    place.configure(CONFIG);
    gateway = await place.gateway();
    expect(gateway.url, gateway.output()).toBeDefined();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const json = (...args: string[]) => {
    const { code, stdout, stderr } = place.cli(...args, "--json");
    expect(code, stdout + stderr).toBe(0);
    return JSON.parse(stdout);
  };

  test("health, gateway health and call answer the same report", () => {
    const report = { ok: true, defaultAgentId: "main", channels: expect.any(Object), sessions: { count: expect.any(Number) } };
    expect(json("health")).toMatchObject(report);
    expect(json("gateway", "health")).toMatchObject(report);
    expect(json("call", "health")).toMatchObject(report);
    expect(place.cli("gateway", "health").stdout).toMatch(/^OK \(\d+ ms\), no channels\n$/);
  });

  test("call takes JSON5 and shows what the gateway refuses", () => {
    expect(json("gateway", "call", "sessions.list", "--params", "{ limit: 1 }")).toMatchObject({ count: expect.any(Number), sessions: expect.any(Array) });
    expect(place.cli("call", "sessions.list", "--params", "{ limit: 0 }")).toMatchObject({ code: 1, stderr: expect.stringContaining("/limit") });
    expect(place.cli("call", "no.such")).toMatchObject({ code: 1, stderr: expect.stringContaining("unknown method: no.such") });
    expect(place.cli("call", "health", "--params", "{")).toMatchObject({ code: 1 });
  });

  test("the commands are one device, let in without asking, whatever they ask for", () => {
    json("health");
    json("devices", "list");
    const { paired } = json("devices", "list");
    expect(paired.filter((device: { clientId?: string }) => device.clientId === "cli")).toHaveLength(1);
    expect(statSync(join(place.stateDir, "identity", "device.json")).mode & 0o777).toBe(0o600);
  });

  test("status --deep and gateway probe tell who is connected; gateway status that it answers", () => {
    expect(json("status", "--deep").deep).toMatchObject({ ok: true, presence: expect.arrayContaining([expect.objectContaining({ mode: "gateway" })]) });
    expect(json("gateway", "probe")).toMatchObject({ ok: true, primaryTargetId: "localLoopback", targets: [{ connect: { ok: true }, health: { ok: true } }] });
    expect(json("gateway", "status")).toMatchObject({ service: { loaded: false }, rpc: { ok: true, url: gateway.url!.replace("http", "ws") } });
  });

  test("the dashboard's link carries a code that works once where servers never see it, and the token nowhere", async () => {
    const { url, opened, expiresAt } = json("dashboard", "--no-open");
    expect([url, opened]).toEqual([expect.stringMatching(new RegExp(`^${gateway.url}/#code=[\\w-]{32}$`)), false]);
    expect(expiresAt - Date.now()).toBeGreaterThan(500_000);
    const { id, publicKey } = createDevice();
    const login = () =>
      fetch(`${gateway.url}/__openclaw/login`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: gateway.url! },
        body: JSON.stringify({ code: url.split("#code=")[1], device: { id, publicKey } }),
      });
    expect(await (await login()).json()).toMatchObject({ ok: true, role: "operator", deviceToken: expect.any(String) });
    expect((await login()).status).toBe(401);
    const plain = place.cli("dashboard", "--no-open");
    expect([plain.code, plain.stdout]).toEqual([0, expect.stringMatching(/^http:\S+#code=[\w-]{32}\n$/)]);
    const code = plain.stdout.trim().split("#code=")[1]!;
    const kept = readdirSync(place.stateDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(kept.length).toBeGreaterThan(3);
    for (const file of kept) expect([file.name, readFileSync(join(file.parentPath, file.name)).includes(code)]).toEqual([file.name, false]);
    expect(gateway.output()).not.toContain("#code=");
    expect(json("devices", "remove", id)).toEqual({ deviceId: id });
  });

  test("with --url nothing stored is used", () => {
    const url = gateway.url!.replace("http", "ws");
    expect(place.cli("health", "--url", url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("--url uses no stored credential: add --token or --password"),
    });
    expect(place.cli("health", "--url", url, "--token", "wrong")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("refused the connection: unauthorized"),
    });
    expect(json("health", "--url", url, "--token", TOKEN)).toMatchObject({ ok: true });
  });

  test("a device from elsewhere waits until it is approved; its token can be rotated, revoked and forgotten", async () => {
    const stranger = createStranger(gateway.url!, TOKEN);
    const requestId = await stranger.ask();
    expect(json("devices", "list").pending).toMatchObject([{ requestId, deviceId: stranger.deviceId, displayName: "far away" }]);
    expect(json("devices", "approve", "--latest")).toMatchObject({ requestId, device: { deviceId: stranger.deviceId } });
    await using first = await stranger.connect();
    await using client = await stranger.connect();
    expect(first.hello.auth?.deviceToken).toBe(client.hello.auth?.deviceToken);
    const device = ["--device", stranger.deviceId, "--role", "operator"];
    const shown = place.cli("devices", "list").stdout;
    expect(shown).toMatch(/^Pending \(0\)\n[^]*Paired \(\d+\)\nName +Device +Since +Roles\n/);
    expect([shown.includes(stranger.deviceId.slice(0, 12)), shown.includes(stranger.deviceId)]).toEqual([true, false]);
    expect(json("devices", "rotate", ...device)).toMatchObject({ deviceId: stranger.deviceId, token: expect.stringMatching(/^[\w-]{43}$/) });
    expect(await client.closed).toMatchObject({ details: { closeCode: 1008 } });
    expect(json("devices", "revoke", ...device)).toMatchObject({ deviceId: stranger.deviceId, revokedAtMs: expect.any(Number) });
    expect(json("devices", "remove", stranger.deviceId.slice(0, 12))).toEqual({ deviceId: stranger.deviceId });
    expect(json("devices", "list").paired.map((known: { deviceId: string }) => known.deviceId)).not.toContain(stranger.deviceId);
  });

  test("a rejected request is gone, and clear leaves only this machine", async () => {
    const [first, second] = [createStranger(gateway.url!, TOKEN), createStranger(gateway.url!, TOKEN)];
    expect(json("devices", "reject", await first.ask())).toMatchObject({ deviceId: first.deviceId });
    await second.ask();
    expect(place.cli("devices", "clear", "--pending")).toMatchObject({ code: 1, stderr: expect.stringContaining("--yes") });
    expect(json("devices", "clear", "--pending", "--yes")).toMatchObject({ ok: true, rejected: [expect.any(String)] });
    const { pending, paired } = json("devices", "list");
    expect([pending, paired.length]).toEqual([[], 1]);
    expect(place.cli("devices", "approve")).toMatchObject({ code: 1, stderr: expect.stringContaining("no pending requests") });
  });
});

test("gateway stop ends the process that holds the lock and waits for it; without one it says so", async () => {
  const place = makePlace();
  place.configure(CONFIG);
  await using gateway = await place.gateway();
  const stopped = JSON.parse(place.cli("gateway", "stop", "--json").stdout);
  expect(stopped).toEqual({ ok: true, stopped: true, pid: gateway.child.pid });
  expect((await gateway.exited).code).toBe(0);
  expect(place.cli("gateway", "stop")).toMatchObject({ code: 0, stdout: expect.stringContaining("No gateway is running on") });
});

describe.runIf(process.platform === "linux")("gateway stop and the service manager", () => {
  const UNIT = "openclaw-gateway.service";
  /** A systemd whose service waits to start its process again. */
  const waiting = (pid: number | string = 0): string =>
    `case "$*" in *show*) printf 'LoadState=loaded\\nActiveState=activating\\nSubState=auto-restart\\nMainPID=%s\\nExecMainStatus=1\\n' ${pid};; esac`;
  const install = (place: Place, stateDir: string): void => {
    const folder = join(place.home, ".config/systemd/user");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, UNIT), `[Service]\nEnvironment="OPENCLAW_STATE_DIR=${stateDir}"\n`);
  };

  test("a service whose process holds no lock at this moment is stopped, so that it does not start again", () => {
    const place = makePlace();
    place.configure(CONFIG);
    install(place, place.stateDir);
    const { path, calls } = fakePrograms(place.home, { systemctl: waiting() });
    const { code, stdout } = runCommand(place, ["gateway", "stop", "--json"], { env: { PATH: path } });
    expect([code, JSON.parse(stdout)]).toEqual([0, { ok: true, stopped: true, service: UNIT }]);
    expect(calls().at(-1)).toBe(`systemctl --user stop ${UNIT}`);
  });

  test("a service that waits for the folder of another process is stopped with it", async () => {
    const place = makePlace();
    place.configure(CONFIG);
    install(place, place.stateDir);
    const { path, calls } = fakePrograms(place.home, { systemctl: waiting() });
    await using gateway = await place.gateway();
    const { code, stdout } = runCommand(place, ["gateway", "stop", "--json"], { env: { PATH: path } });
    expect([code, JSON.parse(stdout)]).toEqual([0, { ok: true, stopped: true, pid: gateway.child.pid, service: UNIT }]);
    expect([(await gateway.exited).code, calls().at(-1)]).toEqual([0, `systemctl --user stop ${UNIT}`]);
  });

  test("a service of another state folder is left alone", () => {
    const place = makePlace();
    place.configure(CONFIG);
    install(place, join(place.home, "another"));
    const { path, calls } = fakePrograms(place.home, { systemctl: waiting() });
    const { code, stdout } = runCommand(place, ["gateway", "stop"], { env: { PATH: path } });
    expect([code, stdout, calls()]).toEqual([0, expect.stringContaining("No gateway is running on"), []]);
  });
});

test("a port of the configuration that is taken is not moved to: the gateway keeps the one it has, and health says so", async () => {
  const place = makePlace();
  const [port, taken] = [await freePort(), await freePort()];
  const config = (at: number): string => `{ gateway: { mode: "local", port: ${at}, auth: { mode: "token", token: "a-token-of-the-test" } } }`;
  place.configure(config(port));
  await using gateway = await place.gateway({ portFromConfig: true });
  const other = createServer().listen(taken, "127.0.0.1");
  await once(other, "listening");
  try {
    place.configure(config(taken));
    await gateway.waitFor(`could not switch to port ${taken}`);
    const health = async (): Promise<unknown> => (await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.json();
    await expect.poll(health).toEqual({ ok: true, status: "degraded" });
    expect(place.cli("status").stdout).toContain(`could not switch to port ${taken}`);
    expect(gateway.child.exitCode).toBeNull();
  } finally {
    other.close();
  }
});

describe("without a gateway", () => {
  test.each([["health"], ["gateway", "health"], ["call", "health"], ["devices", "list"], ["dashboard", "--no-open"]])(
    "%s %s ends with 1 and says what was tried",
    (...args) => {
      const place = makePlace();
      place.configure(CONFIG);
      const { code, stderr } = place.cli(...args);
      expect(code).toBe(1);
      expect(stderr).toContain("target: ws://127.0.0.1:18789");
      expect(stderr).toContain(place.configPath);
      expect(stderr).toContain("openclaw gateway");
    },
  );

  test("status --deep and gateway status still end with 0, gateway probe with 1", () => {
    const place = makePlace();
    place.configure(CONFIG);
    expect(place.cli("status", "--deep").code).toBe(0);
    expect(JSON.parse(place.cli("gateway", "status", "--json").stdout)).toMatchObject({ rpc: { ok: false }, port: { status: "free" } });
    expect(JSON.parse(place.cli("gateway", "status", "--no-probe", "--json").stdout)).toMatchObject({ rpc: null });
    expect(place.cli("gateway", "probe").code).toBe(1);
  });

  test("a remote gateway is asked where the configuration says, and never in the clear", () => {
    const place = makePlace();
    place.configure(`{ gateway: { mode: "remote", remote: { url: "ws://203.0.113.9:18789", token: "t" } } }`);
    expect(place.cli("health")).toMatchObject({ code: 1, stderr: expect.stringContaining("would send secrets unencrypted") });
    place.configure(`{ gateway: { mode: "remote", remote: { url: "ws://127.0.0.1:1", token: "t" } } }`);
    expect(place.cli("health").stderr).toContain("ws://127.0.0.1:1 (from gateway.remote.url)");
  });

  test("install --print shows the service and changes nothing", () => {
    const place = makePlace();
    place.configure(CONFIG);
    const { kind, file, content } = JSON.parse(place.cli("gateway", "install", "--print", "--port", "19000", "--json").stdout);
    expect(existsSync(file)).toBe(false);
    expect(content).toContain("19000");
    expect(content).not.toContain(TOKEN);
    if (kind === "systemd") expect(file).toBe(join(place.home, ".config/systemd/user/openclaw-gateway.service"));
    expect(readFileSync(place.configPath, "utf8")).toBe(CONFIG);
  });

  test("restart and start without a service say what there is to do", () => {
    const place = makePlace();
    expect(place.cli("gateway", "restart")).toMatchObject({ code: 1, stderr: expect.stringContaining("openclaw gateway install") });
    expect(place.cli("gateway", "start")).toMatchObject({ code: 1, stderr: expect.stringContaining("is not installed") });
  });
});
