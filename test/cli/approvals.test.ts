import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { approvals as command } from "../../src/cli/commands/groups.ts";
import { approvalHandlers, execRulesHandlers } from "../../src/gateway/methods/approvals.ts";
import { planCommand } from "../../src/tools/exec/plan.ts";
import { createApprovals, createExecRules, createRemembered, type Approvals, type RememberedCommands } from "../../src/tools/index.ts";
import { startGateway } from "../gateway/start.ts";
import { runCommand } from "../harness/command-line.ts";

/** Nothing here asks about the rules of an agent. */
const NO_EXPLAINING = {
  policy: () => Promise.reject(new Error("not asked for here")),
  explain: () => Promise.reject(new Error("not asked for here")),
};

const ids = createIds(systemRandom);
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "approvals-cli-"));
  writeFileSync(join(home, "openclaw.json"), "{}");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

interface Rules {
  readonly path: string;
  readonly exists: boolean;
  readonly hash: string;
  readonly file: { readonly agents?: Record<string, { readonly allowlist?: readonly { readonly pattern: string }[] }> };
}

function run(...args: string[]) {
  const env = { HOME: home, OPENCLAW_STATE_DIR: home, OPENCLAW_CONFIG_PATH: join(home, "openclaw.json") };
  return runCommand<Rules & { readonly approvals: readonly { readonly id: string }[] }>("approvals", command, args, { env, cwd: home });
}

const patterns = ({ file }: Rules, agent: string): readonly string[] => (file.agents?.[agent]?.allowlist ?? []).map(({ pattern }) => pattern);

