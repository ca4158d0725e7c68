import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AppError } from "../../base/errors.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Elevation, ExecToolDeps } from "./deps.ts";
import { execSettings } from "./settings.ts";
import { gateway, fixture, isAlive, sessionOf, SOON, text, UNASKED, withStore } from "./exec.fixture.ts";

withStore();

test("a command runs in the workspace; output, code and folder come back", async () => {
  const { exec, workspace } = fixture();
  expect(await exec({ command: "pwd" })).toEqual({
    content: [{ type: "text", text: workspace }],
    details: { status: "completed", exitCode: 0, durationMs: 0, aggregated: workspace, cwd: workspace },
    isError: false,
  });
  expect(text(await exec({ command: "echo out; echo err >&2; exit 3" }))).toMatch(/^(out\nerr|err\nout)\n\n\(Command exited with code 3\)$/);
  expect(text(await exec({ command: "true" }))).toBe("(no output)");
});

test("variables of the call arrive; those that load code are refused, and inherited ones are not passed on", async () => {
  const { exec } = fixture();
  expect(text(await exec({ command: 'echo "$GREETING ${NODE_OPTIONS-none}"', env: { GREETING: "hi" } }))).toBe("hi none");
  for (const name of ["LD_PRELOAD", "NODE_OPTIONS", "BASH_ENV", "DYLD_INSERT_LIBRARIES", "PYTHONHOME", "GCONV_PATH", "SSLKEYLOGFILE", "IFS"]) {
    expect(text(await exec({ command: "true", env: { [name]: "x" } }))).toMatch(/^Security Violation: /);
  }
});

test("a missing folder is reported, and the workspace is used", async () => {
  const { exec, workspace } = fixture();
  expect(text(await exec({ command: "pwd", workdir: "no/such" }))).toBe(
    `Warning: workdir ${JSON.stringify(join(workspace, "no/such"))} does not exist; running in ${JSON.stringify(workspace)}.\n\n${workspace}`,
  );
});

test("control characters do not come through, and half a character waits for its other half", async () => {
  const { exec } = fixture();
  expect(text(await exec({ command: `printf 'a\\033[31mb\\000\\007c\\342\\200\\256d\\te\\303'; printf '\\244'` }))).toBe("abcd\teä");
});

test("colours, titles and pictures of a terminal leave nothing behind, wherever they are split", async () => {
  const { exec } = fixture();
  const printed = String.raw`printf 'a\033[1;31mb\033[0m'; printf '\033]0;title\007c\033]8;;http://x\033\\d'; printf '\033]1337;File='; head -c 9000 /dev/zero | tr '\0' A; printf '\007e\033[3'; sleep 0.1; printf '2mf\n'; printf 'g\033]0;never ends'`;
  expect(text(await exec({ command: printed }))).toBe("abcdef\ng");
});

test("of a long output the beginning and the end are shown, and all of it is in a file", async () => {
  const { exec, workspace } = fixture();
  const outcome = await exec({ command: "echo first; seq 1 20000; echo 'the error at the end' >&2; exit 2" });
  const shown = text(outcome);
  expect(shown.length).toBeLessThan(41_000);
  expect(shown).toMatch(/^first\n1\n2\n/);
  expect(shown).toMatch(/the error at the end\n\n\(Command exited with code 2\)$/);
  const [, left, file] = /\[(\d+) characters left out here; all of it is in (\S+), which read shows in pages\]/.exec(shown)!;
  const whole = readFileSync(join(workspace, file!), "utf8");
  expect(whole).toHaveLength("first\n".length + 108_894 + "the error at the end\n".length);
  expect(Number(left)).toBeGreaterThan(whole.length - 41_000);
  expect(readFileSync(join(workspace, ".openclaw/outputs/.gitignore"), "utf8")).toBe("*\n");
  expect(outcome.details).toMatchObject({ exitCode: 2, aggregated: expect.stringContaining("the error at the end") as string });
});

test("of a command that prints faster than the disk writes, the file has every line", async () => {
  const { exec, workspace } = fixture();
  const [, file] = /all of it is in (\S+), which read/.exec(text(await exec({ command: "seq 1 600000" })))!;
  const written = readFileSync(join(workspace, file!), "utf8");
  expect(written).toHaveLength(4_088_895);
  expect(written.endsWith("\n599999\n600000\n")).toBe(true);
});

