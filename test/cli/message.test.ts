import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { message } from "../../src/cli/commands/message/index.ts";
import { dispatch } from "../../src/cli/dispatch.ts";
import { showFailure } from "../../src/cli/failure.ts";
import type { Io } from "../../src/cli/io.ts";
import { createWhy } from "../../src/conversation/why/index.ts";
import { openStore } from "../../src/store/index.ts";
import { startScripted } from "../harness/scripted-gateway.ts";

/** A home of its own; commands see nothing else. */
function makePlace() {
  const home = mkdtempSync(join(tmpdir(), "message-cli-"));
  const stateDir = join(home, "state");
  const path = join(home, "openclaw.json");
  writeFileSync(path, "{}");
  async function run(...args: string[]) {
    const written = { out: "", err: "" };
    const io: Io = {
      env: { HOME: home, OPENCLAW_STATE_DIR: stateDir, OPENCLAW_CONFIG_PATH: path },
      cwd: home,
      version: "9.9.9",
      out: (text) => void (written.out += text),
      err: (text) => void (written.err += text),
      program: "openclaw",
      runnable: (text: string) => text,
      color: false,
      interactive: false,
      columns: 160,
      now: () => 0,
      confirm: () => Promise.resolve(false),
      signal: () => new AbortController().signal,
    };
    const entry = { name: "message", summary: "", load: () => Promise.resolve(message) };
    const code = await dispatch([entry], ["message", ...args], io).catch((error: unknown) => showFailure(error, io, args.includes("--json")));
    return { code: code ?? 0, ...written };
  }
  /** As if the gateway of this state folder listened there. */
  function lock(url: string): void {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const holder = {
      pid: process.pid,
      createdAt: new Date(0).toISOString(),
      configPath: path,
      stateDir,
      port: Number(new URL(url).port),
      runSecret: "a-secret-of-this-test",
    };
    writeFileSync(join(stateDir, "gateway.lock"), JSON.stringify(holder), { mode: 0o600 });
  }
  return { run, lock };
}

/** Runs a command against a gateway that answers once; gives what it was asked. */
async function ask(answer: unknown, ...args: string[]) {
  await using gateway = await startScripted();
  const place = makePlace();
  place.lock(gateway.url);
  const running = place.run(...args);
  const visitor = await gateway.visitor();
  await visitor.welcome();
  const asked = await visitor.take();
  visitor.answer(asked, answer);
  return { asked, ...(await running) };
}

/** The commands in what `why` says to do about a delivery that was given up. */
async function advised(): Promise<string> {
  const stateDir = mkdtempSync(join(tmpdir(), "message-cli-"));
  await using store = await openStore({ stateDir, clock: systemClock });
  const row = { nonce: "n", channel: "chat", account: "default", target: "5", payload: { kind: "final", text: "hi" }, expiresAt: Number.MAX_SAFE_INTEGER };
  const { ids } = await store.write("outbox.add", { rows: [row] });
  await store.write("outbox.mark", { id: ids[0]!, state: "failed", why: "chat not found" });
  const [story] = await createWhy({ store, now: systemClock.now }).tell(`out:${ids[0]}`);
  return story!.verdict.todo ?? "";
}

