import { isObject } from "../../../config/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { ChannelPlugin, HostConfig, RuntimeEnv } from "../../../protocol/index.ts";
import { accountFromQuestions, guardedSetup } from "../channel-account.ts";
import { channelOffers, sectionWith, type ChannelOffer } from "../channel-offers.ts";
import type { Setup } from "../context.ts";
import { chooseSenders, namesPeople } from "./senders.ts";

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
  const fields: Record<string, unknown> = {};
  for (const { path, label, help, secret, required, placeholder } of offer.fields) {
    const message = help === undefined ? label : `${label}: ${help}`;
    const validate = (text: string): string | undefined => (required && text.trim() === "" ? "something has to stand here" : undefined);
    fields[path] = secret ? await ask!.password({ message, placeholder, validate }) : await ask!.text({ message, placeholder, validate });
  }
  draft.merge({ channels: { [offer.id]: sectionWith(offer, draft.config, "default", fields) } });
}

async function byQuestions(setup: Setup, plugin: ChannelPlugin): Promise<void> {
  const { ask, draft } = setup;
  const cfg = structuredClone(draft.config) as HostConfig;
  const forceAllowFrom = namesPeople(setup, plugin);
  const asked = await guardedSetup(plugin, async () => {
    const made = await accountFromQuestions(plugin, cfg, { account: "default", prompter: ask!, runtime: RUNTIME, forceAllowFrom });
    return chooseSenders(setup, plugin, made);
  });
  draft.become(asked);
}

async function setUpOne(setup: Setup, offer: ChannelOffer): Promise<void> {
  await setup.place.withChannel(offer.id, (plugin) => (plugin?.onboarding ? byQuestions(setup, plugin) : byFields(setup, offer)));
  // An operator's list of plugins has to name it.
  const { allow } = setup.draft.config.plugins ?? {};
  if (allow && allow.length > 0 && !allow.includes(offer.pluginId)) setup.draft.merge({ plugins: { allow: [...allow, offer.pluginId] } });
}

/** Which chat platforms people can write on. Gives the ids. */
export async function setUpChannels(setup: Setup): Promise<readonly string[]> {
  const { ask, given, draft, place } = setup;
  if (!ask || given.skip?.channels) return [];
  const offers = channelOffers(await place.inventory()).filter(({ off }) => off === undefined);
  if (offers.length === 0) return [];
  const isThere = (id: string): boolean => isObject(draft.config.channels?.[id]);
  const chosen = await ask.multiselect<string>({
    message: "Which channels shall people write on? (none: the page and the terminal only)",
    options: offers.map(({ id, label, help }) => ({ value: id, label, hint: isThere(id) ? "set up; choose it to change it" : help })),
    initialValues: [],
  });
  for (const id of chosen)
    await setUpOne(
      setup,
      offers.find((offer) => offer.id === id)!,
    );
  return chosen;
}
