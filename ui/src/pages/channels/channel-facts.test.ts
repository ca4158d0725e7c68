import { describe, expect, test } from "vitest";
import { adviceFor, bindingsOf, controlsOf, issuesOf, probeWords, settingsPath, standing, type Account } from "./channel-facts.ts";

const account = (over: Partial<Account> = {}): Account => ({ accountId: "default", enabled: true, configured: true, running: true, ...over });

describe("how an account does", () => {
  const word = (over: Partial<Account>): string => standing(account(over)).word;
  test("is the first thing that keeps it from working", () => {
    expect([
      word({ enabled: false, running: false }),
      word({ configured: false }),
      word({ linked: false }),
      word({ running: false }),
      word({ connected: false }),
      word({ connected: false, reconnectAttempts: 2 }),
      word({ connected: true }),
      word({}),
    ]).toEqual(["Off", "Not set up", "Not logged in", "Stopped", "Connecting", "Reconnecting", "Connected", "Running"]);
  });
  test("a stop with an error is bad, and the gateway's reason is shown", () => {
    expect(standing(account({ running: false, lastError: "401", health: { state: "stuck", why: "the token was refused" } }))).toEqual({
      word: "Stopped",
      look: "bad",
      why: "the token was refused",
    });
  });
});

test("an account that can only send or only receive says so, with what to do", () => {
  const conflict = { state: "conflict", text: "Telegram refused getUpdates: 409", fix: "Stop the other program" };
  const sends = account({ connected: false, lastError: conflict.text, receiving: conflict, sending: { state: "ok" } });
  expect([standing(sends).word, issuesOf(sends)]).toEqual(["Sending only", [{ message: `Receiving: ${conflict.text}`, fix: conflict.fix }]]);
  const receives = account({ connected: true, receiving: { state: "ok" }, sending: { state: "error", text: "sendMessage: no answer", since: 1 } });
  expect([standing(receives).word, issuesOf(receives)]).toEqual(["Receiving only", [{ message: "Sending: sendMessage: no answer" }]]);
});

test("an account that stopped manually is shown as such before anything else, and can be started; one that runs or is retried can be stopped", () => {
  expect(standing(account({ stoppedByHand: true, running: false, linked: false, lastError: "401" }))).toMatchObject({ word: "Stopped manually", look: "warn" });
  const held = account({ stoppedByHand: true, running: false, health: { state: "down", why: "stopped manually" } });
  const gaveUp = account({ running: false, health: { state: "down", why: "401" } });
  const tries = account({ running: false, health: { state: "degraded", why: "restarts in 5s: refused" } });
  expect([controlsOf(held), controlsOf(gaveUp), controlsOf(account({ running: false }))]).toEqual([["start"], ["start"], ["start"]]);
  expect([controlsOf(tries), controlsOf(account())]).toEqual([
    ["restart", "stop"],
    ["restart", "stop"],
  ]);
  expect([controlsOf(account({ enabled: false })), controlsOf(account({ configured: false }))]).toEqual([[], []]);
});

test("an error is shown once: the gateway's reason and the probe do not repeat it", () => {
  const shown = (over: Partial<Account>): readonly unknown[] => {
    const shown = account({ running: false, lastError: "getMe: refused", ...over });
    return [standing(shown).why, issuesOf(shown).map(({ message }) => message), probeWords(shown)?.text];
  };
  expect(shown({ health: { state: "down", why: "getMe: refused" } })).toEqual([undefined, ["getMe: refused"], undefined]);
  expect(shown({ health: { state: "degraded", why: "restarts in 5s: getMe: refused" } })).toEqual(["restarts in 5s", ["getMe: refused"], undefined]);
  expect(shown({ health: { state: "down", why: "gave up after 3 restarts: getMe: refused" }, probe: { ok: false, error: "getMe: refused" } })).toEqual([
    "gave up after 3 restarts",
    ["getMe: refused"],
    "",
  ]);
  expect(shown({ issues: [{ message: "refused" }], health: { state: "down", why: "getMe: refused" } })).toEqual([undefined, ["refused"], undefined]);
  expect(
    shown({ issues: [{ message: "Telegram does not answer: getMe: refused" }], health: { state: "degraded", why: "restarts in 5s: getMe: refused" } }),
  ).toEqual(["restarts in 5s", ["Telegram does not answer: getMe: refused"], undefined]);
});

test("of issues that ask for the same thing one is shown, with what to do", () => {
  const stopped = { message: "The account stopped: Telegram refused getMe: 401 Unauthorized; the bot token is not valid" };
  const refused = { message: "Telegram does not accept the bot token", fix: "Get a valid one." };
  expect(issuesOf(account({ issues: [stopped, refused] }))).toEqual([refused]);
  expect(issuesOf(account({ issues: [refused, stopped], lastError: "refused getMe: 401 Unauthorized" }))).toEqual([refused]);
  expect(issuesOf(account({ issues: [stopped] }))[0]?.fix).toBe("Enter a new token in the settings.");
  expect(issuesOf(account({ issues: [{ message: "one" }, { message: "two" }] }))).toHaveLength(2);
});

test("the last error is shown unless an issue has it with what to do", () => {
  const issue = { message: "getMe failed: 401", fix: "Set a new token." };
  expect(issuesOf(account({ lastError: "401", issues: [issue] }))).toEqual([issue]);
  expect(issuesOf(account({ lastError: "odd", issues: [issue] }))).toEqual([issue, { message: "odd" }]);
  expect(issuesOf(account())).toEqual([]);
});

test("an error that came without advice gets some where its words are known", () => {
  expect(issuesOf(account({ lastError: "getMe: no connection (ENOTFOUND)" }))[0]?.fix).toMatch(/retries automatically/);
  expect([adviceFor("401 Unauthorized"), adviceFor("strange")]).toEqual(["Enter a new token in the settings.", undefined]);
});

test("a probe is shown in words", () => {
  expect(probeWords(account())).toBeUndefined();
  expect(probeWords(account({ probe: { ok: false, error: "timed out" } }))).toEqual({ ok: false, text: "timed out" });
  expect(probeWords(account({ probe: { ok: true, elapsedMs: 12.4, bot: { username: "claw_bot" } } }))).toEqual({
    ok: true,
    text: "answers as @claw_bot in 12 ms",
  });
});

test("settings of an account stand in the channel or among its accounts", () => {
  const config = { channels: { irc: { accounts: { work: {} } } } };
  expect([settingsPath("irc", "work", config), settingsPath("irc", "default", config), settingsPath("x", "y", undefined)]).toEqual([
    "channels.irc.accounts.work",
    "channels.irc",
    "channels.x",
  ]);
});

test("bindings are said in words", () => {
  expect(
    bindingsOf({ bindings: [{ agentId: "ops", match: { channel: "telegram", peer: { kind: "group", id: "-1" }, roles: ["a", "b"] } }, { agentId: "main" }] }),
  ).toEqual([
    { path: "bindings[0]", agentId: "ops", when: "channel telegram, peer group:-1, roles a or b" },
    { path: "bindings[1]", agentId: "main", when: "everything" },
  ]);
  expect(bindingsOf({})).toEqual([]);
});