describe("on this machine's file", () => {
  test("the rules are shown with path, hash and no token", async () => {
    const none = (await run("get", "--json")).json();
    expect(none).toMatchObject({ path: join(home, "exec-approvals.json"), exists: false, file: { version: 1 } });
    await run("allowlist", "add", "/usr/bin/git");
    const there = await run("get", "--json");
    expect(there.json()).toMatchObject({ exists: true, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(readFileSync(join(home, "exec-approvals.json"), "utf8")).toContain('"token"');
    expect(there.out).not.toContain("token");
    const shown = await run();
    expect(shown.out).toContain("all agents (*)");
    expect(shown.out).toContain("/usr/bin/git");
  });

  test("programs are added once, for every agent or one, and removed", async () => {
    expect((await run("allowlist", "add", "/usr/bin/git")).out).toBe("/usr/bin/git now runs without approval for all agents\n");
    await run("allowlist", "add", "/usr/bin/git");
    const added = (await run("allowlist", "add", "~/bin/*", "--agent", "Main", "--json")).json();
    expect([patterns(added, "*"), patterns(added, "main")]).toEqual([["/usr/bin/git"], ["~/bin/*"]]);
    expect((await run("allowlist", "remove", "/usr/bin/git", "--agent", "main")).err).toContain("is not on the allowlist of agent main");
    expect((await run("allowlist", "remove", "/usr/bin/git")).code).toBe(0);
    expect(patterns((await run("get", "--json")).json(), "*")).toEqual([]);
  });

  test("rules are put in place from a file; what is no file of rules changes nothing", async () => {
    writeFileSync(
      join(home, "rules.json5"),
      '{ version: 1, defaults: { ask: "always", autoAllowSkills: true }, agents: { main: { allowlist: ["/usr/bin/git"] } } }',
    );
    expect((await run("set", "--file", "rules.json5")).out).toContain("ask always, autoAllowSkills true");
    const before = (await run("get", "--json")).json();
    expect(patterns(before, "main")).toEqual(["/usr/bin/git"]);
    for (const wrong of ["{ version: 2 }", "[]", "null", '{ version: 1, defaults: { ask: "sometimes" } }', "{"]) {
      writeFileSync(join(home, "wrong.json5"), wrong);
      const answer = await run("set", "--file", "wrong.json5");
      expect([wrong, answer.code]).not.toEqual([wrong, 0]);
    }
    expect((await run("get", "--json")).json()).toEqual(before);
  });

  test.each([
    ["a bare name", ["allowlist", "add", "git"], "is a program name, not a path"],
    ["no pattern", ["allowlist", "add"], "expected one pattern"],
    ["two patterns", ["allowlist", "remove", "/a", "/b"], "expected one pattern"],
    ["no source", ["set"], "--file <path> or --stdin"],
    ["two sources", ["set", "--file", "x", "--stdin"], "--file <path> or --stdin"],
    ["a file that is not there", ["set", "--file", "none.json"], "could not read the rules"],
    ["two places", ["get", "--gateway", "--node", "n"], "--gateway or --node"],
    ["a decision that is none", ["resolve", "1", "perhaps"], "allow-once, allow-always or deny"],
    ["no gateway", ["pending"], "no gateway is running"],
  ])("%s is refused with what to do", async (_, args, says) => {
    const answer = await run(...args);
    expect(answer.code).not.toBe(0);
    expect(answer.err).toContain(says);
  });
});

describe("over a gateway", () => {
  async function start() {
    let approvals: Approvals | undefined;
    let remembered: RememberedCommands | undefined;
    const rules = createExecRules({ path: join(home, "of-gateway.json"), clock: systemClock, ids, random: systemRandom });
    const later: Pick<Approvals, "request" | "resolve" | "list" | "history"> = {
      request: (...args) => approvals!.request(...args),
      resolve: (...args) => approvals!.resolve(...args),
      list: (...args) => approvals!.list(...args),
      history: (...args) => approvals!.history(...args),
    };
    const board = { wait: () => Promise.reject(new Error("not asked for here")), [Symbol.dispose]: () => undefined };
    const started = await startGateway({
      handlers: () => ({
        ...approvalHandlers({ approvals: later, board, clock: systemClock }),
        ...execRulesHandlers({
          config: { current: {} },
          rules: {
            ...rules,
            remembered: (...args) => remembered!.list(...args),
            forget: (...args) => remembered!.forget(...args),
            restore: (...args) => remembered!.restore(...args),
            ...NO_EXPLAINING,
          },
        }),
      }),
    });
    approvals = createApprovals({ store: started.store, clock: systemClock, ids });
    remembered = createRemembered({ store: started.store, clock: systemClock, ids });
    const flags = ["--url", started.gateway.url.replace(/^http/, "ws"), "--token", "t"];
    return { approvals, remembered, flags, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() };
  }

  test("its rules are read and changed, and this machine's are left alone", async () => {
    await using gateway = await start();
    const added = (await run("allowlist", "add", "/usr/bin/git", "--gateway", "--json", ...gateway.flags)).json();
    expect([added.path, patterns(added, "*")]).toEqual([join(home, "of-gateway.json"), ["/usr/bin/git"]]);
    expect((await run("get", "--json")).json()).toMatchObject({ exists: false });
  });

  test("open questions are listed without anything that could redraw the screen, and answered by the beginning of their id", async () => {
    await using gateway = await start();
    expect((await run("pending", ...gateway.flags)).out).toBe("No pending approvals\n");
    const request = { command: "rm -r build\u001b[2K\u202e", cwd: "/w", plan: { env: { SECRET: "x" } } };
    const one = await gateway.approvals.request({ kind: "exec", request, sessionKey: "agent:main:main", id: "aaaaaaaa-1" });
    const two = await gateway.approvals.request({ kind: "exec", request, id: "aaaaaaaa-2" });
    const shown = await run("pending", ...gateway.flags);
    expect(shown.out).toContain("rm -r build");
    for (const hidden of ["\u001b", "\u202e", "SECRET"]) expect(shown.out).not.toContain(hidden);
    const { approvals: listed } = (await run("pending", "--json", ...gateway.flags)).json();
    expect(listed.map(({ id }) => id)).toEqual([one.id, two.id]);
    expect((await run("resolve", "aaaaaaaa", "deny", ...gateway.flags)).err).toContain("2 approvals start with it");
    expect((await run("resolve", "aaaaaaaa-1", "allow", ...gateway.flags)).out).toBe("allow-once: aaaaaaaa-1\n");
    expect(await one.decision).toBe("allow-once");
    expect((await run("resolve", "aaaaaaaa", "always", "--json", ...gateway.flags)).json()).toEqual({
      ok: true,
      id: "aaaaaaaa-2",
      decision: "allow-always",
    });
    expect((await run("resolve", "aaaaaaaa-1", "deny", ...gateway.flags)).err).toContain("unknown, already decided or expired");
  });

  test("what was allowed for good is listed and forgotten, over the gateway and without one", async () => {
    await using gateway = await start();
    const plan = planCommand({ command: "echo 'a\u001b[2Kb'", cwd: home, host: "gateway", path: "/usr/bin:/bin" });
    await gateway.remembered.remember("main", plan, { workspace: home, home });
    const { commands } = (await run("remembered", "--json", ...gateway.flags)).json() as unknown as { commands: { id: string; covers: string }[] };
    expect(commands).toMatchObject([{ agentId: "main", covers: expect.stringContaining("echo with any names or files") }]);
    const shown = await run("remembered", ...gateway.flags);
    expect(shown.out).toContain(commands[0]!.id.slice(0, 8));
    expect((await run("remembered", "--agent", "other", ...gateway.flags)).out).toBe("No saved approvals\n");
    expect((await run("forget", "none", ...gateway.flags)).err).toContain("no remembered command has the id");
    expect((await run("forget", commands[0]!.id.slice(0, 8), ...gateway.flags)).out).toMatch(/^Removed for agent main: /);
    expect((await run("remembered", ...gateway.flags)).out).toBe("No saved approvals\n");
    expect((await run("remembered")).out).toBe("No saved approvals\n");
    expect((await run("forget", "none")).err).toContain("no remembered command has the id");
  });
});
