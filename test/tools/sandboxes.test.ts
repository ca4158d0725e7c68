import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFakeDocker } from "../fakes/docker.ts";
import { manualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { run } from "../../src/base/spawn.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { createSandboxes, type Sandbox } from "../../src/tools/index.ts";

type Written = NonNullable<NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>["sandbox"]>;

const HOUR = 3_600_000;
const CONTAINER = "openclaw-sbx-agent-main-f331f052";

function fixture(sandbox: Written = {}, more: Partial<Parameters<typeof createSandboxes>[0]> = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "sandboxes-")));
  const [workspaceDir, stateDir] = [join(base, "workspace"), join(base, "state")];
  for (const folder of [workspaceDir, stateDir]) mkdirSync(folder);
  const docker = makeFakeDocker();
  docker.addImage("openclaw-sandbox:bookworm-slim");
  const clock = manualClock();
  const warnings: string[] = [];
  const settings = { current: { mode: "all", ...sandbox } as Written };
  const sandboxes = createSandboxes({
    config: () => ({ agents: { defaults: { sandbox: settings.current } } }),
    stateDir,
    env: { PATH: docker.path, OPENAI_API_KEY: "sk-gateway", DOCKER_HOST: "unix:///none" },
    home: base,
    uid: 1000,
    clock,
    ids: createIds(systemRandom),
    log: { ...silentLogger, warn: (text) => void warnings.push(text) },
    ...more,
  });
  const open = (runId = "r", sessionKey = "agent:main:main"): Sandbox => sandboxes.for({ agentId: "main", sessionKey, workspaceDir, runId })!;
  const registry = () => JSON.parse(readFileSync(join(stateDir, "sandbox/containers.json"), "utf8")) as { entries: Record<string, unknown>[] };
  return { base, workspaceDir, stateDir, docker, clock, warnings, settings, sandboxes, open, registry };
}

