import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { readBindings, tierOf } from "./bindings.ts";
import { createRouting, type Route, type RouteLocation } from "./index.ts";

type Bindings = NonNullable<OpenClawConfig["bindings"]>;

/** Few values, so that collisions happen. */
const word = fc.constantFrom("a", "a", "a", "b", "A");
const channel = fc.constantFrom("discord", "discord", "slack");
const peer = fc.record({ kind: fc.constantFrom("direct" as const, "group" as const), id: fc.constantFrom("1", "2") });
const agentId = fc.constantFrom("one", "two", "three", "gone");
const match = fc.record(
  { channel, accountId: fc.constantFrom("*", "a", "a"), peer, guildId: word, teamId: word, roles: fc.array(word, { maxLength: 2 }) },
  { requiredKeys: ["channel"] },
);
const bindings: fc.Arbitrary<Bindings> = fc.array(fc.record({ agentId, match }), { maxLength: 12 });
const place: fc.Arbitrary<RouteLocation> = fc.record(
  { channel, accountId: word, peer, parentPeer: peer, threadId: word, guildId: word, teamId: word, roles: fc.array(word, { maxLength: 3 }) },
  { requiredKeys: ["channel", "accountId"] },
);
const session = fc.record({ dmScope: fc.constantFrom("main" as const, "per-peer" as const, "per-account-channel-peer" as const) });

const agents = { list: [{ id: "one" }, { id: "two" }, { id: "three" }] };
const decided = ({ agentId, sessionKey, parentSessionKey, mainSessionKey, matchedBy }: Route) => ({
  agentId,
  sessionKey,
  parentSessionKey,
  mainSessionKey,
  matchedBy,
});
const route = (config: OpenClawConfig, at: RouteLocation) => createRouting().resolveRoute({ config, ...at });

test("the same input gives the same route, from a new routing and a used one", () => {
  const used = createRouting();
  fc.assert(
    fc.property(bindings, place, session, (list, at, rules) => {
      const config = { agents, bindings: list, session: rules };
      const first = used.resolveRoute({ config, ...at });
      expect(used.resolveRoute({ config, ...at })).toEqual(first);
      expect(route(structuredClone(config), structuredClone(at))).toEqual(first);
    }),
  );
});

test("the index decides like a linear search through the bindings", () => {
  fc.assert(
    fc.property(bindings, place, (list, at) => {
      const found = createRouting().explainRoute({ config: { agents, bindings: list }, ...at });
      const tiers = found.explanation.map(({ tier }) => tier);
      const fitting = found.bindings.filter(({ state }) => state !== "refused");
      const order = ["binding.peer", "binding.peer.parent", "binding.guild+roles", "binding.guild", "binding.team", "binding.account", "binding.channel"];
      const best = fitting.toSorted((a, b) => order.indexOf(a.tier) - order.indexOf(b.tier) || a.index - b.index)[0];
      expect(found.binding?.index).toBe(best?.index);
      expect(found.matchedBy).toBe(best?.tier ?? "default");
      expect(best === undefined || best.state === "chosen").toBe(true);
      expect(tiers.at(-1)).toBe(found.matchedBy);
    }),
    { numRuns: 2000 },
  );
});

test("removing bindings that do not match changes nothing", () => {
  fc.assert(
    fc.property(bindings, place, session, (list, at, rules) => {
      const whole = createRouting().explainRoute({ config: { agents, bindings: list, session: rules }, ...at });
      const kept = list.filter((_, index) => whole.bindings[index]!.state !== "refused");
      expect(decided(route({ agents, bindings: kept, session: rules }, at))).toEqual(decided(whole));
      const chosen = list.filter((_, index) => index === whole.binding?.index);
      expect(decided(route({ agents, bindings: chosen, session: rules }, at))).toEqual(decided(whole));
    }),
    { numRuns: 1000 },
  );
});

test("order matters within a tier only", () => {
  fc.assert(
    fc.property(bindings, place, fc.infiniteStream(fc.nat()), (list, at, numbers) => {
      const tiers = readBindings({ bindings: list }).map(tierOf);
      const rank = new Map([...new Set(tiers)].map((tier) => [tier, numbers.next().value!]));
      const moved = list
        .map((binding, index) => ({ binding, index }))
        .toSorted((a, b) => rank.get(tiers[a.index]!)! - rank.get(tiers[b.index]!)! || a.index - b.index)
        .map(({ binding }) => binding);
      expect(decided(route({ agents, bindings: moved }, at))).toEqual(decided(route({ agents, bindings: list }, at)));
    }),
    { numRuns: 1000 },
  );
});

test("within a tier the first one wins", () => {
  fc.assert(
    fc.property(match, place, (wanted, at) => {
      const list = ["two", "three"].map((agentId) => ({ agentId, match: wanted }));
      expect(["one", "two"]).toContain(route({ agents, bindings: list }, at).agentId);
    }),
  );
});
