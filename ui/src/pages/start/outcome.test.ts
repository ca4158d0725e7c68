import { expect, test } from "vitest";
import { checklist, firstChannel, keyOutcome, linked, type SetupStatus } from "./outcome.ts";

const FRESH: SetupStatus = {
  answering: { model: "builtin/offline", offline: true, why: "no key" },
  providers: [],
  local: [],
  channels: [{ id: "telegram", label: "Telegram", configured: false, enabled: false, steps: [], fields: [] }],
  workspace: "/w",
  sessions: 0,
};

test("a refused key is reported as refused and not stored; one that could not be checked is not reported as good", () => {
  expect(keyOutcome("Acme", { ok: true, provider: "acme", model: "", checked: "refused", detail: "401" })).toEqual({
    look: "bad",
    text: "Acme rejected the key. It was not saved.",
    detail: "401",
  });
  expect(keyOutcome("Acme", { ok: true, provider: "acme", model: "acme/a", checked: "unreachable" })).toMatchObject({ look: "warn" });
  expect(keyOutcome("Acme", { ok: true, provider: "acme", model: "acme/a", checked: "accepted" }).text).toContain("acme/a is now in use");
});

test("the offline model does not count as a language model", () => {
  const done = (status: SetupStatus, seen = false): string[] =>
    checklist(status, seen)
      .filter((one) => one.done)
      .map(({ label }) => label);
  expect(done(FRESH)).toEqual(["Start the gateway"]);
  const later = {
    ...FRESH,
    answering: { model: "acme/a", offline: false, why: "a key" },
    channels: [{ ...FRESH.channels[0]!, configured: true, enabled: true }],
    sessions: 3,
  };
  expect(done(later, true)).toHaveLength(5);
  expect(done({ ...later, channels: [{ ...later.channels[0]!, enabled: false }] })).not.toContain("Set up a channel");
});

test("a key that could not be checked leaves what answers, and says how to try again or use it all the same", () => {
  const outcome = keyOutcome("Acme", { ok: true, provider: "acme", model: "builtin/offline", offered: "acme/a", checked: "unreachable" });
  expect(outcome.text).toContain("builtin/offline stays in use");
  expect(outcome.further).toEqual([
    { label: "Check again", provider: "acme", name: "Acme" },
    { label: "Use it anyway", provider: "acme", name: "Acme", model: "acme/a" },
  ]);
});

test("a model whose provider has no key does not count as answering", () => {
  const status = { ...FRESH, answering: { model: "acme/a", offline: false, why: "set" }, providers: [{ id: "acme", label: "Acme", hasKey: false }] };
  expect(checklist(status, false)[1]).toMatchObject({ done: false, detail: "acme/a is set, but there is no key for Acme." });
});

test("the channel that is offered first is a usual one that is not set up yet", () => {
  const channel = (id: string, configured = false) => ({
    ...FRESH.channels[0]!,
    id,
    configured,
    fields: [{ path: "x", label: "X", secret: false, required: true }],
  });
  expect(firstChannel([channel("irc"), channel("telegram")])?.id).toBe("telegram");
  expect(firstChannel([channel("irc"), channel("telegram", true)])?.id).toBe("irc");
  expect(firstChannel([])).toBeUndefined();
});

test("addresses in a text can be followed, the rest of it stays as it is", () => {
  expect(linked("Keys are made at https://a.example/keys; ask (https://b.example).")).toEqual([
    { text: "Keys are made at " },
    { text: "https://a.example/keys", href: "https://a.example/keys" },
    { text: "; ask (" },
    { text: "https://b.example", href: "https://b.example" },
    { text: ")." },
  ]);
  expect(linked("javascript:alert(1) http://x.example")).toEqual([{ text: "javascript:alert(1) http://x.example" }]);
});
