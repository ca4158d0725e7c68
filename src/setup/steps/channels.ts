import { isObject, parsePath, valueAt } from "../../config/index.ts";
import { AppError } from "../../base/errors.ts";
import type { ChannelPlugin, DmPolicy, HostConfig, RuntimeEnv } from "../../protocol/index.ts";
import { accountFromQuestions, guardedSetup, type MadeAccount } from "../channel-account.ts";
import { channelOffers, isFor, sectionWith, type ChannelOffer } from "../channel-offers.ts";
import type { Setup } from "../context.ts";
import { chooseOwner } from "./owner.ts";

/** Who may write to a channel that was just set up. */

const HINTS: Readonly<Record<DmPolicy, string>> = {
  pairing: "strangers get a code that you approve",
  allowlist: "only people you list",
  open: "anyone can message the agent and reach its tools",
  disabled: "no direct messages; groups only",
};

/** QuickStart lets in only people who are named, where the channel is made for that. */
const namesPeople = ({ flow }: Setup, { meta }: ChannelPlugin): boolean => flow === "quickstart" && meta.quickstartAllowFrom === true;

type Policy = NonNullable<NonNullable<ChannelPlugin["onboarding"]>["dmPolicy"]>;

/** Asks for the people. The configuration as it was when none is named. */
async function named(setup: Setup, plugin: ChannelPlugin, policy: Policy, { next, accountId }: MadeAccount): Promise<HostConfig> {
  if (!setup.ask || !policy.promptAllowFrom) return next;
  const cfg = await policy.promptAllowFrom({ cfg: next, prompter: setup.ask, accountId });
  const people = plugin.config.resolveAllowFrom?.({ cfg, accountId }) ?? valueAt(cfg, parsePath(policy.allowFromKey));
  if (Array.isArray(people) && people.length > 0) return chooseOwner(setup, plugin, policy.setPolicy(cfg, "allowlist"), people as (string | number)[]);
  const current = policy.getCurrent(next);
  const how =
    current === "pairing"
      ? `strangers get a code; approve it with: openclaw pairing approve ${plugin.id} <code> (add --owner for yourself)`
      : `it stays "${current}"`;
  await setup.notify(`No allowed senders for ${policy.label}: ${how}`);
  return next;
}

/** In QuickStart the people are named; in Manual the policy is chosen. What is set already stays in QuickStart. */
async function chooseSenders(setup: Setup, plugin: ChannelPlugin, made: MadeAccount): Promise<HostConfig> {
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
    message: `Who may send direct messages on ${policy.label}?`,
    options: offered.map((value) => ({ value, label: value, hint: HINTS[value] })),
    initialValue: offered.find((value) => value === current) ?? "pairing",
  });
  if (chosen === "allowlist") return named(setup, plugin, policy, made);
  return chosen === current ? next : policy.setPolicy(next, chosen);
}

/** Nobody reads what a plugin prints while it asks. */
const RUNTIME: RuntimeEnv = {
  log: () => undefined,
  error: () => undefined,
  exit: (code) => {
    throw new AppError("CANCELLED", `the plugin ended the setup with code ${code}`);
  },
};

/** The fields that the plugin declares, where its own questions cannot be asked. */
async function byFields({ ask, draft }: Setup, offer: ChannelOffer): Promise<void> {
  if (!ask) return;
  const fields: Record<string, unknown> = {};
  for (const field of offer.fields) {
    const { path, label, help, secret, required, placeholder, choices } = field;
    if (!isFor(offer, fields, field)) continue;
    if (choices) {
      fields[path] = await ask.select({ message: label, options: [...choices] });
      continue;
    }
    const message = help === undefined ? label : `${label}: ${help}`;
    const validate = (text: string): string | undefined => (required && text.trim() === "" ? "Required" : undefined);
    fields[path] = secret ? await ask.password({ message, placeholder, validate }) : await ask.text({ message, placeholder, validate });
  }
  draft.merge({ channels: { [offer.id]: sectionWith(offer, draft.config, "default", fields) } });
}

async function byQuestions(setup: Setup, plugin: ChannelPlugin, { steps }: ChannelOffer): Promise<void> {
  const { ask, draft } = setup;
  if (!ask) return;
  const cfg = structuredClone(draft.config) as HostConfig;
  const forceAllowFrom = namesPeople(setup, plugin);
  const asked = await guardedSetup(plugin, async () => {
    const made = await accountFromQuestions(plugin, cfg, { account: "default", prompter: ask, runtime: RUNTIME, forceAllowFrom, steps });
    return chooseSenders(setup, plugin, made);
  });
  draft.become(asked);
}

async function setUpOne(setup: Setup, offer: ChannelOffer): Promise<void> {
  await setup.host.withChannel(offer.id, (plugin) => (plugin?.onboarding ? byQuestions(setup, plugin, offer) : byFields(setup, offer)));
  // An operator's list of plugins has to name it.
  const { allow } = setup.draft.config.plugins ?? {};
  if (allow && allow.length > 0 && !allow.includes(offer.pluginId)) setup.draft.merge({ plugins: { allow: [...allow, offer.pluginId] } });
}

/** Which chat platforms people can write on. Gives the ids. */
export async function setUpChannels(setup: Setup): Promise<readonly string[]> {
  const { ask, answers, draft, host } = setup;
  if (!ask || answers.skip?.channels) return [];
  const offers = channelOffers(await host.inventory()).filter(({ off }) => off === undefined);
  if (offers.length === 0) return [];
  const isThere = (id: string): boolean => isObject(draft.config.channels?.[id]);
  const chosen = await ask.multiselect<string>({
    message: "Which channels do you want to connect? (none: Control UI and terminal only)",
    options: offers.map(({ id, label, help }) => ({ value: id, label, hint: isThere(id) ? "connected; select to change" : help })),
    initialValues: [],
  });
  for (const id of chosen) {
    const offer = offers.find((one) => one.id === id);
    if (offer) await setUpOne(setup, offer);
  }
  return chosen;
}
