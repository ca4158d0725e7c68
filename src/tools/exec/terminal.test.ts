import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecToolDeps } from "./deps.ts";
import { resolveExecutable } from "../executables.ts";
import { createTerminals } from "./terminal.ts";
import { gateway, fixture, type Fixture, isAlive, sessionOf, SOON, text, UNASKED, withStore } from "./exec.fixture.ts";

withStore();

const PATH = "/usr/local/bin:/usr/bin:/bin";

/** A PATH with all a command needs here, and one program that can hold a terminal, or none. */
function pathWith(holder: string | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), "terminal-"));
  for (const name of ["sh", "sleep", "tty", "stty", "cat", "bash", holder]) {
    const file = name === undefined ? undefined : resolveExecutable(name, "/", PATH);
    if (file !== undefined) symlinkSync(file, join(folder, name!));
  }
  return folder;
}

function at(path: string, rest: Partial<ExecToolDeps> = {}): Fixture {
  return fixture(UNASKED, { env: { PATH: path, SHELL: "/bin/sh", TERM: "", LC_CHOSEN: "yes" }, ...rest });
}

const output = async ({ process }: Fixture, sessionId: string): Promise<string> => text(await process({ action: "log", sessionId }));

const HOLDERS = ["script", "python3"].filter((name) => resolveExecutable(name, "/", PATH) !== undefined);

describe.each(HOLDERS)("a terminal held by %s", (holder) => {
  const path = pathWith(holder);

  test("is one for input, output and errors, and has a size and a kind", async () => {
    await using there = at(path);
    const asked = { command: 'tty && test -t 0 && test -t 1 && test -t 2 && stty size && echo "$TERM $COLUMNS $LINES $SHELL $LC_CHOSEN"; exit 3', pty: true };
    const outcome = await there.exec(asked);
    expect(text(outcome)).toMatch(/^\/dev\/(?:pts\/|tty)\S+\n30 120\nxterm-256color 120 30 \/bin\/sh yes\n\n\(Command exited with code 3\)$/);
    expect(outcome.details).toMatchObject({ status: "completed", exitCode: 3, cwd: there.workspace });
  });

  test("is as large as the call says", async () => {
    await using there = at(path);
    expect(text(await there.exec({ command: "stty size", pty: true, env: { COLUMNS: "80", LINES: "24" } }))).toBe("24 80");
    expect(text(await there.exec({ command: "stty size", pty: true, env: { COLUMNS: "1; touch made", LINES: "0" } }))).toBe("30 120");
    expect(existsSync(join(there.workspace, "made"))).toBe(false);
  });

  test("runs the planned words and no others", async () => {
    await using there = at(path);
    expect(text(await there.exec({ command: `printf '%s|' 'a b' "it's" '$HOME' '"' ''`, pty: true }))).toBe(`a b|it's|$HOME|"||`);
  });

  test("a program that asks is answered with write, send-keys, submit and paste", async () => {
    await using there = at(path);
    const command = `printf 'name? '; read -r name; printf 'age? '; read -r age; printf 'town? '; read -r town; echo "$name is $age in $town"; cat; echo over`;
    const started = await there.exec({ command, pty: true, background: true });
    expect(text(started)).toContain("Use process (list/poll/log/write/send-keys/submit/paste/kill/clear/remove) for follow-up.");
    const sessionId = sessionOf(started);
    await expect.poll(() => output(there, sessionId), SOON).toContain("name?");
    expect(text(await there.process({ action: "write", sessionId, data: "Zoë\n" }))).toBe(`Wrote 5 bytes to session ${sessionId}.`);
    await expect.poll(() => output(there, sessionId), SOON).toContain("age?");
    expect(text(await there.process({ action: "send-keys", sessionId, literal: "4", hex: ["30"], keys: ["7", "BSpace"] }))).toBe(
      `Sent 4 bytes to session ${sessionId}.`,
    );
    expect(text(await there.process({ action: "submit", sessionId }))).toBe(`Submitted session ${sessionId}.`);
    await expect.poll(() => output(there, sessionId), SOON).toContain("town?");
    await there.process({ action: "paste", sessionId, text: "Bern", bracketed: false });
    await there.process({ action: "submit", sessionId });
    await expect.poll(() => output(there, sessionId), SOON).toContain("Zoë is 40 in Bern");
    expect(text(await there.process({ action: "write", sessionId, eof: true }))).toBe(`Wrote 1 bytes to session ${sessionId}.`);
    expect(text(await there.process({ action: "poll", sessionId, timeout: 60_000 }))).toMatch(/over\n\nProcess exited with code 0\.$/);
    expect(text(await there.process({ action: "submit", sessionId }))).toBe(`Session ${sessionId} has ended; its input is closed.`);
  });

  test("Ctrl+C reaches the foreground process", async () => {
    await using there = at(path);
    const sessionId = sessionOf(
      await there.exec({ command: "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.02; done", pty: true, background: true }),
    );
    await expect.poll(() => output(there, sessionId), SOON).toContain("ready");
    await there.process({ action: "send-keys", sessionId, keys: ["C-c"] });
    expect(text(await there.process({ action: "poll", sessionId, timeout: 60_000 }))).toMatch(/caught\n\nProcess exited with code 5\.$/);
  });

  test("is killed as a tree, and says nothing of its own", async () => {
    await using there = at(path);
    const command = "sleep 300 & echo $! > one; bash -c 'set -m; trap \"\" HUP TERM; sleep 300 & echo $! > two; wait' & echo ready; wait";
    const stop = new AbortController();
    const running = there.exec({ command, pty: true }, stop.signal);
    const pidIn = (name: string): number => (existsSync(join(there.workspace, name)) ? Number(readFileSync(join(there.workspace, name), "utf8")) : 0);
    await expect.poll(() => pidIn("one") > 0 && pidIn("two") > 0 && there.updates.length > 0, SOON).toBe(true);
    stop.abort();
    await expect.poll(() => isAlive(pidIn("one")), SOON).toBe(false);
    there.clock.advance(3000);
    const outcome = await running;
    expect(text(outcome)).toMatch(/^ready\n\nCommand aborted by signal SIG(?:TERM|KILL)$/);
    expect(outcome.isError).toBe(true);
    await expect.poll(() => isAlive(pidIn("two")), SOON).toBe(false);
  });

  test("what a program asks of its terminal is answered, and what it draws is left out of the text", async () => {
    await using there = at(path);
    const ask = String.raw`stty raw -echo; printf '\033[6n'; answer=$(dd bs=1 count=6 2>/dev/null | od -An -c | tr -d ' \n'); stty sane; echo "$answer"; printf '\033[1;31mred\033[0m\033]0;title\007 \033(B.\r\n'`;
    await using full = fixture(UNASKED, { env: { PATH: `${path}:${PATH}`, SHELL: "/bin/sh" } });
    expect(text(await full.exec({ command: ask, pty: true }))).toBe("033[1;1R\nred .");
    expect(text(await there.exec({ command: "echo x", pty: true }))).toBe("x");
  });
});

