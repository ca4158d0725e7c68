import { createServer } from "node:net";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ServiceFacts } from "./deps.ts";
import { makeDoctorPlace, type DoctorPlace, type PlaceOptions } from "./place.fixture.ts";
import { auditService, isCustom } from "./service-audit.ts";

const UNIT = [
  "[Unit]",
  "After=network-online.target",
  "Wants=network-online.target",
  "[Service]",
  `ExecStart=${process.execPath} /opt/openclaw/bin/openclaw gateway --port 1`,
  "RestartSec=5",
  'Environment="PATH=/usr/local/bin:/usr/bin:/bin"',
  'Environment="OPENCLAW_SERVICE_MARKER=openclaw"',
  "",
].join("\n");

const PLIST = `<plist><dict><key>Label</key><string>ai.openclaw.gateway</string><key>RunAtLoad</key><true/><key>KeepAlive</key><true/>
<key>ProgramArguments</key><array><string>${process.execPath}</string><string>/opt/openclaw/bin/openclaw</string><string>gateway</string></array>
<key>EnvironmentVariables</key><dict><key>PATH</key><string>/usr/bin:/bin</string><key>OPENCLAW_SERVICE_MARKER</key><string>openclaw</string></dict></dict></plist>`;

function facts(over: Partial<ServiceFacts> = {}): ServiceFacts & { readonly installed: string } {
  const base = {
    kind: "systemd" as const,
    label: "a",
    file: "/a/openclaw-gateway.service",
    content: UNIT,
    folders: { user: [], system: [] },
    renew: () => Promise.resolve("done"),
    ...over,
  };
  return { ...base, installed: over.installed ?? base.content };
}

const codes = (installed: string, token?: string, kind: ServiceFacts["kind"] = "systemd"): string[] =>
  auditService(facts({ kind, content: kind === "systemd" ? UNIT : PLIST, installed }), token).map(({ code }) => code);

test("what this version installs is right", () => {
  expect([codes(UNIT), codes(PLIST, undefined, "launchd"), isCustom(facts())]).toEqual([[], [], false]);
});