test("a long output is not written through a link that leads out of the workspace", async () => {
  const { exec, workspace } = fixture();
  const elsewhere = mkdtempSync(join(tmpdir(), "elsewhere-"));
  symlinkSync(elsewhere, join(workspace, ".openclaw"));
  expect(text(await exec({ command: "seq 1 20000" }))).toMatch(/\[\d+ characters left out here\]/);
  expect(readdirSync(elsewhere)).toEqual([]);
});

test("all of the long output of a command in the background is in a file, too", async () => {
  await using there = fixture();
  const { exec, workspace, process } = there;
  const sessionId = sessionOf(await exec({ command: "seq 1 20000; echo the end", background: true }));
  const ended = await process({ action: "poll", sessionId, timeout: 60_000 });
  const file = /All of its output is in (\S+)\.$/.exec(text(ended))![1]!;
  expect(text(ended)).toContain("the end\n\nProcess exited with code 0.");
  expect(readFileSync(join(workspace, file), "utf8")).toMatch(/^1\n2\n[^]*\n20000\nthe end\n$/);
});

test("binary output is described", async () => {
  const { exec } = fixture();
  expect(text(await exec({ command: "head -c 4000 /dev/urandom" }))).toMatch(/^\[binary output, not shown: about /);
});

test("a command that takes longer goes to the background and is followed there", async () => {
  await using there = fixture();
  const { exec, clock, workspace } = there;
  const running = exec({ command: "while [ ! -e go ]; do sleep 0.02; done; echo done", yieldMs: 50 });
  let over = false;
  void running.then(() => (over = true));
  await expect.poll(() => (clock.advance(50), over), SOON).toBe(true);
  const outcome = await running;
  expect(text(outcome)).toMatch(/^Command still running \(session [a-z]+-[a-z]+, pid \d+\)\. Use process \(.*\) for follow-up\.$/);
  expect(outcome.details).toMatchObject({ status: "running", pid: expect.any(Number), cwd: workspace, tail: "" });
  const sessionId = sessionOf(outcome);
  expect(text(await there.process({ action: "list" }))).toMatch(new RegExp(`^${sessionId} running {3}\\S+ :: while`));
  const polled = await there.process({ action: "poll", sessionId });
  expect(text(polled)).toBe("(no new output)\n\nProcess still running.");
  expect(polled.details).toMatchObject({ status: "running", retryInMs: 5000 });
  expect((await there.process({ action: "poll", sessionId })).details).toMatchObject({ retryInMs: 10_000 });
  expect(text(await there.process({ action: "list" }, "agent:main:other"))).toBe("No running or recent sessions.");
  expect(text(await there.process({ action: "poll", sessionId }, "agent:main:other"))).toBe(`No session found for ${sessionId}`);
  const waiting = there.process({ action: "poll", sessionId, timeout: 60_000 });
  writeFileSync(join(workspace, "go"), "");
  expect(text(await waiting)).toBe("done\n\nProcess exited with code 0.");
  await expect.poll(() => there.announced, SOON).toEqual([`Exec completed (${sessionId}, code 0) :: done`]);
  expect(text(await there.process({ action: "clear", sessionId }))).toBe(`Cleared session ${sessionId}.`);
  expect(text(await there.process({ action: "list" }))).toBe("No running or recent sessions.");
});

test("a finished command is forgotten after its time", async () => {
  await using there = fixture({ tools: { exec: { security: "full", ask: "off", cleanupMs: 60_000 } } });
  const sessionId = sessionOf(await there.exec({ command: "echo x", background: true }));
  await expect.poll(async () => text(await there.process({ action: "list" })), SOON).toMatch(/completed/);
  expect(there.announced).toHaveLength(1);
  there.clock.advance(60_000);
  expect(text(await there.process({ action: "log", sessionId }))).toBe(`No session found for ${sessionId}`);
});

test("time that is up ends the command and all it started", async () => {
  await using there = fixture();
  const running = there.exec({ command: "sleep 300 & echo $! > child; echo started; wait", timeout: 2, yieldMs: 120_000 });
  await expect.poll(() => existsSync(join(there.workspace, "child")) && readFileSync(join(there.workspace, "child"), "utf8").endsWith("\n"), SOON).toBe(true);
  await expect.poll(() => there.updates.length, SOON).toBeGreaterThan(0);
  there.clock.advance(2000);
  const outcome = await running;
  expect(outcome.isError).toBe(true);
  expect(text(outcome)).toBe("started\n\nCommand timed out after 2 seconds");
  const pid = Number(readFileSync(join(there.workspace, "child"), "utf8"));
  await expect.poll(() => isAlive(pid), SOON).toBe(false);
});

test("what ignores the first signal is killed three seconds later", async () => {
  await using there = fixture();
  const stop = new AbortController();
  const running = there.exec({ command: "trap '' TERM; echo ready; while :; do sleep 0.05; done" }, stop.signal);
  await expect.poll(() => there.updates.length, SOON).toBeGreaterThan(0);
  stop.abort();
  there.clock.advance(2999);
  expect(await Promise.race([running, Promise.resolve("running")])).toBe("running");
  there.clock.advance(1);
  expect(text(await running)).toBe("ready\n\nCommand aborted by signal SIGKILL");
});

test("stopping the turn ends a command in the foreground, never one in the background", async () => {
  await using there = fixture();
  const stop = new AbortController();
  const left = await there.exec({ command: "sleep 300", background: true }, stop.signal);
  const running = there.exec({ command: "sleep 300" }, stop.signal);
  await expect.poll(() => there.processes.list("agent:main:main").length, SOON).toBe(1);
  stop.abort();
  expect(text(await running)).toMatch(/^Command aborted (by signal SIGTERM|before it started)$/);
  const sessionId = sessionOf(left);
  expect(text(await there.process({ action: "poll", sessionId }))).toMatch(/still running/);
  expect(await there.process({ action: "kill", sessionId })).toMatchObject({ details: { status: "failed" }, isError: false });
  expect(text(await there.process({ action: "poll", sessionId, timeout: 60_000 }))).toMatch(/Process exited with signal SIGTERM\.$/);
  await expect.poll(() => there.announced, SOON).toEqual([`Exec failed (${sessionId}, signal SIGTERM)`]);
});

test("without the process tool nothing goes to the background", async () => {
  const { exec } = fixture(UNASKED, { canBackground: () => false });
  expect(text(await exec({ command: "echo x", background: true }))).toBe("Warning: the process tool is not allowed here; running in the foreground.\n\nx");
});

test("a call may not choose another host, and a sandbox that is missing is not walked around", async () => {
  expect(text(await fixture().exec({ command: "true", host: "gateway" }))).toBe(
    "exec host not allowed (requested gateway; configure tools.exec.host=sandbox to allow).",
  );
  const boxed = fixture({}, { sandboxed: () => true });
  expect(text(await boxed.exec({ command: "touch escaped" }))).toMatch(/must run in a sandbox/);
  expect(existsSync(join(boxed.workspace, "escaped"))).toBe(false);
  expect(text(await fixture({ tools: { exec: { host: "node" } } }).exec({ command: "true" }))).toMatch(/paired node/);
});

test("on the host the rules decide; a call makes them stricter only", async () => {
  const full: OpenClawConfig = { tools: { exec: { host: "gateway", security: "full" } } };
  expect(text(await fixture(full).exec({ command: "echo x" }))).toBe("x");
  expect(text(await fixture(full).exec({ command: "echo x", security: "deny" }))).toBe("exec denied: host=gateway security=deny");
  const closed: OpenClawConfig = { tools: { exec: { host: "gateway", ask: "off" } } };
  expect(await fixture(closed).exec({ command: "echo x", security: "full" })).toMatchObject({ isError: true, details: { status: "error" } });
  expect(text(await fixture(closed).exec({ command: "echo x", security: "full" }))).toBe("exec denied: allowlist miss");
  expect(text(await fixture(full, {}, { version: 1, defaults: { security: "deny" } }).exec({ command: "echo x" }))).toBe(
    "exec denied: host=gateway security=deny",
  );
});

test("an approved command runs in the background and is announced; once is once", async () => {
  await using there = fixture(gateway);
  const asked = await there.exec({ command: "echo approved > made; echo said" });
  const { approvalId } = asked.details as { approvalId: string };
  expect(text(asked)).toBe(`Approval required (id ${approvalId.slice(0, 8)}). Approve to run; updates will arrive after completion.`);
  expect(asked.details).toMatchObject({ status: "approval-pending", host: "gateway", command: "echo approved > made; echo said", cwd: there.workspace });
  expect(existsSync(join(there.workspace, "made"))).toBe(false);
  await there.approvals.resolve(approvalId, "allow-once");
  await expect.poll(() => there.announced[0], SOON).toMatch(new RegExp(`^Exec finished \\(gateway id=${approvalId}, session=[a-z]+-[a-z]+, code 0\\)\nsaid$`));
  expect(readFileSync(join(there.workspace, "made"), "utf8")).toBe("approved\n");
  expect(text(await there.exec({ command: "echo approved > made; echo said" }))).toMatch(/^Approval required/);
});

test("always is remembered for the program with its options", async () => {
  await using there = fixture(gateway, {}, undefined, "always");
  const { approvalId } = (await there.exec({ command: "uname -s" })).details as { approvalId: string };
  await there.approvals.resolve(approvalId, "allow-always");
  await expect.poll(() => there.announced.length, SOON).toBe(1);
  expect((await there.exec({ command: "uname -s" })).details).toMatchObject({ status: "completed", exitCode: 0 });
  expect(text(await there.exec({ command: "uname -m" }))).toMatch(/^Approval required/);
  expect(text(await there.exec({ command: "uname -s && id" }))).toMatch(/^Approval required/);
});

test.each([
  ["deny", "deny", "user-denied"],
  ["nobody", undefined, "approval-timeout"],
])("what was not approved does not run: %s", async (_, decision, why) => {
  await using there = fixture(gateway);
  const { approvalId } = (await there.exec({ command: "touch made" })).details as { approvalId: string };
  if (decision === undefined) there.clock.advance(120_000);
  else await there.approvals.resolve(approvalId, decision);
  await expect.poll(() => there.announced, SOON).toEqual([`Exec denied (gateway id=${approvalId}, ${why}): touch made`]);
  expect(existsSync(join(there.workspace, "made"))).toBe(false);
});

test("a session goes on with what became of a command that was asked about: its end, a refusal, or that nobody decided", async () => {
  const outcomes: unknown[] = [];
  const goOn: ExecToolDeps["goOn"] = async ({ command, origin }, outcome) => void outcomes.push([command, origin, outcome]);
  await using there = fixture(gateway, { goOn, origin: ({ runId }) => ({ from: runId }) });
  const ask = async (command: string): Promise<string> => ((await there.exec({ command })).details as { approvalId: string }).approvalId;
  await there.approvals.resolve((await ask("echo said; exit 3")).slice(0, 8), "allow-once");
  const ended = { state: "ended", exitCode: 3, signal: null, timedOut: false, output: "said", session: expect.stringMatching(/^[a-z]+-[a-z]+$/) };
  await expect.poll(() => outcomes, SOON).toMatchObject([["echo said; exit 3", { from: "r" }, ended]]);
  await there.approvals.resolve(await ask("echo no"), "deny");
  await expect.poll(() => outcomes[1], SOON).toEqual(["echo no", { from: "r" }, { state: "denied", why: "user-denied" }]);
  await ask("echo late");
  there.clock.advance(120_000);
  await expect.poll(() => outcomes[2], SOON).toEqual(["echo late", { from: "r" }, { state: "denied", why: "approval-timeout" }]);
  expect(there.announced).toEqual([]);
});

test("one that was ended on purpose wakes no session; one that ends with the gateway is left for the next", async () => {
  const outcomes: unknown[] = [];
  const there = fixture(gateway, { goOn: async (_, outcome) => void outcomes.push(outcome) });
  const start = async (): Promise<void> => {
    const before = there.processes.list("agent:main:main").filter(({ end }) => !end).length;
    await there.approvals.resolve(((await there.exec({ command: "sleep 300" })).details as { approvalId: string }).approvalId, "allow-once");
    await expect.poll(() => there.processes.list("agent:main:main").filter(({ end }) => !end).length, SOON).toBe(before + 1);
  };
  await start();
  there.processes.list("agent:main:main")[0]!.kill();
  await expect.poll(() => there.announced, SOON).toEqual([expect.stringMatching(/^Exec finished \(.*signal SIGTERM\)$/)]);
  await start();
  await there[Symbol.asyncDispose]();
  expect([outcomes, there.announced.length]).toEqual([[], 1]);
});

test("a command that cannot be shown in full to the approver is refused", async () => {
  const outcome = await fixture(gateway).exec({ command: `echo ${"x".repeat(100_000)}` });
  expect([outcome.isError, text(outcome)]).toEqual([true, expect.stringContaining("cannot be shown in full")]);
});

test("when nobody answers, the fallback of the rules holds", async () => {
  await using there = fixture(gateway, {}, { version: 1, defaults: { askFallback: "allowlist" } });
  await there.exec({ command: "touch made" });
  there.clock.advance(120_000);
  await expect.poll(() => there.announced[0], SOON).toContain("approval-timeout (allowlist-miss)");
  await using free = fixture(gateway, {}, { version: 1, defaults: { askFallback: "full" } });
  await free.exec({ command: "touch made" });
  free.clock.advance(120_000);
  await expect.poll(() => existsSync(join(free.workspace, "made")), SOON).toBe(true);
});

test("as delivered nothing runs on this machine that nobody allowed, although no sandbox is configured", async () => {
  await using there = fixture({});
  expect((await there.exec({ command: "echo x" })).details).toMatchObject({ status: "approval-pending", host: "gateway" });
});

test("variables of plugins are part of the plan, those of skills reach the command and no question", async () => {
  const pluginEnvironment = () => Promise.resolve({ FROM_PLUGIN: "p" });
  await using there = fixture(UNASKED, { pluginEnvironment });
  expect(text(await there.exec({ command: "echo $FROM_PLUGIN $OWN", env: { OWN: "o" } }))).toBe("p o");
  await using asking = fixture({}, { pluginEnvironment });
  await asking.exec({ command: "echo x", env: { OWN: "o" } });
  const [question] = await asking.approvals.list();
  expect(question!.request).toMatchObject({ environment: "FROM_PLUGIN (set by plugins), OWN=o", plan: { env: { FROM_PLUGIN: "p", OWN: "o" } } });
});

test("elevated runs on the host when it is permitted, and says why when not", async () => {
  const level = (elevation: Elevation) => fixture({}, { elevation: () => elevation });
  expect(text(await fixture().exec({ command: "true", elevated: true }))).toContain("tools.elevated.enabled is false");
  expect(text(await level({ permitted: true, level: "full" }).exec({ command: "echo x", elevated: true }))).toBe("x");
  expect(text(await level({ permitted: true, level: "on" }).exec({ command: "id > x", elevated: true }))).toMatch(/^(Approval required|exec denied)/);
  expect(text(await fixture(UNASKED, { elevation: () => ({ permitted: true, level: "on" }) }).exec({ command: "echo x", elevated: false }))).toBe("x");
});

test("an elevated command of a sandboxed session runs on the host, in the folder that the session works in", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sandbox-")));
  mkdirSync(join(folder, "sub"));
  const files = { mounts: [{ inside: "/workspace", host: folder, writable: true }], readOnly: false, ready: () => Promise.resolve() };
  const sandboxed: Partial<ExecToolDeps> = {
    sandboxed: () => true,
    sandbox: () => ({ files }) as never,
    elevation: () => ({ permitted: true, level: "full" }),
  };
  const { exec } = fixture(UNASKED, sandboxed);
  const where = async (workdir?: string): Promise<string> =>
    text(await exec({ command: "pwd", elevated: true, ...(workdir === undefined ? {} : { workdir }) }));
  expect(await where()).toBe(folder);
  expect(await where("sub")).toBe(join(folder, "sub"));
  expect(await where("/workspace/sub")).toBe(join(folder, "sub"));
  expect(await where("/")).toBe("/");
  expect(text(await exec({ command: "seq 1 20000", elevated: true }))).toContain("all of it is in .openclaw/outputs/");
  expect(readdirSync(join(folder, ".openclaw/outputs")).filter((name) => name.endsWith(".txt"))).toHaveLength(1);
  expect(await where("/workspace/none")).toContain(`does not exist; running in ${JSON.stringify(folder)}.`);
  const broken = fixture(UNASKED, {
    ...sandboxed,
    sandbox: () => {
      throw new AppError("UNAVAILABLE", "no docker here");
    },
  });
  expect(text(await broken.exec({ command: "pwd", elevated: true }))).toBe(broken.workspace);
});

