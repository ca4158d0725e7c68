/** Who may write to a channel that was just set up. */
import { parsePath, valueAt } from "../../../config/index.ts";
import type { ChannelPlugin, DmPolicy, HostConfig } from "../../../protocol/index.ts";
import type { MadeAccount } from "../channel-account.ts";
import type { Setup } from "../context.ts";
import { chooseOwner } from "./owner.ts";

const HINTS: Readonly<Record<DmPolicy, string>> = {
  pairing: "a stranger gets a code, and you let them in",
  allowlist: "only those whom you name",
  open: "everybody: their words reach your agent's tools",
  disabled: "nobody; groups only",
};

/** QuickStart lets in only people who are named, where the channel is made for that. */
export const namesPeople = ({ flow }: Setup, { meta }: ChannelPlugin): boolean => flow === "quickstart" && meta.quickstartAllowFrom === true;

type Policy = NonNullable<NonNullable<ChannelPlugin["onboarding"]>["dmPolicy"]>;

/** Asks for the people. The configuration as it was when none is named. */
async function named(setup: Setup, plugin: ChannelPlugin, policy: Policy, { next, accountId }: MadeAccount): Promise<HostConfig> {
  const cfg = await policy.promptAllowFrom!({ cfg: next, prompter: setup.ask!, accountId });
  const people = plugin.config.resolveAllowFrom?.({ cfg, accountId }) ?? valueAt(cfg, parsePath(policy.allowFromKey));
  if (Array.isArray(people) && people.length > 0) return chooseOwner(setup, plugin, policy.setPolicy(cfg, "allowlist"), people as (string | number)[]);
  const current = policy.getCurrent(next);
  const how =
    current === "pairing"
      ? `strangers get a code; let them in with: openclaw pairing approve ${plugin.id} <code> (yourself with --owner)`
      : `it stays "${current}"`;
  await setup.tell(`nobody is named for ${policy.label}: ${how}`);
  return next;
}

/** In QuickStart the people are named; in Manual the policy is chosen. What is set already stays in QuickStart. */
export async function chooseSenders(setup: Setup, plugin: ChannelPlugin, made: MadeAccount): Promise<HostConfig> {
  const policy = plugin.onboarding?.dmPolicy;
  const { ask, flow, keep } = setup;
  const { next } = made;
  if (!ask || !policy) return next;
  const isSet = valueAt(next, parsePath(policy.policyKey)) !== undefined;
  if (flow === "quickstart") return namesPeople(setup, plugin) && policy.promptAllowFrom && !isSet ? named(setup, plugin, policy, made) : next;
  if (keep && isSet) return next;
  const current = policy.getCurrent(next);
  const offered = (["pairing", "allowlist", "open", "disabled"] as const).filter((value) => value !== "allowlist" || policy.promptAllowFrom);
  const chosen = await ask.select<DmPolicy>({
    message: `Who may write to ${policy.label} directly?`,
    options: offered.map((value) => ({ value, label: value, hint: HINTS[value] })),
    initialValue: offered.find((value) => value === current) ?? "pairing",
  });
  if (chosen === "allowlist") return named(setup, plugin, policy, made);
  return chosen === current ? next : policy.setPolicy(next, chosen);
}
