/** The browser of a sandbox, with a stand-in for docker and a real browser behind the published port. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { createSandboxes, explainSandbox } from "../../src/tools/index.ts";
import { makeFakeDocker } from "../fakes/docker.ts";

type Written = NonNullable<NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>["sandbox"]>;

const IMAGE = "openclaw-sandbox-browser:bookworm-slim";
const NAME = "openclaw-sbx-browser-agent-main-f331f052";

/** Answers as a browser's control port does, once it is up. */
async function openPort() {
  let isUp = true;
  const server = createServer((request, response) => response.writeHead(isUp && request.url === "/json/version" ? 200 : 503).end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    up: (next: boolean) => void (isUp = next),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

async function fixture(sandbox: Written) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "sandbox-browser-")));
  const [workspaceDir, stateDir] = [join(base, "workspace"), join(base, "state")];
  for (const folder of [workspaceDir, stateDir]) mkdirSync(folder);
  const docker = makeFakeDocker();
  docker.addImage(IMAGE);
  const cdp = await openPort();
  docker.publish(9222, `127.0.0.1:${cdp.port}`);
  docker.publish(6080, "127.0.0.1:41234");
  const settings = { current: { mode: "all", ...sandbox } as Written };
  let now = 1_800_000_000_000;
  let later = 0;
  const make = () =>
    createSandboxes({
      config: () => ({ agents: { defaults: { sandbox: settings.current } } }),
      stateDir,
      env: { PATH: docker.path },
      home: base,
      uid: 1000,
      // Real waiting, and a calendar that the test moves.
      clock: { ...systemClock, now: () => now, monotonic: () => systemClock.monotonic() + later },
      ids: createIds(systemRandom),
      log: silentLogger,
    });
  const sandboxes = make();
  const caller = { agentId: "main", sessionKey: "agent:main:main", workspaceDir, runId: "r" };
  return {
    docker,
    cdp,
    settings,
    sandboxes,
    stateDir,
    workspaceDir,
    open: () => sandboxes.browser(caller),
    state: () => sandboxes.state(caller),
    registry: () => (JSON.parse(readFileSync(join(stateDir, "sandbox/browsers.json"), "utf8")) as { entries: Record<string, unknown>[] }).entries,
    advance(ms: number) {
      now += ms;
      later += ms;
    },
    async [Symbol.asyncDispose]() {
      await cdp[Symbol.asyncDispose]();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

test("a container is made with the documented labels, variables, mounts and ports, started, and used again", async () => {
  await using place = await fixture({
    docker: { network: "none", memory: "1g", setupCommand: "echo never", binds: ["/opt/data:/data:ro"] },
    browser: { enabled: true },
  });
  const { docker, stateDir, cdp } = place;
  expect(place.state().browser).toEqual({ inside: true, hostAllowed: false });
  const screenUrl = "http://127.0.0.1:41234/vnc.html?autoconnect=1&resize=remote";
  expect(await place.open()).toEqual({ id: "agent-main-f331f052", cdpUrl: `http://127.0.0.1:${cdp.port}`, screenUrl });
  const [create, start, ...rest] = docker.calls().filter(([verb]) => verb !== "port");
  const [entry] = place.registry();
  expect(create).toEqual(
    [
      ["create", "--name", NAME, "--label", "openclaw.sandbox=1", "--label", "openclaw.sessionKey=agent:main"],
      ["--label", `openclaw.createdAtMs=${String(entry!["createdAtMs"])}`, "--label", `openclaw.configHash=${String(entry!["configHash"])}`],
      ["--label", "openclaw.sandboxBrowser=1", "--read-only", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--tmpfs", "/run", "--network", "bridge"],
      ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--memory", "1g", "--env", "LANG=C.UTF-8"],
      ["--env", "OPENCLAW_BROWSER_HEADLESS=0", "--env", "OPENCLAW_BROWSER_ENABLE_NOVNC=1", "--env", "OPENCLAW_BROWSER_CDP_PORT=9222"],
      ["--env", "OPENCLAW_BROWSER_VNC_PORT=5900", "--env", "OPENCLAW_BROWSER_NOVNC_PORT=6080", "--workdir", "/workspace"],
      ["-v", `${stateDir}/sandboxes/agent-main-f331f052:/workspace`, "-v", "/opt/data:/data:ro"],
      ["-p", "127.0.0.1::9222", "-p", "127.0.0.1::6080", IMAGE],
    ].flat(),
  );
  expect(start).toEqual(["start", NAME]);
  expect(rest).toEqual([]);
  expect(entry).toMatchObject({ containerName: NAME, sessionKey: "agent:main", image: IMAGE, cdpPort: cdp.port, noVncPort: 41_234 });
  expect(place.state().browser).toEqual({ inside: true, hostAllowed: false, observerUrl: screenUrl });
  const calls = docker.calls().length;
  await place.open();
  expect(docker.calls()).toHaveLength(calls);
  place.advance(11_000);
  docker.stop(NAME);
  await place.open();
  expect(
    docker
      .calls()
      .filter(([verb]) => verb !== "port")
      .at(-1),
  ).toEqual(["start", NAME]);
});

test("without a screen no port of one is published, and its own mounts take the place of the tools'", async () => {
  await using place = await fixture({
    docker: { binds: ["/opt/data:/data:ro"] },
    browser: { enabled: true, headless: true, binds: [], image: "own:1", cdpPort: 9333 },
  });
  const { docker, cdp } = place;
  docker.addImage("own:1");
  docker.publish(9333, `127.0.0.1:${cdp.port}`);
  expect(await place.open()).not.toHaveProperty("screenUrl");
  const [create] = docker.calls();
  expect(create!.filter((word) => word.startsWith("127.0.0.1"))).toEqual(["127.0.0.1::9333"]);
  expect(create).toContain("OPENCLAW_BROWSER_HEADLESS=1");
  expect(create!.join(" ")).not.toContain("/opt/data");
  expect(create!.at(-1)).toBe("own:1");
});

test("settings that would open it to the host are refused", async () => {
  for (const sandbox of [
    { docker: { seccompProfile: "unconfined" } },
    { browser: { binds: ["/etc:/etc2"] } },
    { browser: { binds: ["relative:/x"] } },
  ] as Written[]) {
    await using place = await fixture({ ...sandbox, browser: { enabled: true, ...sandbox.browser } });
    await expect(place.open()).rejects.toThrow("Sandbox security:");
    expect(place.docker.calls()).toEqual([]);
  }
});

test("a browser that does not answer in time, is not started by itself, or has no image says what to do", async () => {
  await using place = await fixture({ browser: { enabled: true, autoStartTimeoutMs: 300 } });
  place.cdp.up(false);
  await expect(place.open()).rejects.toThrow(`the browser in the container ${NAME} did not answer within 300 ms`);
  place.cdp.up(true);
  expect(await place.open()).toMatchObject({ cdpUrl: `http://127.0.0.1:${place.cdp.port}` });

  await using manual = await fixture({ browser: { enabled: true, autoStart: false } });
  await expect(manual.open()).rejects.toThrow("sandbox.browser.autoStart is off");
  expect(manual.docker.calls()).toEqual([]);

  await using bare = await fixture({ browser: { enabled: true } });
  bare.docker.forgetImages();
  await expect(bare.open()).rejects.toThrow(`Sandbox image not found: ${IMAGE}. Build or pull it first.`);

  await using wide = await fixture({ browser: { enabled: true } });
  wide.docker.publish(9222, `0.0.0.0:${wide.cdp.port}`);
  await expect(wide.open()).rejects.toThrow("not on 127.0.0.1");
});

test("where there is none the answer names the setting", async () => {
  await using off = await fixture({});
  await expect(off.open()).rejects.toThrow("agents.defaults.sandbox.browser.enabled");
  expect(off.state()).not.toHaveProperty("browser");
  await using bwrap = await fixture({ backend: "bwrap", browser: { enabled: true } });
  await expect(bwrap.open()).rejects.toThrow("needs the backend docker, and agents.defaults.sandbox.backend is bwrap");
  expect(bwrap.docker.calls()).toEqual([]);
});

test("idle browsers are removed, and one whose settings changed is made again once it is not in use", async () => {
  await using place = await fixture({ browser: { enabled: true } });
  await place.open();
  place.settings.current = { mode: "all", browser: { enabled: true, headless: true } };
  place.advance(60_000);
  await place.open();
  expect(place.docker.calls().filter(([verb]) => verb === "rm")).toEqual([]);
  place.advance(6 * 60_000);
  await place.open();
  expect(place.docker.calls().filter(([verb]) => verb === "rm")).toEqual([["rm", "-f", NAME]]);
  place.advance(25 * 3_600_000);
  await place.open();
  expect(place.docker.calls().filter(([verb]) => verb === "rm")).toHaveLength(2);
  expect(place.registry()).toHaveLength(1);
});

test("explain says whether the session can use it, and what is missing", () => {
  const explain = (config: OpenClawConfig) => explainSandbox({ config, agentId: "main", stateDir: "/state" }).sandbox.browser;
  const sandbox = { mode: "all" as const, browser: { enabled: true } };
  expect(explain({})).toMatchObject({ enabled: false, usable: false, allowHostControl: false });
  expect(explain({ agents: { defaults: { sandbox } } })).toMatchObject({
    enabled: true,
    usable: false,
    missing: [expect.stringContaining("tools.sandbox.tools")],
  });
  const tools = { sandbox: { tools: { allow: ["browser"], deny: ["nodes"] } } };
  expect(explain({ agents: { defaults: { sandbox } }, tools })).toMatchObject({ usable: true, missing: [], image: IMAGE });
  expect(explain({ agents: { defaults: { sandbox: { ...sandbox, backend: "bwrap" } } }, tools })).toMatchObject({ usable: false });
});