test("elevated full asks nobody, as far as the configuration, the session and the file of approvals go", async () => {
  const full = (config: OpenClawConfig, rules?: object, over = {}) =>
    fixture(config, { elevation: () => ({ permitted: true, level: "full" }), ...over }, rules).exec({ command: "echo x", elevated: true });
  expect(text(await full({}))).toBe("x");
  expect(text(await full({ tools: { exec: { security: "deny" } } }))).toBe("exec denied: host=gateway security=deny");
  expect(text(await full({ tools: { exec: { ask: "always" } } }))).toMatch(/^Approval required/);
  expect(text(await full({}, { version: 1, defaults: { security: "deny" } }))).toBe("exec denied: host=gateway security=deny");
  expect(text(await full({}, { version: 1, defaults: { ask: "always" } }))).toMatch(/^Approval required/);
  const denied = { settings: () => execSettings({}, "main", { security: "deny" }), sandboxed: () => true };
  expect(text(await full({}, undefined, denied))).toContain("security=deny for this session");
});

test("programs of skills run unasked where the rules say so, by the file that their name means on this machine", async () => {
  const skillPrograms = () => Promise.resolve(["uname", "../uname", "no-such-program"]);
  await using asking = fixture(gateway, { skillPrograms });
  expect(text(await asking.exec({ command: "uname -s" }))).toMatch(/^Approval required/);
  await using there = fixture(gateway, { skillPrograms }, { version: 1, agents: { main: { autoAllowSkills: true } } });
  expect((await there.exec({ command: "uname -s" })).details).toMatchObject({ status: "completed", exitCode: 0 });
  expect(text(await there.exec({ command: "uname -s; id" }))).toMatch(/^Approval required/);
  writeFileSync(join(there.workspace, "uname"), "#!/bin/sh\ntouch made\n", { mode: 0o755 });
  expect(text(await there.exec({ command: "./uname" }))).toMatch(/^Approval required/);
});

