import { expect, test } from "vitest";
import { decideAccess, type AccessDecision } from "../../src/channels/index.ts";
import type { ChannelInboundEvent, ChannelInboundKind, HostConfig } from "../../src/protocol/index.ts";
import { event, openPlace } from "../conversation/place.ts";

/** Does not compile when a kind is missing. */
const KINDS = Object.keys({ message: 0, command: 0, button: 0, edit: 0, reaction: 0, member: 0, notice: 0 } satisfies Record<
  ChannelInboundKind,
  number
>) as ChannelInboundKind[];
const PLACES = ["direct", "group", "channel"] as const;

const eventOf = (kind: ChannelInboundKind, type: (typeof PLACES)[number], id: string): ChannelInboundEvent => ({
  kind,
  id: "e1",
  text: "/status",
  to: "c",
  chat: { type, id: "c", threadId: 5 },
  sender: { id },
  mention: { mentioned: true, implicit: true },
});

function ask(section: object, event: ChannelInboundEvent): AccessDecision {
  const cfg = { channels: { telegram: section } } as HostConfig;
  return decideAccess({ cfg, plugin: undefined, channel: "telegram", accountId: "default", event, approved: new Set(["1"]) });
}

const CLOSED: readonly (readonly [string, object])[] = [
  ["nothing is set", {}],
  ["lists", { dmPolicy: "allowlist", allowFrom: ["1"], groupAllowFrom: ["1"] }],
  ["open without a star", { dmPolicy: "open", allowFrom: ["1"] }],
  ["disabled", { dmPolicy: "disabled", groupPolicy: "disabled", allowFrom: ["*"], groupAllowFrom: ["*"] }],
  ["off", { enabled: false, dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open" }],
  ["a group with senders of its own", { groupPolicy: "open", groups: { "*": { allowFrom: ["1"] } } }],
  ["a topic with senders of its own", { groupPolicy: "open", groups: { "*": { topics: { 5: { allowFrom: ["1"] } } } } }],
  ["other groups", { groupPolicy: "open", groups: { other: {} } }],
];

test.each(CLOSED)("27: %s: whatever a stranger does, in whichever place, is refused", (_name, section) => {
  for (const kind of KINDS) for (const type of PLACES) expect([kind, type, ask(section, eventOf(kind, type, "666")).allow]).toEqual([kind, type, false]);
});

test("27: who may write may also react, edit and press, by the same list", () => {
  const section = { allowFrom: ["1"] };
  for (const kind of KINDS) for (const type of PLACES) expect([kind, type, ask(section, eventOf(kind, type, "1")).allow]).toEqual([kind, type, true]);
});

test("27: reactions, edits, members and notices start no turn, no matter who they are from", () => {
  for (const type of PLACES) {
    const starting = KINDS.filter((kind) => {
      const verdict = ask({ allowFrom: ["1"], requireMention: false }, eventOf(kind, type, "1"));
      return verdict.allow && verdict.trigger;
    });
    expect(starting).toEqual(["message", "command", "button"]);
  }
});

test("27: a stranger's reaction, edit or button is not answered with a code", () => {
  const offered = KINDS.filter((kind) => {
    const verdict = ask({}, eventOf(kind, "direct", "666"));
    return !verdict.allow && verdict.pairing;
  });
  expect(offered).toEqual(["message", "command"]);
});

const CANARY = "canary-of-a-stranger";

const HOSTILE = (kind: ChannelInboundKind, type: (typeof PLACES)[number], at: number): ChannelInboundEvent => ({
  kind,
  id: `hostile-${at}`,
  text: `${CANARY} ${kind === "command" ? "/status" : ""}`,
  to: type === "direct" ? "666" : "g1",
  chat: { type, id: type === "direct" ? "666" : "g1", title: CANARY },
  sender: { id: "666", name: CANARY, username: CANARY },
  mention: { mentioned: true, implicit: true },
  replyTo: { id: "owners-own", body: CANARY, sender: CANARY },
  untrusted: [CANARY],
});

test.each([
  ["pairing", { dmPolicy: "pairing", allowFrom: ["1"], groupPolicy: "allowlist", groupAllowFrom: ["1"], groups: { "*": { requireMention: false } } }],
  ["allowlist", { dmPolicy: "allowlist", allowFrom: ["1"], groupPolicy: "allowlist", groupAllowFrom: ["1"], groups: { "*": { requireMention: false } } }],
])("27: with %s nothing of what a stranger does in a chat reaches a model, neither at once nor with the owner's next message", async (_name, section) => {
  const asked: string[] = [];
  await using place = await openPlace({ channels: { test: section } }, { heard: (request) => void asked.push(JSON.stringify(request)) });
  const results = [];
  for (const [at, [kind, type]] of KINDS.flatMap((kind) => PLACES.map((type) => [kind, type] as const)).entries()) {
    results.push((await place.inbound.accept(HOSTILE(kind, type, at))).outcome);
  }
  expect(new Set(results)).toEqual(new Set(["refused"]));
  await place.quiet();
  expect(asked).toEqual([]);
  const own = { sender: { id: "1" }, mention: { mentioned: true } };
  for (const type of ["direct", "group", "channel"] as const) {
    const id = type === "direct" ? "1" : "g1";
    await place.inbound.accept(event(`the owner, ${type}`, { ...own, chat: { type, id }, to: id }));
    await place.quiet();
  }
  expect(asked).toHaveLength(3);
  expect(asked.join("\n")).toContain("the owner, group");
  expect(asked.join("\n")).not.toContain(CANARY);
  expect(place.sent.map(({ text }) => text).join("\n")).not.toContain(CANARY);
});
