import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createAllowLists, createPairing, decideAccess } from "../../src/channels/index.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import type { ChannelInboundEvent, HostConfig } from "../../src/protocol/index.ts";
import { openStore } from "../../src/store/index.ts";
import { event, openPlace } from "../conversation/place.ts";

const OWNER = { id: "1", name: "Anna", username: "anna", tag: "anna#1", e164: "+491" };
const NAMES = ["Anna", "anna", "@anna", "telegram:@anna", "anna#1", "+491", "1"];

const eventFrom = (sender: ChannelInboundEvent["sender"], type: "direct" | "group"): ChannelInboundEvent => ({
  kind: "message",
  id: "m",
  text: "/status",
  to: "c",
  chat: { type, id: type === "direct" ? sender.id : "g" },
  sender,
  mention: { mentioned: true },
});

/** A stranger under every name that the owner has, or that a list might hold. */
const impostors = NAMES.map((name) => ({ id: "666", name, username: name.replace(/^@/, ""), tag: name, e164: name }));

test("26: a sender who takes an owner's name is still a stranger, alone and in groups", () => {
  const lists = { allowFrom: NAMES, groupAllowFrom: NAMES };
  for (const dmPolicy of ["pairing", "allowlist", "open"]) {
    const cfg = { channels: { telegram: { dmPolicy, ...lists } }, commands: { ownerAllowFrom: NAMES, allowFrom: { "*": NAMES } } } as HostConfig;
    const ask = (event: ChannelInboundEvent) =>
      decideAccess({ cfg, plugin: undefined, channel: "telegram", accountId: "default", event, approved: new Set(["1"]) });
    for (const sender of impostors) for (const type of ["direct", "group"] as const) expect(ask(eventFrom(sender, type)).allow).toBe(false);
    for (const type of ["direct", "group"] as const) expect(ask(eventFrom(OWNER, type))).toMatchObject({ allow: true, owner: true, commandAuthorized: true });
  }
});

test("26: where everybody may write, a name makes nobody an owner nor lets them give commands", () => {
  const cfg = { channels: { telegram: { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open" } }, commands: { ownerAllowFrom: NAMES } } as HostConfig;
  for (const sender of impostors) {
    const event = { ...eventFrom(sender, "direct"), text: "hello" };
    const verdict = decideAccess({ cfg, plugin: undefined, channel: "telegram", accountId: "default", event, approved: new Set() });
    expect(verdict).toMatchObject({ allow: true, owner: false, commandAuthorized: false });
  }
});

test("26: who was paired stays in under another name; who takes the old name after a restart is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rename-"));
  const ids = createIds(systemRandom);
  {
    await using store = await openStore({ stateDir: folder, clock: systemClock });
    const pairing = createPairing({ store, clock: systemClock, random: systemRandom, ids });
    const { code } = await pairing.request({ channel: "telegram", accountId: "default", senderId: "1", meta: { name: "Anna", username: "anna" } });
    await pairing.approve("telegram", code);
  }
  await using store = await openStore({ stateDir: folder, clock: systemClock });
  const lists = createAllowLists({ store });
  await lists.load();
  const approved = lists.get("telegram", "default");
  const ask = (sender: ChannelInboundEvent["sender"]) =>
    decideAccess({ cfg: {}, plugin: undefined, channel: "telegram", accountId: "default", event: eventFrom(sender, "direct"), approved }).allow;
  expect(ask({ id: "1", name: "Berta", username: "berta" })).toBe(true);
  expect(ask({ id: "2", name: "Anna", username: "anna" })).toBe(false);
  rmSync(folder, { recursive: true });
});

test("26: on the whole path a stranger with the owner's names is refused before and after a restart, and nothing of it reaches a model", async () => {
  const folder = mkdtempSync(join(tmpdir(), "names-"));
  const config = { channels: { test: { dmPolicy: "allowlist", allowFrom: NAMES } }, commands: { ownerAllowFrom: NAMES } } as OpenClawConfig;
  const asked: unknown[] = [];
  for (let life = 1; life <= 2; life += 1) {
    await using place = await openPlace(config, { folder, heard: (request) => void asked.push(request) });
    for (const [at, sender] of impostors.entries()) {
      const offered = event("let me in", { id: `${life}-${at}`, sender, chat: { type: "direct", id: "666" }, to: "666" });
      expect(await place.inbound.accept(offered)).toMatchObject({ outcome: "refused" });
    }
    await place.quiet();
    expect([asked.length, place.sent]).toEqual([life - 1, []]);
    await place.inbound.accept(
      event("it is me", { id: `own-${life}`, sender: { id: "1", name: `Anna after ${life} renamings` }, chat: { type: "direct", id: "1" }, to: "1" }),
    );
    await place.out(1);
    await place.quiet();
    expect(asked).toHaveLength(life);
  }
  rmSync(folder, { recursive: true });
});