test("a program of a skill that lies in the workspace is asked about: the agent may have written it", async () => {
  const env = { PATH: process.env["PATH"], SHELL: "/bin/sh" };
  await using there = fixture(gateway, { env, skillPrograms: () => Promise.resolve(["made-here"]) }, { version: 1, defaults: { autoAllowSkills: true } });
  env.PATH = `${there.workspace}:${env.PATH}`;
  writeFileSync(join(there.workspace, "made-here"), "#!/bin/sh\necho ran\n", { mode: 0o755 });
  expect(text(await there.exec({ command: "made-here" }))).toMatch(/^Approval required/);
});

test("commands without a terminal cannot be typed into", async () => {
  await using there = fixture();
  const sessionId = sessionOf(await there.exec({ command: "sleep 300", background: true }));
  for (const action of ["write", "send-keys", "paste", "submit"]) {
    expect(await there.process({ action, sessionId, data: "x", keys: ["Enter"], text: "x" })).toMatchObject({
      content: [{ text: `${action} needs a terminal, and session ${sessionId} has none; run the command with pty: true.` }],
      details: { status: "failed" },
    });
  }
  expect((await there.process({ action: "dance", sessionId })).details).toEqual({ status: "failed" });
  expect(text(await there.process({ action: "poll" }))).toBe("sessionId is required for this action.");
  expect(text(await there.process({ action: "remove", sessionId }))).toBe(`Removed session ${sessionId}.`);
  expect(text(await there.process({ action: "list" }))).toBe("No running or recent sessions.");
});