describe("docker", () => {
  test("a container is made as the settings say, started, set up once, and used again", async () => {
    const { open, docker, stateDir, registry, clock } = fixture({ docker: { setupCommand: "echo setting up", memory: "1g", binds: ["/opt/data:/data:ro"] } });
    await open().ready();
    const created = clock.now();
    const [create, start, setup, ...rest] = docker.calls();
    const hash = registry().entries[0]!["configHash"] as string;
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(create).toEqual(
      [
        ["create", "--name", CONTAINER, "--label", "openclaw.sandbox=1", "--label", "openclaw.sessionKey=agent:main"],
        ["--label", `openclaw.createdAtMs=${created}`, "--label", `openclaw.configHash=${hash}`, "--read-only"],
        ["--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--tmpfs", "/run", "--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
        ["--memory", "1g", "--env", "LANG=C.UTF-8", "--workdir", "/workspace", "-v", `${stateDir}/sandboxes/agent-main-f331f052:/workspace`],
        ["-v", "/opt/data:/data:ro", "openclaw-sandbox:bookworm-slim", "sleep", "infinity"],
      ].flat(),
    );
    expect(start).toEqual(["start", CONTAINER]);
    expect(setup).toEqual(["exec", "-i", CONTAINER, "sh", "-lc", "echo setting up"]);
    expect(rest).toEqual([]);
    clock.advance(1000);
    await open("r2").ready();
    expect(docker.calls()).toHaveLength(3);
    expect(registry()).toEqual({
      entries: [
        {
          containerName: CONTAINER,
          sessionKey: "agent:main",
          createdAtMs: created,
          lastUsedAtMs: created + 1000,
          image: "openclaw-sandbox:bookworm-slim",
          configHash: hash,
        },
      ],
    });
    docker.stop(CONTAINER);
    await open("r3").ready();
    expect(docker.calls().at(-1)).toEqual(["start", CONTAINER]);
  });

  test("commands run inside, their variables by name and not in anybody's sight, the gateway's not at all", async () => {
    const { open } = fixture({ docker: { env: { TEAM: "blue", GITHUB_TOKEN: "ghp-secret" } } });
    const there = open();
    await there.ready();
    const { file, args, env, cwd } = there.command({
      argv: ["sh", "-lc", "echo $TEAM $MINE $HOME ${GITHUB_TOKEN-none} ${OPENAI_API_KEY-none}"],
      cwd: "/workspace/a",
      env: { MINE: "own value" },
      path: there.path,
    });
    expect(args.slice(0, 4)).toEqual(["exec", "-i", "-w", "/workspace/a"]);
    expect(args).toContain("MINE");
    expect(args.join(" ")).not.toContain("own value");
    const { stdout } = await run(file, { args, env, cwd, timeoutMs: 5000, maxOutputBytes: 1000 });
    expect(stdout).toBe("blue own value /workspace none none\n");
  });

  test("ending a command ends what it started inside", async () => {
    const { open } = fixture();
    const there = open();
    await there.ready();
    const { file, args, env, cwd, killInside } = there.command({
      argv: ["sh", "-c", "echo $$; setsid sleep 60 >/dev/null 2>&1 & echo $!; sleep 60"],
      cwd: "/workspace",
      env: {},
      path: there.path,
    });
    const running = run(file, { args, env, cwd, timeoutMs: 20_000, maxOutputBytes: 1000 });
    // The mark is in the environment of everything that the command started.
    const mark = Object.entries(env).find(([name]) => name === "OPENCLAW_EXEC_ID")?.[1];
    expect(mark).toMatch(/^[0-9a-f]+$/);
    await expect.poll(() => marked(mark!)).toBeGreaterThanOrEqual(3);
    await killInside!();
    await running.catch(() => undefined);
    await expect.poll(() => marked(mark!)).toBe(0);
  });

  test("a container whose settings changed is made again, but not while it is in use", async () => {
    const { open, docker, clock, settings, warnings, registry } = fixture();
    await open().ready();
    const before = registry().entries[0]!["configHash"];
    settings.current = { mode: "all", docker: { network: "bridge" } };
    await open("r2").ready();
    expect(docker.calls().filter(([verb]) => verb === "rm")).toEqual([]);
    expect(warnings.join()).toContain("openclaw sandbox recreate --session agent:main");
    expect(registry().entries[0]!["configHash"]).toBe(before);
    clock.advance(6 * 60_000);
    await open("r3").ready();
    expect(
      docker
        .calls()
        .slice(-3)
        .map(([verb]) => verb),
    ).toEqual(["rm", "create", "start"]);
    expect(docker.calls().at(-2)).toContain("bridge");
    expect(registry().entries[0]!["configHash"]).not.toBe(before);
  });

  test("containers that nobody used for long, or that are old, are removed; workspaces stay", async () => {
    const { open, docker, clock, stateDir } = fixture({ scope: "session" });
    await open("r", "agent:main:a").ready();
    await open("r", "agent:main:b").ready();
    clock.advance(23 * HOUR);
    await open("r", "agent:main:b").ready();
    expect(docker.containers()).toHaveLength(2);
    clock.advance(2 * HOUR);
    await open("r", "agent:main:b").ready();
    expect(docker.containers()).toEqual([expect.stringContaining("agent-main-b")]);
    expect(readdirSync(join(stateDir, "sandboxes"))).toHaveLength(2);
    for (let day = 0; day < 7; day += 1) {
      clock.advance(23 * HOUR);
      await open("r", "agent:main:b").ready();
    }
    expect(docker.calls().filter(([verb]) => verb === "create")).toHaveLength(3);
  });

  test("asked for by many at once, one container is made", async () => {
    const { open, docker } = fixture();
    await Promise.all(Array.from({ length: 8 }, (_, at) => open(`r${at}`).ready()));
    expect(docker.calls().map(([verb]) => verb)).toEqual(["create", "start"]);
  });

  test("the default image is fetched, another one is not", async () => {
    const { open, docker } = fixture({ docker: { image: "mine:1" } });
    await expect(open().ready()).rejects.toMatchObject({ message: "Sandbox image not found: mine:1. Build or pull it first." });
    expect(docker.calls()).toEqual([]);
    const fresh = fixture();
    fresh.docker.forgetImages();
    await fresh.open().ready();
    expect(fresh.docker.calls().slice(0, 2)).toEqual([
      ["pull", "debian:bookworm-slim"],
      ["tag", "debian:bookworm-slim", "openclaw-sandbox:bookworm-slim"],
    ]);
  });

  test("a setup that fails leaves no container that looks whole", async () => {
    const { open, docker } = fixture({ docker: { setupCommand: "exit 7" } });
    await expect(open().ready()).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("setupCommand failed") });
    expect(docker.containers()).toEqual([]);
  });

  test.each<[string, NonNullable<Written["docker"]>]>([
    ["the host's network", { network: "host" }],
    ["another container's network", { network: "container:db" }],
    ["no seccomp", { seccompProfile: "unconfined" }],
    ["no apparmor", { apparmorProfile: " Unconfined " }],
  ])("%s is refused at the last moment too", async (_, docker) => {
    const there = fixture({ docker });
    await expect(there.open().ready()).rejects.toMatchObject({ code: "PERMISSION_DENIED", message: expect.stringMatching(/^Sandbox security: /) });
    expect(there.docker.containers()).toEqual([]);
  });

  test("without an engine nothing is reached, by command or by file, and the reason is reported", async () => {
    const { open, docker, workspaceDir } = fixture({ workspaceAccess: "rw" });
    docker.breakDown("Cannot connect to the Docker daemon");
    const refusal = { code: "UNAVAILABLE", message: expect.stringMatching(/must run in a sandbox .* Cannot connect to the Docker daemon; nothing was run/) };
    await expect(open().ready()).rejects.toMatchObject(refusal);
    await expect(open().files.ready()).rejects.toMatchObject(refusal);
    docker.breakDown(undefined);
    await open().ready();
    expect(docker.calls().at(-1)).toEqual(["start", CONTAINER]);
    expect(docker.calls()[0]).toContain(`${workspaceDir}:/workspace`);
  });
});

function marked(mark: string): number {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(`OPENCLAW_EXEC_ID=${mark}`);
    } catch {
      return false;
    }
  }).length;
}