test("where nothing can hold a terminal the command runs without one and says so", async () => {
  await using there = at(pathWith(undefined));
  expect(text(await there.exec({ command: "test -t 1 || echo none", pty: true }))).toBe("Warning: no terminal is available here; running without one.\n\nnone");
});

test("the plan that is asked about says that it has a terminal, and is the one that runs", async () => {
  await using there = fixture(gateway);
  const { approvalId } = (await there.exec({ command: "tty && test -t 0 && echo typed", pty: true })).details as { approvalId: string };
  const [asked] = await there.approvals.list();
  expect(asked?.request).toMatchObject({
    command: "tty && test -t 0 && echo typed",
    plan: { pty: true, command: "tty && test -t 0 && echo typed", cwd: there.workspace },
  });
  expect(JSON.stringify(asked?.request)).not.toMatch(/script -q|\/dev\/null/);
  await there.approvals.resolve(approvalId, "allow-once");
  await expect.poll(() => there.announced[0], SOON).toMatch(/code 0\)\n\/dev\/\S+\ntyped$/);
});

test("no list covers a command in a terminal: what is typed later it has not seen", async () => {
  const rules = { version: 1, agents: { main: { allowlist: [{ pattern: "/**/uname" }] } } };
  await using there = fixture(gateway, {}, rules);
  expect((await there.exec({ command: "uname -s" })).details).toMatchObject({ status: "completed" });
  expect(text(await there.exec({ command: "uname -s", pty: true }))).toMatch(/^Approval required/);
});

test("a program that could not hold a terminal once is tried again by the next command", async () => {
  const [holder] = HOLDERS;
  if (holder === undefined) return;
  const path = pathWith(undefined);
  const file = join(path, holder);
  writeFileSync(file, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const terminals = createTerminals(path);
  expect(await terminals.for(undefined)).toBeUndefined();
  rmSync(file);
  symlinkSync(resolveExecutable(holder, "/", PATH)!, file);
  const found = await terminals.for(undefined);
  expect(found).toBeDefined();
  expect(await terminals.for(undefined)).toBe(found);
});
