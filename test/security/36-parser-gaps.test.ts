/** 36: a sandbox read a text in another way than what used it (a null byte in a host), or guarded only the files that were there (a configuration that came later). */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { assertHostAllowed } from "../../src/base/host-rules.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { startLoopbackServer, type LoopbackServer } from "../../src/base/loopback-server.fixture.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { writeTool } from "../../src/tools/builtin/files/write.ts";
import { webFetchTool } from "../../src/tools/builtin/web/fetch.ts";
import {
  createFileAccess,
  createFolderGrants,
  createMarkUntrusted,
  createSandboxes,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from "../../src/tools/index.ts";
import { makeFakeDocker } from "../fakes/docker.ts";

const ids = createIds(systemRandom);
/** What the broker would make of a call: a failure that is thrown is reported as an error. */
const call = (tool: Tool, params: Record<string, unknown>, context: ToolContext): Promise<Pick<ToolOutcome, "isError">> =>
  tool.run({ id: "c", params, signal: new AbortController().signal, update: () => undefined, context }).catch(() => ({ isError: true }));
const contextIn = (workspaceDir: string): ToolContext => ({
  agentId: "main",
  sessionKey: "agent:main:main",
  sessionId: "s",
  runId: "r",
  workspaceDir,
  owner: false,
});

describe("a host that one reader ends earlier than another", () => {
  let canary: LoopbackServer;
  beforeAll(async () => {
    canary = await startLoopbackServer((_request, response) => response.end("the crown jewels"));
  });
  afterAll(() => canary[Symbol.asyncDispose]());

  const BREAKS = ["\u0000", "%00", "\n", "\r", "\t", " ", "\u00a0", "\u200b", "\u2028", "/", "\\", "@", "#", "?", "%", "%2e", "|", "<"];
  const HOSTS = BREAKS.flatMap((sign) => [
    `evil.test${sign}.allowed.example`,
    `allowed.example${sign}.evil.test`,
    `sub.allowed.example${sign}evil.test`,
    `127.0.0.1${sign}.allowed.example`,
  ]);

  test("36: is not on any list of hosts, whichever part of it is", () => {
    for (const policy of [
      { hostnameAllowlist: ["*.allowed.example", "allowed.example"] },
      { allowedHostnames: ["allowed.example"] },
      { allowPrivateNetwork: true },
      {},
    ])
      for (const host of HOSTS) expect(() => assertHostAllowed(host, ["93.184.215.14"], policy), JSON.stringify([host, policy])).toThrow(/not a host name/);
    expect(() => assertHostAllowed("sub.allowed.example", ["93.184.215.14"], { hostnameAllowlist: ["*.allowed.example"] })).not.toThrow();
  });

  test("36: is not fetched, however it is written", async () => {
    const tool = webFetchTool.create({
      clock: systemClock,
      config: () => ({ tools: { web: { fetch: { cacheTtlMinutes: 0, timeoutSeconds: 5 } } } }),
      secret: () => undefined,
      mark: createMarkUntrusted(ids),
      network: { policy: { hostnameAllowlist: ["*.allowed.example"] }, lookup: async () => [{ address: "127.0.0.1", family: 4 }] },
    });
    const before = canary.connections();
    for (const host of HOSTS)
      expect([host, (await call(tool, { url: `http://${host}:${canary.port}/` }, contextIn("/nowhere"))).isError]).toEqual([host, true]);
    expect(canary.connections()).toBe(before);
  });
});

/** A home with a workspace, where the configuration and the state are elsewhere and not made yet. */
function makeHome(): { readonly base: string; readonly workspaceDir: string; readonly linked: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parser-gaps-")));
  const workspaceDir = join(base, "workspace");
  mkdirSync(workspaceDir);
  // The gateway knows its folders by this name; a tool writes to where it leads.
  symlinkSync(base, `${base}-linked`);
  return { base, workspaceDir, linked: `${base}-linked` };
}

/** The tool that writes, where writes outside of the workspace are allowed and only sealed places are refused. */
function writing({ base, state, configFile }: { readonly base: string; readonly state: string; readonly configFile: string }): Tool {
  const own = { state, configFiles: [configFile], secrets: [], programs: [], modules: [], searched: [], records: [], skills: [], homes: [base] };
  const access = createFileAccess({
    own: () => own,
    rules: () => ({ workspaceOnly: false, outside: "allow", unseal: [] }),
    shared: [],
    skillsDecide: () => false,
    grants: createFolderGrants({ path: join(base, "file-approvals.json"), clock: systemClock, ids, log: silentLogger, homes: [base] }),
    approvals: { request: () => Promise.reject(new Error("nobody is asked here")) },
    unasked: () => "nobody is there",
    log: silentLogger,
    ignoreCase: false,
  });
  return writeTool.create({ ids, workspaceOnly: () => false, home: base, access });
}

describe("a file that is not there yet", () => {
  test.each([
    ["beside the workspace", "openclaw.json"],
    ["in a folder that is not there either", "later/deep/openclaw.json"],
    ["in the workspace itself", "workspace/openclaw.json"],
    ["in a folder of the workspace that is not there", "workspace/config/openclaw.json"],
  ])("36: a configuration %s is not written by a tool before the operator writes it, by any name of its folder", async (_name, path) => {
    const { base, workspaceDir, linked } = makeHome();
    for (const known of [base, linked]) {
      const write = writing({ base, state: join(known, "state"), configFile: join(known, path) });
      for (const name of [base, linked]) {
        const outcome = await call(write, { path: join(name, path), content: "{}" }, contextIn(workspaceDir));
        expect([known, name, outcome.isError]).toEqual([known, name, true]);
      }
    }
    // Not even a folder for it was made.
    expect([readdirSync(base), readdirSync(workspaceDir)]).toEqual([["workspace"], []]);
    const free = writing({ base, state: join(base, "state"), configFile: join(base, path) });
    expect((await call(free, { path: join(base, "workspace/notes/today.md"), content: "x" }, contextIn(workspaceDir))).isError).toBe(false);
  });

  test("36: neither are the rules about commands, credentials or sessions in a state folder that is not there", async () => {
    const { base, workspaceDir, linked } = makeHome();
    const write = writing({ base, state: join(linked, "state"), configFile: join(base, "openclaw.json") });
    for (const name of ["exec-approvals.json", "credentials/x.json", "agents/main/agent/auth-profiles.json", "extensions/x/index.js", "gateway.lock"])
      for (const folder of [base, linked])
        expect([name, (await call(write, { path: join(folder, "state", name), content: "{}" }, contextIn(workspaceDir))).isError]).toEqual([name, true]);
  });

  const backends = ["docker", "bwrap"] as const;
  test.each(backends)("36: a %s sandbox is not given a folder to write in which the configuration will lie, or the state", (backend) => {
    const { base, workspaceDir, linked } = makeHome();
    const open = (own: string, stateDir: string, sandbox: Record<string, unknown> = {}) => {
      const config = { agents: { defaults: { sandbox: { mode: "all", backend, workspaceAccess: "rw", ...sandbox } } } } as OpenClawConfig;
      const sandboxes = createSandboxes({
        config: () => config,
        stateDir,
        ownFiles: () => [own],
        env: { PATH: makeFakeDocker().path },
        home: base,
        uid: 1000,
        clock: systemClock,
        ids,
        log: silentLogger,
      });
      return () => sandboxes.for({ agentId: "main", sessionKey: "agent:main:main", workspaceDir, runId: "r" });
    };
    const elsewhere = join(base, "openclaw.json");
    for (const known of [base, linked]) {
      expect(open(join(known, "workspace/openclaw.json"), join(base, "state"))).toThrow(/^Sandbox security: .*controls what agents may do/);
      expect(open(join(known, "workspace/later/openclaw.json"), join(base, "state"))).toThrow(/^Sandbox security: /);
      expect(open(elsewhere, join(known, "workspace/state"))).toThrow(/^Sandbox security: .*the gateway's own folder/);
      const data = join(base, "data");
      expect(open(join(known, "data/openclaw.json"), join(base, "state"), { [backend]: { binds: [`${data}:/data`] } })).toThrow(/^Sandbox security: /);
    }
    expect(open(elsewhere, join(base, "state"))).not.toThrow();
    // To read it is another matter: what is shown read-only cannot be changed.
    writeFileSync(join(workspaceDir, "openclaw.json"), "{}");
    expect(open(join(workspaceDir, "openclaw.json"), join(base, "state"), { workspaceAccess: "ro" })).not.toThrow();
  });

  test("36: a mount with a null byte is refused", () => {
    const { base, workspaceDir } = makeHome();
    const config = { agents: { defaults: { sandbox: { mode: "all", docker: { binds: [`${base}\u0000/etc:/data`] } } } } } as OpenClawConfig;
    const deps = { stateDir: join(base, "state"), env: {}, home: base, uid: 1000, clock: systemClock, ids, log: silentLogger };
    const sandboxes = createSandboxes({ ...deps, config: () => config });
    expect(() => sandboxes.for({ agentId: "main", sessionKey: "agent:main:main", workspaceDir, runId: "r" })).toThrow(
      /^Sandbox security: a mount has a null character/,
    );
  });
});
