import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ChannelInboundEvent, HostConfig } from "../../protocol/index.ts";
import { KINDS, numericChannel } from "./access.fixture.ts";
import { decideAccess } from "../index.ts";

const id = fc.constantFrom("7", "8", "-100", "*", "", " ", "telegram:7", "__proto__", "constructor");
const list = fc.oneof(fc.array(fc.oneof(id, fc.integer())), fc.anything());
const policy = fc.constantFrom("pairing", "allowlist", "open", "disabled", "nonsense", 1, null, undefined);
const entry = fc.record(
  {
    enabled: fc.oneof(fc.boolean(), fc.anything()),
    allowFrom: list,
    groupPolicy: policy,
    requireMention: fc.boolean(),
    topics: fc.dictionary(id, fc.object()),
  },
  { requiredKeys: [] },
);
const section = fc.record(
  {
    enabled: fc.boolean(),
    dmPolicy: policy,
    groupPolicy: policy,
    allowFrom: list,
    groupAllowFrom: list,
    groups: fc.oneof(fc.dictionary(id, fc.oneof(entry, fc.anything())), fc.anything()),
    accounts: fc.oneof(fc.dictionary(id, entry), fc.anything()),
    dm: fc.anything(),
  },
  { requiredKeys: [] },
);
const commands = fc.record(
  { allowFrom: fc.oneof(fc.dictionary(id, list), fc.anything()), ownerAllowFrom: list, useAccessGroups: fc.anything() },
  { requiredKeys: [] },
);
const config = fc.record(
  { channels: fc.oneof(fc.record({ telegram: section }), fc.anything()), commands: fc.oneof(commands, fc.anything()) },
  { requiredKeys: [] },
);
const event = fc.oneof(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    id: fc.string(),
    text: fc.oneof(fc.string(), fc.constantFrom("/status", "/new@x", "stop")),
    chat: fc.record({ type: fc.constantFrom("direct", "group", "channel"), id, threadId: fc.oneof(id, fc.integer()) }),
    sender: fc.record({ id, isBot: fc.boolean(), otherIds: fc.array(id), name: fc.string() }),
    mention: fc.record({ mentioned: fc.boolean(), others: fc.boolean(), canDetect: fc.boolean(), botUsername: fc.anything() }, { requiredKeys: [] }),
  }),
  fc.record({ kind: fc.anything(), chat: fc.anything(), sender: fc.anything(), text: fc.anything(), mention: fc.anything(), context: fc.anything() }),
  fc.anything(),
);

test("every event gets a decision under every configuration", () => {
  fc.assert(
    fc.property(config, event, fc.boolean(), fc.uniqueArray(id), (cfg, happened, known, approved) => {
      const verdict = decideAccess({
        cfg: cfg as HostConfig,
        plugin: known ? numericChannel : undefined,
        channel: "telegram",
        accountId: "default",
        event: happened as ChannelInboundEvent,
        approved: new Set(approved),
      });
      expect(typeof verdict.allow).toBe("boolean");
      expect(verdict.why).not.toBe("");
      if (verdict.allow) expect(typeof verdict.trigger).toBe("boolean");
    }),
    { numRuns: 400 },
  );
});

test("no direct message is allowed without a list, a star or an approval", () => {
  const closed = fc.record({ dmPolicy: policy, allowFrom: fc.array(fc.constantFrom("8", "@anna", "anna")), groupPolicy: policy }, { requiredKeys: [] });
  fc.assert(
    fc.property(closed, fc.constantFrom(...KINDS), fc.string(), (telegram, kind, name) => {
      const happened = { kind, id: "1", text: "x", to: "7", chat: { type: "direct", id: "7" }, sender: { id: "7", name, username: name } } as const;
      const question = { cfg: { channels: { telegram } } as HostConfig, plugin: undefined, channel: "telegram", accountId: "default", event: happened };
      expect(decideAccess({ ...question, approved: new Set(["8"]) }).allow).toBe(false);
    }),
  );
});
