import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Io } from "../../../io.ts";
import { describeService, type ServiceFacts } from "./definition.ts";
import { installGateway } from "../install.ts";
import { commandLines, control, parseLaunchd, parseSystemd, parseTask, restartService } from "./service.ts";

const FACTS: ServiceFacts = {
  platform: "linux",
  home: "/home/me",
  stateDir: "/home/me/.openclaw",
  configPath: "/home/me/.openclaw/openclaw.json",
  profile: undefined,
  port: 18_789,
  version: "1.2.3",
  program: { node: "/opt/openclaw/node/bin/node", entry: "/opt/openclaw/bin/openclaw" },
  temporary: "/tmp",
  uid: 501,
};

test("the systemd unit runs the pinned runtime, comes back by itself and waits for the network", () => {
  const { label, file, content, mode } = describeService(FACTS)!;
  expect([label, file, mode]).toEqual(["openclaw-gateway.service", "/home/me/.config/systemd/user/openclaw-gateway.service", 0o644]);
  for (const line of [
    "After=network-online.target",
    "Wants=network-online.target",
    "ExecStart=/opt/openclaw/node/bin/node /opt/openclaw/bin/openclaw gateway --port 18789",
    "Restart=always",
    "RestartSec=5",
    "KillMode=process",
    "WantedBy=default.target",
    'Environment="OPENCLAW_SYSTEMD_UNIT=openclaw-gateway.service"',
  ]) {
    expect(content.split("\n")).toContain(line);
  }
});

test("a profile has a service of its own", () => {
  expect(describeService({ ...FACTS, profile: "work" })!).toMatchObject({ label: "openclaw-gateway-work.service" });
  expect(describeService({ ...FACTS, profile: "Default" })!).toMatchObject({ label: "openclaw-gateway.service" });
  expect(describeService({ ...FACTS, platform: "darwin", profile: "work" })!).toMatchObject({ label: "ai.openclaw.work" });
});

test("a token in the file is for its owner's eyes only", () => {
  const { content, mode } = describeService({ ...FACTS, token: "secret" })!;
  expect([mode, content.includes('Environment="OPENCLAW_GATEWAY_TOKEN=secret"')]).toEqual([0o600, true]);
});

test("odd characters in paths mean themselves", () => {
  const { content } = describeService({ ...FACTS, stateDir: '/home/me/50% "off"\\x', program: { node: "/a $b/node", entry: "/e" } })!;
  expect(content).toContain(String.raw`Environment="OPENCLAW_STATE_DIR=/home/me/50%% \"off\"\\x"`);
  expect(content).toContain('ExecStart="/a $$b/node" /e gateway');
});

test("the launchd agent is loaded at login, kept alive and logs into the state folder", () => {
  const { label, file, content, load, stop } = describeService({ ...FACTS, platform: "darwin", home: "/Users/a&b" })!;
  expect([label, file]).toEqual(["ai.openclaw.gateway", "/Users/a&b/Library/LaunchAgents/ai.openclaw.gateway.plist"]);
  expect(content).toMatch(/<key>RunAtLoad<\/key>\s*<true\/>\s*<key>KeepAlive<\/key>\s*<true\/>/);
  expect(content).toMatch(
    /<key>ProgramArguments<\/key>\s*<array>\s*<string>\/opt\/openclaw\/node\/bin\/node<\/string>\s*<string>\/opt\/openclaw\/bin\/openclaw<\/string>/,
  );
  expect(content).toContain("<string>/Users/a&amp;b</string>");
  expect(content).toContain("<string>/home/me/.openclaw/logs/gateway.log</string>");
  expect([load, stop]).toEqual([[["launchctl", "bootstrap", "gui/501", file]], [["launchctl", "bootout", "gui/501/ai.openclaw.gateway"]]]);
});

