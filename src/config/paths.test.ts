import { expect, test } from "vitest";
import { AppError } from "../base/errors.ts";
import {
  agentFolder,
  configFile,
  derivedPorts,
  gatewayPort,
  homeFolder,
  lockFile,
  mainAgentFolder,
  oauthFolder,
  sessionIndexFile,
  stateFolder,
  workspaceFolder,
  type PathContext,
} from "./paths.ts";
import { profileEnv } from "./profile.ts";

const on = (env: Record<string, string> = {}, existing: string[] = []): PathContext => ({
  env: { HOME: "/home/me", ...env },
  exists: (path) => existing.includes(path),
  osHome: "/os/home",
  cwd: "/cwd",
});

test("home: OPENCLAW_HOME, then HOME, USERPROFILE, the system's, the working folder", () => {
  expect(homeFolder(on({ OPENCLAW_HOME: "/srv/claw" }))).toBe("/srv/claw");
  expect(homeFolder(on({ OPENCLAW_HOME: "~/claw" }))).toBe("/home/me/claw");
  expect(homeFolder(on())).toBe("/home/me");
  expect(homeFolder(on({ HOME: "", USERPROFILE: "/users/me" }))).toBe("/users/me");
  expect(homeFolder(on({ HOME: " " }))).toBe("/os/home");
  expect(homeFolder({ ...on({ HOME: "" }), osHome: "" })).toBe("/cwd");
});

test("state folder: a variable, then ~/.openclaw, then an old folder that exists", () => {
  expect(stateFolder(on({ OPENCLAW_STATE_DIR: "~/s", CLAWDBOT_STATE_DIR: "/old" }))).toBe("/home/me/s");
  expect(stateFolder(on({ CLAWDBOT_STATE_DIR: "rel" }))).toBe("/cwd/rel");
  expect(stateFolder(on({}, ["/home/me/.moltbot", "/home/me/.clawdbot"]))).toBe("/home/me/.clawdbot");
  expect(stateFolder(on({}, ["/home/me/.moltbot", "/home/me/.openclaw"]))).toBe("/home/me/.openclaw");
  expect(stateFolder(on())).toBe("/home/me/.openclaw");
});

test("config file: a variable, then the first that exists in the state folders, by folder and then by name", () => {
  expect(configFile(on({ OPENCLAW_CONFIG_PATH: "~/c.json" }))).toBe("/home/me/c.json");
  expect(configFile(on({ CLAWDBOT_CONFIG_PATH: "/c.json" }))).toBe("/c.json");
  expect(configFile(on({ OPENCLAW_STATE_DIR: "/s" }, ["/s/moltbot.json", "/home/me/.openclaw/openclaw.json"]))).toBe("/s/moltbot.json");
  expect(configFile(on({ OPENCLAW_STATE_DIR: "/s" }, ["/home/me/.openclaw/openclaw.json"]))).toBe("/home/me/.openclaw/openclaw.json");
  expect(configFile(on({}, ["/home/me/.clawdbot/clawdbot.json"]))).toBe("/home/me/.clawdbot/clawdbot.json");
  expect(configFile(on({ OPENCLAW_STATE_DIR: "/s" }))).toBe("/s/openclaw.json");
});

test("credentials and agent folders", () => {
  expect(oauthFolder(on())).toBe("/home/me/.openclaw/credentials");
  expect(oauthFolder(on({ OPENCLAW_OAUTH_DIR: "/o" }))).toBe("/o");
  expect(agentFolder(on(), { id: "work" })).toBe("/home/me/.openclaw/agents/work/agent");
  expect(agentFolder(on(), { id: "work", agentDir: "~/w" })).toBe("/home/me/w");
  expect(mainAgentFolder(on())).toBe("/home/me/.openclaw/agents/main/agent");
  expect(mainAgentFolder(on({ PI_CODING_AGENT_DIR: "/pi", OPENCLAW_AGENT_DIR: "/oc" }))).toBe("/oc");
});

test("the session index: the documented place, or session.store with the agent filled in", () => {
  const paths = { state: "/s", home: "/home/me" };
  expect(sessionIndexFile(undefined, paths, "work")).toBe("/s/agents/work/sessions/sessions.json");
  expect(sessionIndexFile(" ", paths, "main")).toBe("/s/agents/main/sessions/sessions.json");
  expect(sessionIndexFile("~/x/{agentId}/sessions.json", paths, "work")).toBe("/home/me/x/work/sessions.json");
  expect(sessionIndexFile("all.json", paths, "work")).toBe("/home/me/all.json");
});

test("workspaces: the default agent's is in the home, or in a state folder that is elsewhere; others are in the state folder", () => {
  const state = { OPENCLAW_STATE_DIR: "/s" };
  const main = { id: "main", isDefault: true };
  expect(workspaceFolder(on(state), main)).toBe("/s/workspace");
  const used = ["/s/agents/main/sessions", "/home/me/.openclaw/workspace"];
  expect(workspaceFolder(on(state, used), main)).toBe("/home/me/.openclaw/workspace");
  expect(workspaceFolder(on(state, [...used, "/s/workspace"]), main)).toBe("/s/workspace");
  expect(workspaceFolder(on({ ...state, OPENCLAW_PROFILE: "work" }), main)).toBe("/s/workspace-work");
  expect(workspaceFolder(on({ OPENCLAW_PROFILE: "work" }), main)).toBe("/home/me/.openclaw/workspace-work");
  expect(workspaceFolder(on({ OPENCLAW_PROFILE: "work", OPENCLAW_STATE_DIR: "~/.openclaw-work" }), main)).toBe("/home/me/.openclaw/workspace-work");
  expect(workspaceFolder(on({ OPENCLAW_STATE_DIR: "~/.openclaw" }), main)).toBe("/home/me/.openclaw/workspace");
  expect(workspaceFolder(on({ OPENCLAW_PROFILE: "default" }), { id: "main", isDefault: true })).toBe("/home/me/.openclaw/workspace");
  expect(workspaceFolder(on(state), { id: "main", isDefault: true, defaults: "~/d", own: "~/o" })).toBe("/home/me/o");
  expect(workspaceFolder(on(state), { id: "x", isDefault: false, defaults: "~/d" })).toBe("/s/workspace-x");
});

