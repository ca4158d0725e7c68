/** What to do at a channel's platform, printed where no questions are asked: the steps, and the texts to paste there. */
import { isRecord } from "../../../base/records.ts";
import type { ChannelSetupInput, HostConfig } from "../../../protocol/index.ts";
import { type ChannelOffer, stepsFor } from "../../../setup/index.ts";

type Step = ReturnType<typeof stepsFor>[number];

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});

/** The account's settings over those of its channel. */
function settingsOf(cfg: HostConfig, channel: string, accountId: string): Readonly<Record<string, unknown>> {
  const section = fieldsOf(cfg.channels?.[channel]);
  return { ...section, ...fieldsOf(fieldsOf(section["accounts"])[accountId]) };
}

/** The address that the platform was to be given, without its path. */
const originOf = ({ webhookUrl }: ChannelSetupInput): string | undefined => (webhookUrl === undefined ? undefined : URL.parse(webhookUrl)?.origin);

/** The steps for an account, as it is configured. */
export function platformSteps(offer: ChannelOffer, cfg: HostConfig, accountId: string, input: ChannelSetupInput): readonly Step[] {
  return stepsFor(offer, settingsOf(cfg, offer.id, accountId), originOf(input));
}

/** The steps as text, each with what to paste. */
export function stepsText(label: string, steps: readonly Step[]): string {
  const lines = steps.map(({ text, copy }, at) => `${at + 1}. ${text}\n${copy === undefined ? "" : `\n${copy}\n\n`}`);
  return `Set up ${label}:\n${lines.join("")}`;
}
