import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { insideEnvironment } from "./environment.ts";
import { explainSandbox } from "./explain.ts";
import { mountPlan } from "./mounts.ts";
import { containerName, sandboxScope } from "./scope.ts";
import { isSandboxed, mainKeyOf, sandboxSettings } from "./settings.ts";

const SUPERUSER_HOME = "/root";

const FAMILY: OpenClawConfig = {
  agents: {
    defaults: {
      sandbox: { mode: "non-main", backend: "bwrap", docker: { env: { A: "1" }, binds: ["/srv/a:/a:ro"], network: "bridge" }, bwrap: { binds: ["/srv/a:/a"] } },
    },
    list: [
      {
        id: "Family",
        sandbox: { mode: "all", workspaceAccess: "ro", docker: { env: { B: "2" }, binds: ["/srv/b:/b"] }, bwrap: { network: "host", binds: ["/srv/b:/b"] } },
      },
      { id: "common", sandbox: { scope: "shared", docker: { network: "other" }, bwrap: { network: "host" }, prune: { idleHours: 1 } } },
    ],
  },
};

describe("settings", () => {
  test("nothing written: off, for each agent, by docker, nothing of the workspace", () => {
    expect(sandboxSettings({}, "main", "/state")).toMatchObject({
      mode: "off",
      scope: "agent",
      workspaceAccess: "none",
      workspaceRoot: "/state/sandboxes",
      sessionToolsVisibility: "spawned",
      backend: "docker",
      docker: { image: "openclaw-sandbox:bookworm-slim", network: "none", capDrop: ["ALL"], readOnlyRoot: true, env: { LANG: "C.UTF-8" } },
      bwrap: { network: "none", pidsLimit: 512 },
      prune: { idleHours: 24, maxAgeDays: 7 },
    });
  });

  test("an agent's settings stand over everybody's, field by field; variables are merged and mounts added", () => {
    expect(sandboxSettings(FAMILY, "family", "/state")).toMatchObject({
      mode: "all",
      workspaceAccess: "ro",
      backend: "bwrap",
      docker: { network: "bridge", env: { A: "1", B: "2" }, binds: ["/srv/a:/a:ro", "/srv/b:/b"] },
      bwrap: { network: "host", binds: ["/srv/a:/a", "/srv/b:/b"] },
    });
  });

  test("a sandbox that all share is made by everybody's settings alone", () => {
    const settings = sandboxSettings(FAMILY, "common", "/state");
    expect(settings).toMatchObject({ scope: "shared", mode: "non-main", docker: { network: "bridge" }, bwrap: { network: "none" }, prune: { idleHours: 24 } });
  });

  test("under global scope the one session is the main one", () => {
    const config: OpenClawConfig = { session: { scope: "global" } };
    expect(isSandboxed({ mode: "non-main" }, "global", mainKeyOf(config, "main"))).toBe(false);
    expect(isSandboxed({ mode: "non-main" }, "agent:main:main", mainKeyOf(config, "main"))).toBe(true);
  });
});

test.each(["../../etc", "a/../../b", "agent:main:x\0y", "..", "", "/", "Ä ö ü", "x".repeat(500)])("the session key %j makes a plain name of its own", (key) => {
  const scope = sandboxScope({ scope: "session", workspaceRoot: "/root-of-all" }, "main", key);
  expect(scope.slug).toMatch(/^[a-z0-9._-]{1,41}$/);
  expect(scope.folder).toBe(`/root-of-all/${scope.slug}`);
  expect(scope.slug).not.toMatch(/^\.\.?$/);
  expect(containerName("openclaw-sbx-", scope).length).toBeLessThanOrEqual(63);
});

