/** Slash commands, buttons, menus and forms. */
import { type Fields, fieldsOf, listOf, numberOf, textOf, textsOf } from "openclaw/plugin-sdk/channel-kit";
import type { DiscordAccount } from "../account.ts";
import type { ChannelInboundEvent } from "../types.ts";
import { chatRefOf, MalformedEvent, senderOf, type Surroundings } from "./chat.ts";

export const INTERACTION = { command: 2, component: 3, autocomplete: 4, form: 5 } as const;

/** Who did what, and how it is answered. */
export interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly applicationId: string;
  readonly type: number;
  readonly data: Fields;
  readonly userId: string;
}

export function interactionOf(raw: Fields): Interaction {
  const [id, token, applicationId, type] = [textOf(raw["id"]), textOf(raw["token"]), textOf(raw["application_id"]), numberOf(raw["type"])];
  const userId = textOf((fieldsOf(fieldsOf(raw["member"])?.["user"]) ?? fieldsOf(raw["user"]))?.["id"]);
  if (id === undefined || token === undefined || applicationId === undefined || type === undefined || userId === undefined)
    throw new MalformedEvent("its interaction has no id, token or user");
  return { id, token, applicationId, type, data: fieldsOf(raw["data"]) ?? {}, userId };
}

const valueOf = (option: unknown): string => {
  const value = fieldsOf(option)?.["value"];
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value).trim() : "";
};

/** Fields of a form, whatever they are wrapped in. */
function formValues(components: unknown): string[] {
  return listOf(components).flatMap((raw) => {
    const component = fieldsOf(raw);
    const inner = component?.["component"] === undefined ? component?.["components"] : [component["component"]];
    return [...(textOf(component?.["value"]) === undefined ? [] : [valueOf(raw)]), ...textsOf(component?.["values"]), ...formValues(inner)];
  });
}

/** What it says, as if it had been written. */
export function textOfInteraction({ type, data }: Interaction): string {
  if (type === INTERACTION.command) {
    const values = listOf(data["options"]).map(valueOf).filter(Boolean);
    return [`/${textOf(data["name"]) ?? ""}`, ...values].join(" ");
  }
  if (type === INTERACTION.form) return formValues(data["components"]).join("\n");
  const values = textsOf(data["values"]);
  return values.length > 0 ? values.join(", ") : (textOf(data["custom_id"]) ?? "");
}

export function interactionEvent(raw: Fields, around: Surroundings, account: DiscordAccount): ChannelInboundEvent | undefined {
  const interaction = interactionOf(raw);
  const member = fieldsOf(raw["member"]);
  const sender = senderOf(member?.["user"] ?? raw["user"], member);
  const text = textOfInteraction(interaction);
  if (sender === undefined || text === "" || text === "/") return undefined;
  const ref = chatRefOf(around, sender.id, account);
  return {
    kind: interaction.type === INTERACTION.command ? "command" : "button",
    id: interaction.id,
    chat: ref.chat,
    sender,
    text,
    to: ref.to,
    // It is made to us alone.
    mention: { mentioned: true, canDetect: true },
    ...ref.rules,
    context: { ...ref.context, CommandSource: "native" },
  };
}