test.each([
  ["gateway-command-missing", UNIT.replace(/ExecStart=.*/, "")],
  ["gateway-command-missing", UNIT.replace("gateway --port 1", "tui")],
  ["gateway-entrypoint-mismatch", UNIT.replace("/opt/openclaw", "/opt/older")],
  ["gateway-path-missing", UNIT.replace(/Environment="PATH.*/, "")],
  ["gateway-path-missing-dirs", UNIT.replace("/usr/local/bin:", "")],
  ["gateway-path-nonminimal", UNIT.replace("/usr/bin:", "/usr/bin:/home/me/.nvm/bin:")],
  ["gateway-runtime-bun", UNIT.replace(process.execPath, "bun")],
  ["systemd-after-network-online", UNIT.replace("After=network-online.target", "")],
  ["systemd-wants-network-online", UNIT.replace("Wants=network-online.target", "")],
  ["systemd-restart-sec", UNIT.replace("RestartSec=5", "RestartSec=0")],
])("%s", (code, installed) => {
  expect(codes(installed)).toEqual([code]);
});

test("a Node that is gone, and one of a version manager", () => {
  expect(codes(UNIT.replace(process.execPath, "/home/me/.nvm/versions/node/v20/bin/node"))).toEqual([
    "gateway-runtime-node-version-manager",
    "gateway-runtime-node-system-missing",
  ]);
});

test("a token that is not the configuration's", () => {
  const withToken = `${UNIT}Environment="OPENCLAW_GATEWAY_TOKEN=abc"\n`;
  expect([codes(withToken, "abc"), codes(withToken, "xyz"), codes(withToken)]).toEqual([[], ["gateway-token-mismatch"], ["gateway-token-drift"]]);
});

test("launchd: started at login, and again when it ends", () => {
  const text = PLIST.replace("<key>KeepAlive</key><true/>", "<key>KeepAlive</key><false/>").replace("<key>RunAtLoad</key><true/>", "");
  expect(codes(text, undefined, "launchd")).toEqual(["launchd-keep-alive", "launchd-run-at-load"]);
});

test("a file that the user wrote or added to is custom", () => {
  expect(
    [UNIT.replace("OPENCLAW_SERVICE_MARKER=openclaw", "A=1"), `${UNIT}MemoryMax=1G\n`, `${UNIT}Environment="MINE=1"\n`].map((installed) =>
      isCustom(facts({ installed })),
    ),
  ).toEqual([true, true, true]);
});

function place(options: PlaceOptions = {}): DoctorPlace {
  const made = makeDoctorPlace({ config: "{}", ...options });
  onTestFinished(made.remove);
  return made;
}

test("all that is wrong with a file goes with one rewrite", async () => {
  let renewed = 0;
  const service = facts({ installed: UNIT.replace("RestartSec=5", "").replace("/usr/local/bin:", ""), renew: async () => `rewrite ${(renewed += 1)}` });
  const outcomes = await place().look(["service.file"], { fix: true, service: () => service });
  expect([renewed, outcomes.map(({ id, repaired }) => [id, repaired])]).toEqual([
    1,
    [
      ["service.file:gateway-path-missing-dirs", "rewrite 1"],
      ["service.file:systemd-restart-sec", "rewrite 1"],
    ],
  ]);
});

test("a token that only the service file has is saved before the file is rewritten", async () => {
  const here = place({ config: `{ gateway: { mode: "local" } }` });
  const service = facts({ installed: `${UNIT}Environment="OPENCLAW_GATEWAY_TOKEN=only-here"\n` });
  const [outcome] = await here.look(["service.file"], { fix: true, service: () => service });
  expect(outcome).toMatchObject({ id: "service.file:gateway-token-drift", repaired: expect.stringContaining("Saved its token") });
  expect(outcome!.repaired).not.toContain("only-here");
  expect(here.read(here.configPath)).toContain("only-here");
});

test("other services that start a gateway are named; the machine's own only with --deep", async () => {
  const here = place();
  const [user, system] = [join(here.home, "user"), join(here.home, "system")];
  for (const folder of [user, system]) {
    mkdirSync(folder);
    writeFileSync(join(folder, "clawdbot-gateway.service"), "ExecStart=clawdbot gateway");
    writeFileSync(join(folder, "openclaw-node.service"), "ExecStart=openclaw node run");
  }
  const service = (): ServiceFacts => facts({ folders: { user: [user], system: [system] } });
  const named = async (deep: boolean): Promise<string[]> => (await here.look(["service.others"], { service, deep })).map(({ text }) => text);
  expect(await named(false)).toEqual([`${join(user, "clawdbot-gateway.service")} also starts a gateway`]);
  expect(await named(true)).toHaveLength(2);
});

test("a service that stops at logout is reported once it is installed", async () => {
  const here = place();
  expect(await here.look(["service.linger"], { service: () => facts() })).toMatchObject([{ level: "info", todo: "loginctl enable-linger" }]);
  expect(await here.look(["service.linger"], { service: () => ({ ...facts(), installed: undefined }) })).toMatchObject([{ level: "ok" }]);
});

test("a port that another program uses is reported, unless it is our own gateway", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  const here = place({ config: `{ gateway: { port: ${port} } }` });
  expect(await here.look(["gateway.instances"])).toMatchObject([{ id: "gateway.instances:port", level: "warn", text: expect.stringContaining(String(port)) }]);
  writeFileSync(
    join(here.state, "gateway.lock"),
    JSON.stringify({ pid: process.pid, createdAt: new Date(0).toISOString(), configPath: here.configPath, stateDir: here.state }),
  );
  expect(await here.look(["gateway.instances"])).toMatchObject([{ level: "ok" }]);
});
