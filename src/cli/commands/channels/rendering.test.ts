import { expect, test } from "vitest";
import { createStyle } from "../../output/style.ts";
import { supportText } from "./capabilities.ts";
import { detailText, issueLines, stateText, statusTable, type Account, type Status } from "./rendering.ts";
import { guessKind } from "./resolve.ts";
import { setupInput } from "./setup-input.ts";

const NOW = 1_770_000_000_000;
const plain = createStyle(false);
const account = (more: Partial<Account>): Account => ({ accountId: "default", ...more });
const health = (state: string, why = "") => ({ health: { state, why } });

test.each<[Partial<Account>, string, string]>([
  [health("ok"), "ok", "32"],
  [health("starting"), "starting", "33"],
  [health("degraded", "not connected for 40s"), "degraded", "33"],
  [health("down", "401"), "down", "31"],
  [{ enabled: false }, "disabled", "2"],
  [{ configured: false }, "not configured", "33"],
  [{ running: true }, "running", "32"],
  [{}, "not running", "2"],
])("an account %j is %s, in its colour on a terminal", (more, words, code) => {
  expect(stateText(account(more), plain)).toBe(words);
  expect(stateText(account(more), createStyle(true))).toBe(`\x1b[${code}m${words}\x1b[0m`);
});

test("details: why, what the probe said, and when something last came and went", () => {
  const shown = account({
    ...health("degraded", "restarts in 5s: lost"),
    lastError: "lost",
    probe: { ok: false, error: "no route" },
    mode: "polling",
    dmPolicy: "pairing",
    lastInboundAt: NOW - 90_000,
    lastOutboundAt: NOW - 1000,
  });
  expect(detailText(shown, { style: plain, now: NOW })).toBe("restarts in 5s: lost, probe failed: no route, polling, dm pairing, in 1m 30s ago, out 1s ago");
  expect(detailText(account({ lastError: "refused", lastInboundAt: null }), { style: plain, now: NOW })).toBe("refused");
});

const status = (accounts: readonly Account[]): Status => ({
  ts: NOW,
  channelOrder: ["irc"],
  channelLabels: { irc: "IRC" },
  channels: {},
  channelAccounts: { irc: accounts },
  channelDefaultAccountId: {},
});

test("the channel's name stands once, and nothing that an account says moves the cursor", () => {
  const table = statusTable(status([account({ ...health("ok"), name: "me\x1b[2J" }), account({ accountId: "work" })]), {
    style: plain,
    columns: 100,
    now: NOW,
  });
  expect(table.split("\n").map((line) => line.trim().split(/\s{2,}/))).toEqual([
    ["Channel", "Account", "State"],
    ["IRC", "default (me\\u001b[2J)", "ok"],
    ["work", "not running"],
    [""],
  ]);
  expect(statusTable(status([]), { style: plain, columns: 100, now: NOW })).toBe("");
});

test("issues have their kind and what helps", () => {
  const issues = [{ channel: "irc", accountId: "default", kind: "config", message: "no nick", fix: "set channels.irc.nick" }];
  expect(issueLines(status([account({ issues })]), plain)).toEqual(["! IRC default: no nick (config)\n  set channels.irc.nick\n"]);
});

test("what a channel can do, in words", () => {
  expect(supportText({ chatTypes: ["direct", "group"], polls: true, media: true, edit: false })).toBe("direct, group; polls, media");
  expect(supportText(undefined)).toBe("unknown");
});

test.each([
  ["@ada", "user"],
  ["user:7", "user"],
  ["Ada Lovelace", "user"],
  ["#general", "group"],
  ["channel:9", "group"],
  ["spaces/AAA", "group"],
])("%s names a %s", (entry, kind) => expect(guessKind(entry)).toBe(kind));

test("flags become what plugins take; what was not given is absent", () => {
  expect(
    setupInput({ name: "Home", token: "t", "http-url": "http://x", "initial-sync-limit": "20", "group-channels": "a, b;c", "no-auto-discover-channels": true }),
  ).toEqual({
    name: "Home",
    token: "t",
    httpUrl: "http://x",
    initialSyncLimit: 20,
    groupChannels: ["a", "b", "c"],
    autoDiscoverChannels: false,
  });
  expect(setupInput({})).toEqual({});
  expect(() => setupInput({ "initial-sync-limit": "many" })).toThrow("whole number");
  expect(() => setupInput({ service: "fax" })).toThrow("imessage, sms or auto");
});
