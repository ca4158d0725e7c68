import type { MethodResult } from "openclaw/client";

export type SetupStatus = MethodResult<"setup.status">;

/** How a step ended, in words. */
export interface Outcome {
  readonly look: "good" | "warn" | "bad";
  readonly text: string;
  readonly detail?: string;
}

/** What became of a key. One that was refused is not kept. */
export function keyOutcome(label: string, { checked, model, detail }: MethodResult<"setup.key">): Outcome {
  const told = detail === undefined ? {} : { detail };
  const answers = model === "" ? "" : ` ${model} answers from now on.`;
  if (checked === "accepted") return { look: "good", text: `${label} accepted the key, and it is kept.${answers}`, ...told };
  if (checked === "refused") return { look: "bad", text: `${label} refused the key. It was not kept.`, ...told };
  if (checked === "unreachable")
    return { look: "warn", text: `${label} could not be reached, so nobody knows whether the key works. It is kept.${answers}`, ...told };
  return { look: "warn", text: `The key is kept without a check.${answers}`, ...told };
}

/** A thing to do, and whether it is done. */
export interface Done {
  readonly label: string;
  readonly done: boolean;
  readonly detail: string;
  readonly step: string | undefined;
}

/** The list of first steps as they stand. */
export function checklist({ answering, channels, sessions }: SetupStatus, tourSeen: boolean): Done[] {
  const on = channels.filter(({ configured, enabled }) => configured && enabled);
  const model = answering.model ?? "no model";
  return [
    { label: "The gateway runs", done: true, detail: "You are looking at it.", step: undefined },
    {
      label: "A language model answers",
      done: !answering.offline && answering.model !== null,
      detail: answering.offline ? "The built-in offline model answers: rules, no language model." : model,
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
