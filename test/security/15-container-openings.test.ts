import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { loadConfig, type OpenClawConfig } from "../../src/config/index.ts";
import { createSandboxes } from "../../src/tools/sandbox/sandboxes.ts";
import { makeFakeDocker } from "../fakes/docker.ts";

type Written = NonNullable<NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>["sandbox"]>;

function fixture(sandbox: Written) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "openings-")));
  const [workspaceDir, stateDir] = [join(base, "workspace"), join(base, "state")];
  for (const folder of [workspaceDir, stateDir]) mkdirSync(folder);
  const docker = makeFakeDocker();
  docker.addImage("openclaw-sandbox:bookworm-slim");
  const config = { agents: { defaults: { sandbox: { mode: "all" as const, ...sandbox } } } };
  const sandboxes = createSandboxes({
    config: () => config,
    stateDir,
    env: { PATH: docker.path },
    home: base,
    uid: 1000,
    clock: systemClock,
    ids: createIds(systemRandom),
    log: silentLogger,
  });
  const open = async (): Promise<void> => await sandboxes.for({ agentId: "main", sessionKey: "agent:main:main", workspaceDir, runId: "r" })!.ready();
  return { base, docker, open };
}

/** What `docker create` is given that could lead out of the container. */
const OPENINGS = ["--privileged", "--device", "--cap-add", "--pid", "--ipc", "--uts", "--userns", "--volumes-from", "--mount", "--cgroupns", "--gpus"];

test("no setting makes the client say anything that opens the container", async () => {
  const { docker, open } = fixture({
    workspaceAccess: "ro",
    docker: {
      network: "bridge",
      user: "1000:1000",
      env: { "A=--privileged": "x", B: "--privileged" },
      pidsLimit: 10,
      memory: "1g",
      memorySwap: "2g",
      cpus: 1,
      ulimits: { nofile: { soft: 1, hard: 2 }, nproc: 3, core: "0" },
      seccompProfile: "/p.json",
      apparmorProfile: "profile",
      dns: ["1.1.1.1"],
      extraHosts: ["a:1.2.3.4"],
      binds: ["/opt/data:/data"],
    },
  });
  await open();
  const create = docker.calls()[0]!;
  expect(create[0]).toBe("create");
  expect(create.filter((word) => OPENINGS.some((opening) => word === opening || word.startsWith(`${opening}=`)))).toEqual([]);
  const after = (option: string): readonly string[] => create.filter((_, at) => create[at - 1] === option);
  expect(after("--security-opt")).toEqual(["no-new-privileges", "seccomp=/p.json", "apparmor=profile"]);
  expect(after("--cap-drop")).toEqual(["ALL"]);
  expect(after("--ulimit")).toEqual(["nofile=1:2", "nproc=3", "core=0"]);
  expect(after("-v").map((mount) => mount.split(":").slice(1).join(":"))).toEqual(["/workspace", "/agent:ro", "/data"]);
});

describe.each<[string, Written]>([
  ["the machine's network", { docker: { network: "host" } }],
  ["the machine's network, in capitals", { docker: { network: " HOST " } }],
  ["no seccomp", { docker: { seccompProfile: "unconfined" } }],
  ["no apparmor", { docker: { apparmorProfile: "unconfined" } }],
  ["a relative mount", { docker: { binds: ["data:/data"] } }],
  ["a relative mount of bubblewrap's", { backend: "bwrap", bwrap: { binds: ["data:/data"] } }],
])("%s", (_, sandbox) => {
  test("is refused when the configuration is read", () => {
    const folder = mkdtempSync(join(tmpdir(), "openings-config-"));
    const path = join(folder, "openclaw.json");
    writeFileSync(path, JSON.stringify({ agents: { defaults: { sandbox } } }));
    expect(loadConfig({ path, env: {}, osHome: folder, cwd: folder }).snapshot.valid).toBe(false);
  });
  test("and again when the sandbox is made", async () => {
    const { docker, open } = fixture(sandbox);
    await expect(open()).rejects.toMatchObject({ code: "PERMISSION_DENIED", message: expect.stringMatching(/^Sandbox security: /) });
    expect(docker.containers()).toEqual([]);
  });
});

test("a mount that led somewhere harmless when the gateway began, and leads to the machine's settings now, is refused now", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "openings-later-")));
  const { open, docker } = fixture({ docker: { binds: [`${folder}/later:/data`] } });
  await open();
  expect(docker.containers()).toHaveLength(1);
  symlinkSync("/etc", join(folder, "later"));
  await expect(open()).rejects.toMatchObject({ message: expect.stringMatching(/^Sandbox security: .*\/etc/) });
});
