import { expect, test } from "vitest";
import { checklist, keyOutcome, type SetupStatus } from "./outcome.ts";

const FRESH: SetupStatus = {
  answering: { model: "builtin/offline", offline: true, why: "no key" },
  providers: [],
  local: [],
  channels: [{ id: "telegram", label: "Telegram", configured: false, enabled: false, fields: [] }],
  workspace: "/w",
  sessions: 0,
};

test("a refused key is told as refused and not kept; one nobody could check is not told as good", () => {
  expect(keyOutcome("Acme", { ok: true, provider: "acme", model: "", checked: "refused", detail: "401" })).toEqual({
    look: "bad",
    text: "Acme refused the key. It was not kept.",
    detail: "401",
  });
  expect(keyOutcome("Acme", { ok: true, provider: "acme", model: "acme/a", checked: "unreachable" })).toMatchObject({ look: "warn" });
  expect(keyOutcome("Acme", { ok: true, provider: "acme", model: "acme/a", checked: "accepted" }).text).toContain("acme/a answers from now on");
});

test("the offline model does not count as a language model", () => {
  const done = (status: SetupStatus, seen = false): string[] =>
    checklist(status, seen)
      .filter((one) => one.done)
      .map(({ label }) => label);
  expect(done(FRESH)).toEqual(["The gateway runs"]);
  const later = {
    ...FRESH,
    answering: { model: "acme/a", offline: false, why: "a key" },
    channels: [{ ...FRESH.channels[0]!, configured: true, enabled: true }],
    sessions: 3,
  };
  expect(done(later, true)).toHaveLength(5);
  expect(done({ ...later, channels: [{ ...later.channels[0]!, enabled: false }] })).not.toContain("A channel is set up");
});