describe("where it is", () => {
  test.each<[string, Written, string]>([
    ["session", { scope: "session" }, "openclaw-sbx-agent-main-telegram-group-1-"],
    ["agent", { scope: "agent" }, CONTAINER],
    ["shared", { scope: "shared" }, "openclaw-sbx-shared"],
    ["by the older word: each session", { perSession: true }, "openclaw-sbx-agent-main-telegram-group-1-"],
    ["by the older word: shared", { perSession: false }, "openclaw-sbx-shared"],
  ])("scope %s", async (_, written, name) => {
    const { open, docker } = fixture(written);
    await open("r", "agent:main:telegram:group:1").ready();
    expect(docker.containers()).toEqual([expect.stringMatching(new RegExp(`^${name}`))]);
    expect(docker.containers()[0]!.length).toBeLessThanOrEqual(63);
  });

  test.each<[Written["mode"], string, boolean]>([
    ["off", "agent:main:telegram:group:1", false],
    ["non-main", "agent:main:main", false],
    ["non-main", "agent:main:telegram:group:1", true],
    ["non-main", "agent:main:cron:job", true],
    ["non-main", "global", true],
    ["all", "agent:main:main", true],
  ])("mode %s, session %s: inside is %s", (mode, sessionKey, expected) => {
    const { sandboxes, workspaceDir } = fixture({ mode: mode! });
    expect(sandboxes.isSandboxed({ agentId: "main", sessionKey })).toBe(expected);
    expect(sandboxes.for({ agentId: "main", sessionKey, workspaceDir, runId: "r" }) !== undefined).toBe(expected);
    expect(sandboxes.state({ agentId: "main", sessionKey, workspaceDir }).sandboxed).toBe(expected);
  });

  test("its own workspace begins with the agent's files and skills; what was changed there stays, and links lead nowhere", async () => {
    const skill = mkdtempSync(join(tmpdir(), "skill-"));
    writeFileSync(join(skill, "SKILL.md"), "first");
    const { open, workspaceDir, stateDir, base } = fixture({}, { skills: () => Promise.resolve([{ name: "weather", folder: skill }]) });
    for (const name of ["AGENTS.md", "USER.md", "private.txt"]) writeFileSync(join(workspaceDir, name), `of ${name}`);
    writeFileSync(join(base, "victim"), "untouched");
    await open().files.ready();
    const folder = join(stateDir, "sandboxes/agent-main-f331f052");
    expect(readFileSync(join(folder, "AGENTS.md"), "utf8")).toBe("of AGENTS.md");
    expect(existsSync(join(folder, "private.txt"))).toBe(false);
    expect(readFileSync(join(folder, "skills/weather/SKILL.md"), "utf8")).toBe("first");
    writeFileSync(join(folder, "USER.md"), "changed inside");
    writeFileSync(join(skill, "SKILL.md"), "second");
    await open("r2").files.ready();
    expect(readFileSync(join(folder, "USER.md"), "utf8")).toBe("changed inside");
    expect(readFileSync(join(folder, "skills/weather/SKILL.md"), "utf8")).toBe("second");

    writeFileSync(join(skill, "out.md"), "written through a link");
    symlinkSync(join(base, "victim"), join(folder, "skills/weather/out.md"));
    await expect(open("r3").files.ready()).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(readFileSync(join(base, "victim"), "utf8")).toBe("untouched");
  });

  test("a link in the place of the sandbox's workspace is not mounted", async () => {
    const { open, stateDir, base, docker } = fixture();
    mkdirSync(join(stateDir, "sandboxes"));
    mkdirSync(join(base, "elsewhere"));
    symlinkSync(join(base, "elsewhere"), join(stateDir, "sandboxes/agent-main-f331f052"));
    await expect(open().ready()).rejects.toMatchObject({ message: expect.stringMatching(/^Sandbox security: /) });
    expect(docker.containers()).toEqual([]);
  });

  test("access ro takes the tools that write away", () => {
    const who = { agentId: "main", sessionKey: "agent:main:main" };
    expect(fixture({ workspaceAccess: "ro" }).sandboxes.withheld(who).toSorted()).toEqual(["apply_patch", "edit", "write"]);
    expect(fixture({ workspaceAccess: "none" }).sandboxes.withheld(who)).toEqual([]);
    expect(fixture({ workspaceAccess: "ro", mode: "off" }).sandboxes.withheld(who)).toEqual([]);
  });
});

test("bubblewrap that is not installed, or cannot work, is reported and nothing runs", async () => {
  const { sandboxes, workspaceDir, open } = fixture({ backend: "bwrap", bwrap: { command: "no-such-bwrap" } });
  expect(await sandboxes.availability({ agentId: "main", sessionKey: "agent:main:main", workspaceDir })).toEqual({
    ok: false,
    why: expect.stringContaining("no-such-bwrap is not installed; install bubblewrap"),
  });
  await expect(open().ready()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const broken = fixture({ backend: "bwrap", bwrap: { command: "/bin/false" } });
  await expect(broken.open().ready()).rejects.toMatchObject({
    message: expect.stringContaining("/bin/false cannot create a sandbox here: it exited with code 1"),
  });
});