describe("mounts", () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "mounts-")));
  const at = (name: string): string => join(base, name);
  for (const name of ["workspace", "state", "state/sandboxes", "data", "data/deep"]) mkdirSync(at(name));
  symlinkSync("/etc", at("innocent"));
  symlinkSync(at("state"), at("to-state"));
  const plan = (more: Partial<Parameters<typeof mountPlan>[0]>) =>
    mountPlan({
      access: "none",
      folder: at("state/sandboxes/x"),
      workspaceDir: at("workspace"),
      workdir: "/workspace",
      binds: [],
      stateDir: at("state"),
      ownFiles: [],
      ...more,
    });

  test("each access shows what it should", () => {
    const [own, agents] = [at("state/sandboxes/x"), at("workspace")];
    expect(plan({})).toEqual([{ inside: "/workspace", host: own, writable: true }]);
    expect(plan({ access: "ro" })).toEqual([
      { inside: "/workspace", host: own, writable: true },
      { inside: "/agent", host: agents, writable: false },
    ]);
    expect(plan({ access: "rw" })).toEqual([
      { inside: "/workspace", host: agents, writable: true },
      { inside: "/workspace/.openclaw", host: join(agents, ".openclaw"), writable: false },
    ]);
    expect(plan({ binds: [`${at("data")}:/data:ro`] })[1]).toEqual({ inside: "/data", host: at("data"), writable: false });
  });

  test.each([
    "/:/host",
    "/etc:/x",
    "/etc/ssh:/x:ro",
    "/proc/1/root:/x",
    "/sys:/x",
    "/dev/mem:/x",
    `${SUPERUSER_HOME}:/x`,
    `${SUPERUSER_HOME}/.ssh:/x`,
    "/boot:/x",
    "/run/docker.sock:/x",
    "/var/run/docker.sock:/x",
    "/var:/x",
    "/tmp/../etc:/x",
    `${at("innocent")}:/x`,
    `${at("innocent")}/not-there-yet:/x`,
    `${at("state")}:/x`,
    `${at("to-state")}:/x`,
    `${base}:/x`,
    "relative:/x",
    "/opt/x",
    "/opt/x:relative",
    "/opt/x:/y:ro:extra",
    "/opt/x:/y:exec",
    "/opt/x:/",
    "/opt/x:/usr",
    "/opt/x:/proc/self",
    "/opt/x\0/etc:/y",
    `${at("state/sandboxes/x")}/sub:/y`,
  ])("%j is refused", (bind) => {
    expect(() => plan({ binds: [bind] })).toThrow(/^Sandbox security: /);
  });

  test.each(["/", "relative", "/etc", "/usr/local", "/proc/x"])("%s cannot be the workspace inside", (workdir) => {
    expect(() => plan({ workdir })).toThrow(/^Sandbox security: /);
  });

  test("a workspace that holds the gateway's own folder is not shown", () => {
    for (const access of ["ro", "rw"] as const) expect(() => plan({ access, workspaceDir: base })).toThrow(/contains the gateway's own folder/);
    expect(() => plan({ access: "none", workspaceDir: base })).not.toThrow();
  });

  test("mounts below the workspace are refused where they could be led elsewhere", () => {
    const binds = [`${at("data")}:/workspace/data`];
    expect(() => plan({ binds, beside: true })).toThrow(/use a folder beside it/);
    expect(plan({ binds })).toHaveLength(2);
  });
});

test("variables that look like secrets stay out, odd ones are reported", () => {
  const warnings: string[] = [];
  const env = {
    TEAM: "blue",
    OPENAI_API_KEY: "x",
    my_token: "x",
    DB_PASSWORD: "x",
    SSH_PRIVATE_KEY: "x",
    CLIENT_SECRET: "x",
    AWS_ACCESS_KEY_ID: "x",
    NUL: "a\0b",
    LONG: "a ".repeat(20_000),
    BLOB: "QUJD".repeat(30),
  };
  expect(Object.keys(insideEnvironment(env, (text) => void warnings.push(text)))).toEqual(["TEAM", "LONG", "BLOB"]);
  expect(warnings).toHaveLength(9);
});

describe("explaining", () => {
  test("a group of the family agent: inside, with lists and where they come from", () => {
    const config: OpenClawConfig = {
      ...FAMILY,
      tools: { sandbox: { tools: { deny: ["exec"] } }, elevated: { allowFrom: { telegram: ["*"] } } },
    };
    const explained = explainSandbox({ config, agentId: "family", sessionKey: "agent:family:telegram:group:1", stateDir: "/state" });
    expect(explained).toMatchObject({
      agentId: "family",
      mainSessionKey: "agent:family:main",
      sandbox: {
        mode: "all",
        scope: "agent",
        perSession: false,
        workspaceAccess: "ro",
        backend: "bwrap",
        sessionIsSandboxed: true,
        tools: {
          deny: ["exec"],
          sources: { allow: { source: "default", key: "tools.sandbox.tools.allow" }, deny: { source: "global", key: "tools.sandbox.tools.deny" } },
        },
      },
      elevated: { enabled: true, channel: "telegram", allowedByConfig: true, alwaysAllowedByConfig: true, allowFrom: { global: ["*"] }, failures: [] },
    });
    expect(explained.sandbox.tools.allow).toContain("read");
    expect(explained.fixIt).toContain("tools.elevated.allowFrom.telegram");
  });

  test("what keeps commands from leaving it is named", () => {
    const config: OpenClawConfig = { tools: { elevated: { enabled: false } }, agents: { list: [{ id: "main", tools: { elevated: { enabled: false } } }] } };
    expect(explainSandbox({ config, agentId: "main", sessionKey: "agent:main:discord:group:1", stateDir: "/state" }).elevated).toEqual({
      enabled: false,
      channel: "discord",
      allowedByConfig: false,
      alwaysAllowedByConfig: false,
      allowFrom: {},
      failures: [
        { gate: "enabled", key: "tools.elevated.enabled" },
        { gate: "enabled", key: "agents.list[].tools.elevated.enabled" },
        { gate: "allowFrom", key: "tools.elevated.allowFrom.discord" },
      ],
    });
  });
});
