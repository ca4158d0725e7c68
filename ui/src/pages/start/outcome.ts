import type { MethodResult } from "openclaw/client";

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
  const stays = offered === undefined ? "answers from now on" : "goes on answering";
  const answers = model === "" ? "" : ` ${model} ${stays}.`;
  const use = (label: string): readonly Further[] => (offered === undefined ? [] : [{ label, provider, name, model: offered }]);
  if (checked === "accepted") return { look: "good", text: `${name} accepted the key, and it is kept.${answers}`, ...details, further: use(`Use ${offered}`) };
  if (checked === "refused") return { look: "bad", text: `${name} refused the key. It was not kept.`, ...details };
  if (checked === "unreachable") {
    const text = `${name} could not be reached, so nobody knows whether the key works. It is kept.${answers} Check it again when ${name} can be reached.`;
    return { look: "warn", text, ...details, further: [{ label: "Check again", provider, name }, ...use("Use it anyway")] };
  }
  return {
    look: "warn",
    text: `The key is kept without a check.${answers}`,
    ...details,
    further: detail === undefined ? [{ label: "Check it", provider, name }] : [],
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
  const model = answering.model ?? "no model";
  return [
    { label: "The gateway runs", done: true, detail: "You are looking at it.", step: undefined },
    {
      label: "A language model answers",
      done: !answering.offline && answering.model !== null && !keyless,
      detail: answering.offline
        ? "The built-in offline model answers: rules, no language model."
        : keyless
          ? `${model} is set, but there is no key for ${keyless.label}.`
          : model,
      step: "key",
    },
    {
      label: "A channel is set up",
      done: on.length > 0,
      detail: on.length > 0 ? on.map(({ label }) => label).join(", ") : "So far it can only be reached from this page and the terminal.",
      step: "channel",
    },
    { label: "A first conversation", done: sessions > 0, detail: sessions > 0 ? "There is something in the chat." : "Say hello in the chat.", step: undefined },
    { label: "The tour", done: tourSeen, detail: "60 seconds through the menu.", step: "tour" },
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