describe("the gateway is asked", () => {
  test("to send again what was given up, by the command that `why` prints", async () => {
    const printed = /openclaw message (resend .+)$/.exec(await advised());
    const { asked, code, out } = await ask({ runId: "r", messageId: "m2", channel: "chat" }, ...printed![1]!.split(" "));
    expect([asked.method, asked.params["id"]]).toEqual(["message.resend", "out:1"]);
    expect([code, out]).toEqual([0, "Sent to chat as message m2\n"]);
  });

  test("to send, with a key of its own", async () => {
    const args = ["send", "--channel", "Telegram", "-t", "5", "-m", "hi", "--reply-to", "3", "--silent", "--buttons", `[["a"]]`, "--account", "work"];
    const { asked, code, out } = await ask({ action: "send", channel: "telegram", to: "5", messageIds: ["m1"], state: "sent" }, ...args);
    expect(asked.method).toBe("message.action");
    const { idempotencyKey, ...params } = asked.params;
    expect(idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(params).toEqual({
      action: "send",
      channel: "telegram",
      accountId: "work",
      params: { to: "5", message: "hi", replyTo: "3", silent: true, channelData: { telegram: { buttons: [["a"]] } } },
    });
    expect([code, out]).toEqual([0, "send → telegram 5 (m1)\n"]);
  });

  test.each([[["send"]], [["send", "--json"]], [["broadcast", "--targets", "6"]]])(
    "%j whose file may not be sent fails, and reports that the text went out",
    async ([name, ...more]) => {
      const answer = { action: "send", channel: "chat", to: "5", messageIds: ["m1"], state: "sent", why: "not sent: passwd: sending this file is not allowed" };
      const target = name === "send" ? ["-t", "5"] : [];
      const { code, out, err } = await ask(answer, name!, ...more, ...target, "--channel", "chat", "-m", "hi", "--media", "/etc/passwd");
      expect([code, out + err]).toEqual([1, expect.stringContaining("not sent: passwd: sending this file is not allowed; the text was sent without it")]);
      expect(out).toContain(name === "send" ? "m1" : "6: not sent");
    },
  );

  test("again, and what was sent without its file is no success", async () => {
    const { code, err } = await ask({ runId: "r", messageId: "m2", channel: "chat", why: "not sent: clip.mp4 is too large" }, "resend", "out:1");
    expect([code, err]).toEqual([1, "not sent: clip.mp4 is too large; the text was sent without it\n"]);
  });

  test.each([
    [
      ["poll", "-t", "5", "--poll-question", "?", "--poll-option", "a", "--poll-option", "b", "--poll-duration-seconds", "60", "--poll-public"],
      "poll",
      { to: "5", pollQuestion: "?", pollOption: ["a", "b"], pollDurationSeconds: 60, pollAnonymous: false },
    ],
    [["react", "-t", "5", "--message-id", "9", "--emoji", "👍", "--remove"], "react", { to: "5", messageId: "9", emoji: "👍", remove: true }],
    [["reactions", "-t", "5", "--message-id", "9", "--limit", "3"], "reactions", { to: "5", messageId: "9", limit: 3 }],
    [["read", "-t", "5", "--before", "8"], "read", { to: "5", before: "8" }],
    [["edit", "-t", "5", "--message-id", "9", "-m", "x"], "edit", { to: "5", messageId: "9", message: "x" }],
    [["pins", "-t", "5"], "list-pins", { to: "5" }],
    [["thread", "create", "-t", "5", "--thread-name", "n"], "thread-create", { to: "5", threadName: "n" }],
    [["role", "add", "--guild-id", "1", "--user-id", "2", "--role-id", "3"], "role-add", { guildId: "1", userId: "2", roleId: "3" }],
  ])("%j is %s", async (args, action, params) => {
    const { asked, code, out } = await ask({ action, result: { ok: true } }, ...args, "--json");
    expect(asked.params).toMatchObject({ action, params });
    expect([code, JSON.parse(out)]).toEqual([0, { action, result: { ok: true } }]);
  });
});

test.each([
  [["send", "-m", "x"], "--target is missing"],
  [["send", "-t", "5"], "--message or --media or --buttons or --components or --card is missing"],
  [["send", "-t", "5", "--buttons", "{"], "--buttons takes JSON"],
  [["send", "-t", "5", "--card", "{}"], "--channel is missing"],
  [["read", "-t", "5", "--limit", "many"], `--limit takes a number, not "many"`],
  [["edit", "-t", "5", "--message-id", "1"], "--message is missing"],
  [["broadcast", "-m", "x"], "--targets is missing"],
])("%j is refused before anybody is asked", async (args, words) => {
  const { code, err } = await makePlace().run(...args);
  expect(code).not.toBe(0);
  expect(err).toContain(words);
});

test("without a gateway a dry run shows what would be asked, and a real one fails", async () => {
  const place = makePlace();
  const dry = await place.run("send", "--channel", "chat", "-t", "5", "-m", "x", "--dry-run");
  expect([dry.code, dry.out]).toEqual([0, "would send → chat\n"]);
  expect(dry.err).toContain("No gateway is running");
  const json = await place.run("broadcast", "--targets", "5", "--targets", "6", "-m", "x", "--dry-run", "--json");
  expect(JSON.parse(json.out)).toEqual({
    ok: true,
    dryRun: true,
    results: [
      { target: "5", ok: true },
      { target: "6", ok: true },
    ],
  });
  expect((await place.run("send", "--channel", "chat", "-t", "5", "-m", "x")).code).not.toBe(0);
});