const WINDOWS: Partial<ServiceFacts> = {
  platform: "win32",
  home: "C:\\Users\\Ada",
  stateDir: "C:\\Users\\Ada\\.openclaw",
  configPath: "C:\\Users\\Ada\\.openclaw\\openclaw.json",
  program: { node: "C:\\Program Files\\openclaw\\node.exe", entry: "C:\\Program Files\\openclaw\\bin\\openclaw" },
};

test("a node is a launchd agent of its own", () => {
  const { label, file, content, load, restart } = describeService({ ...FACTS, platform: "darwin", home: "/Users/me", node: ["node", "run"] })!;
  expect([label, file]).toEqual(["ai.openclaw.node", "/Users/me/Library/LaunchAgents/ai.openclaw.node.plist"]);
  const words = [...content.slice(content.indexOf("<array>"), content.indexOf("</array>")).matchAll(/<string>(.*)<\/string>/g)].map(([, word]) => word);
  expect(words).toEqual(["/opt/openclaw/node/bin/node", "/opt/openclaw/bin/openclaw", "node", "run"]);
  expect(content).toContain("<string>/home/me/.openclaw/logs/node.log</string>");
  expect(content).toMatch(/<key>OPENCLAW_LAUNCHD_LABEL<\/key>\s*<string>ai\.openclaw\.node<\/string>/);
  expect(content).not.toContain("OPENCLAW_GATEWAY_PORT");
  expect([load, restart]).toEqual([[["launchctl", "bootstrap", "gui/501", file]], [["launchctl", "kickstart", "-k", "gui/501/ai.openclaw.node"]]]);
});

test("on Windows a node is a task that begins when its user logs on, with a command file in the state folder", () => {
  const { kind, label, file, content, load, unload, forget, show } = describeService({ ...FACTS, ...WINDOWS, node: ["node", "run"] })!;
  expect([kind, label, file]).toEqual(["schtasks", "OpenClaw Node", "C:\\Users\\Ada\\.openclaw\\node.cmd"]);
  expect(content.split("\r\n")).toEqual([
    "@echo off",
    "rem OpenClaw Node (v1.2.3)",
    'cd /d "C:\\Users\\Ada"',
    'set "OPENCLAW_STATE_DIR=C:\\Users\\Ada\\.openclaw"',
    'set "OPENCLAW_CONFIG_PATH=C:\\Users\\Ada\\.openclaw\\openclaw.json"',
    'set "OPENCLAW_TASK_NAME=OpenClaw Node"',
    'set "OPENCLAW_SERVICE_MARKER=openclaw"',
    'set "OPENCLAW_SERVICE_KIND=node"',
    'set "OPENCLAW_SERVICE_VERSION=1.2.3"',
    '"C:\\Program Files\\openclaw\\node.exe" "C:\\Program Files\\openclaw\\bin\\openclaw" "node" "run"',
    "",
  ]);
  expect(load).toEqual([
    ["schtasks", "/Create", "/TN", "OpenClaw Node", "/TR", `"${file}"`, "/SC", "ONLOGON", "/RL", "LIMITED", "/F"],
    ["schtasks", "/Run", "/TN", "OpenClaw Node"],
  ]);
  expect([...unload, ...forget, show].map((line) => line[1])).toEqual(["/End", "/Delete", "/Query"]);
  expect(describeService({ ...FACTS, ...WINDOWS, profile: "work" })!).toMatchObject({ label: "OpenClaw Gateway (work)" });
});

test("on Windows a percent sign in a path is no variable, and a quotation mark ends nothing", () => {
  const { content } = describeService({ ...FACTS, ...WINDOWS, stateDir: 'C:\\50% "& calc &"' })!;
  expect(content).toContain('set "OPENCLAW_STATE_DIR=C:\\50%% & calc &"\r\n');
});

