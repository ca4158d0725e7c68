import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { editTool } from "../../src/tools/builtin/files/edit.ts";
import { readTool } from "../../src/tools/builtin/files/read.ts";
import { writeTool } from "../../src/tools/builtin/files/write.ts";
import { execTool } from "../../src/tools/exec/exec.ts";
import { planCommand } from "../../src/tools/exec/plan.ts";
import { startPlan, type PlanRun } from "../../src/tools/exec/run.ts";
import { execSettings } from "../../src/tools/exec/settings.ts";
import { createProcesses } from "../../src/tools/process/processes.ts";
import { createSandboxes } from "../../src/tools/sandbox/sandboxes.ts";
import type { Tool, ToolContext } from "../../src/tools/tool.ts";
import { makeFakeDocker } from "../fakes/docker.ts";
import { ROOT } from "../harness/gateway-process.ts";

/** Of this process alone: a copy of the program without its defence may have left one. */
const OUTSIDE = `/tmp/spawn-paths-ran-${process.pid}-${Date.now()}`;

/** A sandboxed session whose backend may be out of order. */
function fixture(backend: "docker" | "bwrap") {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "spawn-paths-")));
  const [workspaceDir, stateDir] = [join(base, "workspace"), join(base, "state")];
  for (const folder of [workspaceDir, stateDir]) mkdirSync(folder);
  writeFileSync(join(workspaceDir, "file"), "on the host");
  const docker = makeFakeDocker();
  docker.breakDown("Cannot connect to the Docker daemon");
  const ids = createIds(systemRandom);
  const config = { agents: { defaults: { sandbox: { mode: "all" as const, backend, workspaceAccess: "rw" as const, bwrap: { command: "no-such-bwrap" } } } } };
  const env = { PATH: docker.path };
  const sandboxes = createSandboxes({ config: () => config, stateDir, env, home: base, uid: 0, clock: systemClock, ids, log: silentLogger });
  const processes = createProcesses({ clock: systemClock, random: systemRandom });
  const asked: string[] = [];
  const never = new Proxy({}, { get: (_, name) => () => Promise.reject(new Error(String(asked.push(String(name))))) }) as never;
  const deps = {
    clock: systemClock,
    log: silentLogger,
    processes,
    approvals: never,
    rules: never,
    remembered: never,
    settings: ({ agentId }: ToolContext) => execSettings(config, agentId),
    env,
    home: base,
    ignoreCase: false,
    sandboxed: sandboxes.isSandboxed,
    canBackground: () => true,
    elevation: () => ({ permitted: false as const, reason: "tools.elevated.enabled is false" }),
    announce: () => undefined,
  };
  const context: ToolContext = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s", runId: "r", workspaceDir, owner: true };
  const call = (tool: Tool, params: Record<string, unknown>) =>
    tool.run({ id: "c", params, context, signal: new AbortController().signal, update: () => undefined }).then(
      ({ content, isError }) => ({ isError, text: content.map((part) => (part.type === "text" ? part.text : "")).join("") }),
      (error: unknown) => ({ isError: true, text: String(error) }),
    );
  const files = { ids, workspaceOnly: () => false, home: base, place: (who: ToolContext) => sandboxes.for(who)?.files };
  return {
    base,
    workspaceDir,
    sandboxes,
    processes,
    context,
    files,
    call,
    exec: execTool.create({ ...deps, sandbox: sandboxes.for }),
    bare: execTool.create(deps),
    env,
  };
}

test.each(["docker", "bwrap"] as const)(
  "%s out of order: every way to run or to reach a file is refused with the reason, and nothing happens",
  async (backend) => {
    const { call, exec, bare, files, workspaceDir } = fixture(backend);
    const command = `touch ${workspaceDir}/ran ran ${OUTSIDE}`;
    const ways = [
      {},
      { background: true },
      { yieldMs: 10 },
      { host: "sandbox" },
      { host: "gateway" },
      { host: "node" },
      { elevated: true },
      { pty: true },
      { security: "full", ask: "off" },
      { workdir: "/" },
      { env: { PATH: "/bin" } },
    ];
    for (const way of ways) {
      const { isError, text } = await call(exec, { command, ...way });
      expect(isError, JSON.stringify(way)).toBe(true);
      expect(text).toMatch(/must run in a sandbox .*; nothing was run$|not allowed|not available right now/s);
    }
    expect(await call(bare, { command }), "without any sandbox wired").toMatchObject({ isError: true, text: expect.stringContaining("nothing was run") });
    const tools = [
      [readTool.create(files), { path: "file" }],
      [writeTool.create(files), { path: "file", content: "x" }],
      [editTool.create(files), { path: "file", oldText: "on", newText: "off" }],
    ] as const;
    for (const [tool, params] of tools)
      expect(await call(tool, params), tool.name).toMatchObject({ isError: true, text: expect.stringContaining("must run in a sandbox") });
    // The gateway's own folder is made before a sandbox is tried: it has to be there to be mounted read-only.
    expect(readdirSync(workspaceDir).filter((name) => name !== ".openclaw")).toEqual(["file"]);
    expect(readFileSync(join(workspaceDir, "file"), "utf8")).toBe("on the host");
    expect(existsSync(OUTSIDE)).toBe(false);
  },
);

test("a plan for a sandbox starts nowhere else, and one for the host in no sandbox", async () => {
  const { sandboxes, context, processes, env, workspaceDir } = fixture("docker");
  const sandbox = sandboxes.for(context)!;
  const run: PlanRun = {
    processes,
    clock: systemClock,
    env,
    scope: "s",
    signal: new AbortController().signal,
    update: () => undefined,
    warnings: [],
    yieldMs: undefined,
    timeoutMs: 1000,
    cleanupMs: undefined,
  };
  const input = { command: "true", cwd: workspaceDir, host: "sandbox" as const, path: "/bin:/usr/bin" };
  const [inside, outside] = [planCommand({ ...input, sandbox }), planCommand(input)];
  expect(inside.hash).not.toBe(outside.hash);
  await expect(startPlan(inside, inside.hash, run)).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(startPlan(outside, outside.hash, { ...run, sandbox })).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(startPlan(inside, inside.hash, { ...run, sandbox: { ...sandbox, name: "docker:another" } })).rejects.toMatchObject({ code: "CONFLICT" });
  const { sandbox: _, ...taken } = inside;
  await expect(startPlan(taken, inside.hash, run), "with the sandbox taken out").rejects.toMatchObject({ code: "CONFLICT" });
  expect((await (await startPlan(outside, outside.hash, run)).ended).code).toBe(0);
});

test("tools start programs through the one function, and no other way", () => {
  const sources = ["src/tools", "src/agent"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .map((name) => join(folder, name)),
  );
  expect(sources.length).toBeGreaterThan(40);
  expect(sources.filter((name) => /node:child_process|node:cluster/.test(readFileSync(join(ROOT, name), "utf8")))).toEqual([]);
});
