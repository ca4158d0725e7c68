import { expect, test } from "vitest";
import { describeService, type ServiceFacts } from "./definition.ts";
import { parseLaunchd, parseSystemd } from "./service.ts";

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

test("other platforms have no service", () => {
  expect(describeService({ ...FACTS, platform: "win32" })).toBeUndefined();
});

test("what the platforms say about a service is read", () => {
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