test.each(["../up", "a/b", "..", "", "a\0b", "a\\b", ".hidden", "x".repeat(65), "a b"])("the id %j never becomes a path", (id) => {
  expect(() => agentFolder(on(), { id })).toThrow(AppError);
  expect(() => workspaceFolder(on(), { id, isDefault: false })).toThrow(AppError);
});

test("the lock is one per config file and user", () => {
  expect(lockFile("/home/me/.openclaw/openclaw.json", "/tmp", 1000)).toMatch(/^\/tmp\/openclaw-1000\/gateway\.[0-9a-f]{8}\.lock$/);
  expect(lockFile("/a", "/tmp", 1)).not.toBe(lockFile("/b", "/tmp", 1));
});

test("port: flag, environment, configuration, default; others follow from it", () => {
  expect(gatewayPort({ OPENCLAW_GATEWAY_PORT: "1" }, { flag: 2, config: 3 })).toBe(2);
  expect(gatewayPort({ CLAWDBOT_GATEWAY_PORT: "1" }, { config: 3 })).toBe(1);
  expect(gatewayPort({ OPENCLAW_GATEWAY_PORT: "99999" }, { config: 3 })).toBe(3);
  expect(gatewayPort({}, {})).toBe(18789);
  expect(derivedPorts(18789)).toEqual({ browserControl: 18791, extensionRelay: 18792, cdp: [18800, 18899] });
});

const place = { osHome: "/os", cwd: "/cwd" };

test("--profile sets what is not set, and only before the sub-command", () => {
  expect(profileEnv(["--profile", "work", "status"], { HOME: "/h" }, place)).toEqual({
    ok: true,
    profile: "work",
    args: ["status"],
    set: { OPENCLAW_PROFILE: "work", OPENCLAW_STATE_DIR: "/h/.openclaw-work", OPENCLAW_CONFIG_PATH: "/h/.openclaw-work/openclaw.json" },
  });
  const kept = profileEnv(["--verbose", "--profile=work"], { HOME: "/h", OPENCLAW_STATE_DIR: "/s" }, place);
  expect(kept).toMatchObject({ args: ["--verbose"], set: { OPENCLAW_PROFILE: "work", OPENCLAW_CONFIG_PATH: "/s/openclaw.json" } });
  expect(profileEnv(["agent", "--profile", "x"], {}, place)).toEqual({ ok: true, profile: undefined, args: ["agent", "--profile", "x"], set: {} });
  expect(profileEnv(["--profile", "default"], { HOME: "/h" }, place)).toMatchObject({ set: { OPENCLAW_STATE_DIR: "/h/.openclaw" } });
});

test("OPENCLAW_PROFILE alone chooses the profile's folders; a flag and variables that are set win", () => {
  const folders = { OPENCLAW_STATE_DIR: "/h/.openclaw-work", OPENCLAW_CONFIG_PATH: "/h/.openclaw-work/openclaw.json" };
  expect(profileEnv(["status"], { HOME: "/h", OPENCLAW_PROFILE: "work" }, place)).toMatchObject({ profile: "work", args: ["status"], set: folders });
  expect(profileEnv(["--profile", "play"], { HOME: "/h", OPENCLAW_PROFILE: "work" }, place)).toMatchObject({
    set: { OPENCLAW_PROFILE: "play", OPENCLAW_STATE_DIR: "/h/.openclaw-play" },
  });
  const kept = profileEnv([], { HOME: "/h", OPENCLAW_PROFILE: "work", OPENCLAW_STATE_DIR: "/s", OPENCLAW_CONFIG_PATH: "/s/c.json" }, place);
  expect(kept).toMatchObject({ set: { OPENCLAW_PROFILE: "work" } });
  expect(profileEnv([], { HOME: "/h", OPENCLAW_PROFILE: "../x" }, place)).toEqual({ ok: false, message: expect.stringContaining("OPENCLAW_PROFILE=") });
});

test("--dev is the profile dev with a port of its own", () => {
  expect(profileEnv(["--dev", "gateway"], { HOME: "/h" }, place)).toMatchObject({
    profile: "dev",
    args: ["gateway"],
    set: { OPENCLAW_STATE_DIR: "/h/.openclaw-dev", OPENCLAW_GATEWAY_PORT: "19001" },
  });
  expect(profileEnv(["gateway", "--dev"], {}, place)).toMatchObject({ profile: undefined, args: ["gateway", "--dev"] });
});

test.each([[["--profile", "../x"]], [["--profile"]], [["--profile="]], [["--profile", "-x"]], [["--dev", "--profile", "a"]]])(
  "%j is refused with a message",
  (args) => {
    expect(profileEnv(args, {}, place)).toEqual({ ok: false, message: expect.stringMatching(/--profile|--dev/) });
  },
);