test("the platform's commands are run one after the other until one fails", async () => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-schtasks-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const seen = join(folder, "seen");
  writeFileSync(
    join(folder, "schtasks"),
    `#!/bin/sh\nprintf '%s|' "$@" >> ${seen}; echo >> ${seen}\n[ "$1" != /End ] || { echo "not running" >&2; exit 1; }\n`,
    { mode: 0o755 },
  );
  const io = { env: { PATH: `${folder}:${process.env["PATH"]}` } } as unknown as Io;
  const service = describeService({ ...FACTS, ...WINDOWS, node: ["node", "run"] })!;
  expect(await control(io, service.load)).toBeUndefined();
  // A task that is not running has nothing to end, and is started all the same.
  expect(await restartService(io, service)).toBeUndefined();
  expect(readFileSync(seen, "utf8").trim().split("\n")).toEqual([
    `/Create|/TN|OpenClaw Node|/TR|"${service.file}"|/SC|ONLOGON|/RL|LIMITED|/F|`,
    "/Run|/TN|OpenClaw Node|",
    "/End|/TN|OpenClaw Node|",
    "/Run|/TN|OpenClaw Node|",
  ]);
});

test("commands are shown as they are typed: words with spaces are quoted for the terminals of their platform", () => {
  const windows = describeService({ ...FACTS, ...WINDOWS })!;
  expect(commandLines(windows, windows.load)).toEqual([
    `schtasks /Create /TN "OpenClaw Gateway" /TR "'C:\\Users\\Ada\\.openclaw\\gateway.cmd'" /SC ONLOGON /RL LIMITED /F`,
    `schtasks /Run /TN "OpenClaw Gateway"`,
  ]);
  const irish = describeService({ ...FACTS, ...WINDOWS, stateDir: "C:\\Users\\O'Hara\\.openclaw" })!;
  expect(commandLines(irish, irish.load)[0]).toContain(`/TR "\\"C:\\Users\\O'Hara\\.openclaw\\gateway.cmd\\""`);
  const mac = describeService({ ...FACTS, platform: "darwin", home: "/Users/Ada Lovelace" })!;
  expect(commandLines(mac, mac.load)).toEqual(["launchctl bootstrap gui/501 '/Users/Ada Lovelace/Library/LaunchAgents/ai.openclaw.gateway.plist'"]);
  const linux = describeService(FACTS)!;
  expect(commandLines(linux, linux.load)[1]).toBe("systemctl --user enable --now openclaw-gateway.service");
});

test("on Windows a folder with letters that are not ASCII is read as it is written", () => {
  const { content } = describeService({ ...FACTS, ...WINDOWS, stateDir: "C:\\Users\\Jürgen\\.openclaw" })!;
  expect(content).toMatch(/^@echo off\r\nchcp 65001 >nul\r\nrem /);
});

test.each(["line one\nExecStart=evil", "bell\u0007"])("a token that no service file can hold is refused", async (token) => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-service-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const io = { env: { HOME: folder, OPENCLAW_STATE_DIR: join(folder, "state") }, cwd: folder, version: "1.2.3" } as unknown as Io;
  await expect(installGateway(io, { print: true, token })).rejects.toThrow("--token has control characters");
});

test("other platforms have no service", () => {
  expect(describeService({ ...FACTS, platform: "freebsd" })).toBeUndefined();
});

test("what the platforms say about a service is read", () => {
  expect(parseTask("TaskName:      \\OpenClaw Node\r\nStatus:        Running\r\nLast Result:   267009\r\n")).toEqual({
    loaded: true,
    running: true,
    detail: "Running, last exit 267009",
  });
  expect(parseSystemd("LoadState=loaded\nActiveState=active\nSubState=running\nMainPID=42\nExecMainStatus=0\n")).toEqual({
    loaded: true,
    running: true,
    pid: 42,
    detail: "active (running), last exit 0",
  });
  expect(parseSystemd("LoadState=not-found\nActiveState=inactive\nSubState=dead\nMainPID=0\n")).toMatchObject({ loaded: false, running: false });
  expect(parseLaunchd("gui/501/x = {\n\tstate = running\n\tpid = 42\n\tlast exit code = 1\n}")).toEqual({
    loaded: true,
    running: true,
    pid: 42,
    detail: "running, last exit 1",
  });
});
