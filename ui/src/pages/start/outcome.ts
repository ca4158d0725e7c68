import type { MethodResult } from "openclaw/client";
import { t } from "../../words/words.ts";

export type SetupStatus = MethodResult<"setup.status">;

/** What can be done about how a step ended. */
export interface Further {
  readonly label: string;
  readonly provider: string;
  /** Of the provider, for people. */
  readonly name: string;
  /** Shall answer; without it the key is checked once more. */
  readonly model?: string;
}

/** How a step ended, in words. */
export interface Outcome {
  readonly look: "good" | "warn" | "bad";
  readonly text: string;
  readonly detail?: string;
  readonly further?: readonly Further[];
}

/** What became of a key. One that was refused is not kept; one that nobody could check displaces nothing. */
export function keyOutcome(name: string, { provider, checked, model, offered, detail }: MethodResult<"setup.key">): Outcome {
  const details = detail === undefined ? {} : { detail };
  const stays = offered === undefined ? t("is now in use") : t("stays in use");
  const answers = model === "" ? "" : ` ${model} ${stays}.`;
  const use = (label: string): readonly Further[] => (offered === undefined ? [] : [{ label, provider, name, model: offered }]);
  if (checked === "accepted") return { look: "good", text: t`${name} accepted the key. It was saved.${answers}`, ...details, further: use(t`Use ${offered}`) };
  if (checked === "refused") return { look: "bad", text: t`${name} rejected the key. It was not saved.`, ...details };
  if (checked === "unreachable") {
    const text = t`${name} could not be reached, so the key was saved without being checked.${answers} Check it again when ${name} is reachable.`;
    return { look: "warn", text, ...details, further: [{ label: t("Check again"), provider, name }, ...use(t("Use it anyway"))] };
  }
  return {
    look: "warn",
    text: t`The key was saved without being checked.${answers}`,
    ...details,
    further: detail === undefined ? [{ label: t("Check key"), provider, name }] : [],
  };
}

/** A thing to do, and whether it is done. */
export interface Done {
  readonly label: string;
  readonly done: boolean;
  readonly detail: string;
  readonly step: string | undefined;
}

/** The list of first steps as they stand. */
export function checklist({ answering, providers, channels, sessions }: SetupStatus, tourSeen: boolean): Done[] {
  const keyless = providers.find(({ id, hasKey }) => !hasKey && answering.model?.startsWith(`${id}/`));
  const on = channels.filter(({ configured, enabled }) => configured && enabled);
  const model = answering.model ?? t("no model");
  return [
    { label: t("Start the gateway"), done: true, detail: t("It serves this page."), step: undefined },
    {
      label: t("Set up a language model"),
      done: !answering.offline && answering.model !== null && !keyless,
      detail: answering.offline
        ? t("The built-in offline model answers. It is rule-based, not a language model.")
        : keyless
          ? t`${model} is set, but there is no key for ${keyless.label}.`
          : model,
      step: "key",
    },
    {
      label: t("Set up a channel"),
      done: on.length > 0,
      detail: on.length > 0 ? on.map(({ label }) => label).join(", ") : t("So far, you can only chat from this page and the terminal."),
      step: "channel",
    },
    {
      label: t("Start a first chat"),
      done: sessions > 0,
      detail: sessions > 0 ? t("You have started chatting.") : t("Say hello in the chat."),
      step: undefined,
    },
    { label: t("Take the tour"), done: tourSeen, detail: t("A 60-second look at the menu."), step: "tour" },
  ];
}

/** Channels that most people have, in the order in which they are offered. */
const USUAL = ["telegram", "whatsapp", "discord", "slack", "signal"];

/** The channel that is offered first: one that is not set up yet and can be set up here, the usual ones before the others. */
export function firstChannel(channels: SetupStatus["channels"]): SetupStatus["channels"][number] | undefined {
  const rank = ({ id }: { readonly id: string }): number => (USUAL.includes(id) ? USUAL.indexOf(id) : USUAL.length);
  const byUse = channels.toSorted((a, b) => rank(a) - rank(b));
  return byUse.find(({ fields, configured }) => fields.length > 0 && !configured) ?? byUse.find(({ fields }) => fields.length > 0) ?? byUse[0];
}

/** A text cut into words and addresses, so that addresses can be followed. */
export function linked(text: string): readonly { readonly text: string; readonly href?: string }[] {
  return text
    .split(/(https:\/\/[^\s;,()<>"]*[^\s;,.()<>"])/)
    .map((part, at) => (at % 2 === 1 ? { text: part, href: part } : { text: part }))
    .filter((part) => part.text !== "");
}
