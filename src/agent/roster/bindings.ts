/** Which messages go to an agent: adding to the list of bindings and taking from it. */
import type { OpenClawConfig } from "../../config/index.ts";
import { createRouting, isSameMatch, readBindings, type Binding } from "../../routing/index.ts";

export type WrittenBinding = NonNullable<OpenClawConfig["bindings"]>[number];
export type BindingMatch = WrittenBinding["match"];

/** A binding that cannot be added, since its messages go elsewhere. */
export interface BindingConflict {
  readonly binding: string;
  /** Where they go. */
  readonly agentId: string;
  /** The binding that sends them there. */
  readonly path: string;
}

export interface BindingPlan {
  readonly add: readonly WrittenBinding[];
  /** In words, as lists show them. */
  readonly added: readonly string[];
  /** The agent has them already. */
  readonly skipped: readonly string[];
  readonly conflicts: readonly BindingConflict[];
}

/** `telegram accountId=office peer=group:-100`. */
export function describeBinding({ match }: Pick<WrittenBinding, "match">): string {
  const { channel, accountId, peer, guildId, teamId, roles } = match;
  const fields = { accountId, peer: peer && `${peer.kind}:${peer.id}`, guildId, teamId, roles: roles?.join(",") };
  const given = Object.entries(fields).flatMap(([key, value]) => (value === undefined || value === "" ? [] : [`${key}=${value}`]));
  return [channel, ...given].join(" ");
}

const parsed = (binding: WrittenBinding): Binding | undefined => readBindings({ bindings: [binding] })[0];

/** What adding these would do. Of several that match the same messages the first in the file counts, so a second one would do nothing. */
export function planBindings(config: OpenClawConfig, agentId: string, matches: readonly BindingMatch[]): BindingPlan {
  const there = [...readBindings(config)];
  const [add, skipped, conflicts]: [WrittenBinding[], string[], BindingConflict[]] = [[], [], []];
  for (const match of matches) {
    const binding: WrittenBinding = { agentId, match };
    const own = parsed(binding);
    const same = own && there.find((other) => isSameMatch(other, own));
    const words = describeBinding(binding);
    if (own && !same) {
      there.push({ ...own, index: there.length });
      add.push(binding);
    } else if (same?.agentId === agentId) skipped.push(words);
    else if (same) conflicts.push({ binding: words, agentId: same.agentId, path: `bindings[${same.index}]` });
  }
  return { add, added: add.map(describeBinding), skipped, conflicts };
}

/** Positions of an agent's bindings: all of them, or those that match the same messages as one of `matches`. */
export function positionsOf(config: OpenClawConfig, agentId: string, matches?: readonly BindingMatch[]): readonly number[] {
  const wanted = matches?.map((match) => parsed({ agentId, match }));
  const own = readBindings(config).filter((binding) => binding.agentId === agentId);
  const chosen = wanted ? own.filter((binding) => wanted.some((match) => match && isSameMatch(match, binding))) : own;
  return chosen.map(({ index }) => index);
}

/** Bindings that take messages away from this one, in the words of `route explain`; empty when it decides alone. */
export function beatenBy(config: OpenClawConfig, { match }: WrittenBinding): readonly string[] {
  const { channel, accountId, peer, guildId, teamId, roles } = match;
  const chat = { channel, accountId: accountId?.trim() === "*" ? undefined : accountId, peer, guildId, teamId, roles };
  const { bindings } = createRouting().explainRoute({ config, ...chat });
  const chosen = bindings.find(({ state }) => state === "chosen");
  return bindings.flatMap((one) =>
    one.state === "beaten" && describeBinding(config.bindings?.[one.index] ?? { match }) === describeBinding({ match })
      ? [`${one.by} ${one.why}: such messages go to ${chosen?.agentId ?? "another agent"}`]
      : [],
  );
}
