/** Slash commands, pressed buttons and forms. */
import { defined, type Fields, fieldsOf, listOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import { slashTarget } from "../send/target.ts";
import type { ChannelInboundEvent } from "../types.ts";
import { chatRefOf, MalformedEvent, type ReadingFacts, senderOf, timeOf } from "./chat.ts";

const MAX_FORM = 4000;

/** The text that a command stands for: `/openclaw hello` says "hello", `/status` is one of the host's own. */
function commandText(command: string, text: string, { workspace }: ReadingFacts): string | undefined {
  const name = command.replace(/^\//, "").toLowerCase();
  const { slash } = workspace.account;
  if (slash.isOn && name === slash.name.toLowerCase()) return text.trim() === "" ? "/help" : text.trim();
  return workspace.commands.has(name) ? `/${name} ${text}`.trim() : undefined;
}

/** Undefined: no such command is configured. */
export async function commandEvent(payload: Fields, facts: ReadingFacts): Promise<ChannelInboundEvent | undefined> {
  const { workspace } = facts;
  const [user, channel, command, trigger] = ["user_id", "channel_id", "command", "trigger_id"].map((key) => textOf(payload[key]));
  if (user === undefined || channel === undefined || command === undefined || trigger === undefined)
    throw new MalformedEvent("its command has no user, channel or name");
  const text = commandText(command, textOf(payload["text"]) ?? "", facts);
  if (text === undefined) return undefined;
  const hint = payload["channel_name"] === "directmessage" ? "im" : undefined;
  const ref = await chatRefOf(facts, channel, user, hint);
  const key = trigger.replaceAll(/[^\w.-]/g, "_");
  const url = textOf(payload["response_url"]);
  if (url !== undefined) await workspace.responses.keep(key, url);
  return {
    kind: "command",
    id: `command:${trigger}`,
    chat: ref.chat,
    sender: await senderOf(facts, user),
    text,
    // Only the one who gave the command may see its answer, so it has a session of its own.
    to: slashTarget(channel, user, key),
    mention: { mentioned: true },
    ...ref.rules,
    context: { ...ref.context, WasMentioned: true, SessionKey: `${workspace.account.slash.sessionPrefix}:${user}`.toLowerCase() },
  };
}

/** What was chosen, whatever the element is. */
function valueOf(action: Fields): string | undefined {
  const option = (raw: unknown): string | undefined => textOf(fieldsOf(raw)?.["value"]);
  const many = listOf(action["selected_options"]).flatMap((raw) => option(raw) ?? []);
  const single = ["selected_user", "selected_channel", "selected_conversation", "selected_date", "selected_time"].map((key) => textOf(action[key]));
  return textOf(action["value"]) ?? option(action["selected_option"]) ?? (many.length > 0 ? many.join(", ") : single.find((value) => value !== undefined));
}

/** A pressed button is answered as if its value had been written. */
async function buttonEvents(payload: Fields, user: string, facts: ReadingFacts): Promise<ChannelInboundEvent[]> {
  const container = fieldsOf(payload["container"]);
  const message = fieldsOf(payload["message"]);
  const channel = textOf(fieldsOf(payload["channel"])?.["id"]) ?? textOf(container?.["channel_id"]);
  const ts = textOf(message?.["ts"]) ?? textOf(container?.["message_ts"]) ?? "";
  // A button on a page of the app belongs to no conversation.
  if (channel === undefined) return [];
  const ref = await chatRefOf(facts, channel, user, undefined, textOf(message?.["thread_ts"]) ?? textOf(container?.["thread_ts"]));
  const sender = await senderOf(facts, user);
  const trigger = (textOf(payload["trigger_id"]) ?? "").replaceAll(/[^\w.-]/g, "_");
  const url = textOf(payload["response_url"]);
  const isPrivate = container?.["is_ephemeral"] === true && url !== undefined && trigger !== "";
  if (isPrivate) await facts.workspace.responses.keep(trigger, url);
  return listOf(payload["actions"]).flatMap((raw): ChannelInboundEvent[] => {
    const action = fieldsOf(raw) ?? {};
    const text = valueOf(action);
    if (text === undefined) return [];
    const id = `button:${ts}:${textOf(action["action_id"]) ?? ""}:${textOf(action["action_ts"]) ?? trigger}:${user}`;
    const session = isPrivate ? { SessionKey: `${facts.workspace.account.slash.sessionPrefix}:${user}`.toLowerCase() } : {};
    return [
      defined({
        kind: "button" as const,
        id,
        chat: ref.chat,
        sender,
        text,
        to: isPrivate ? slashTarget(channel, user, trigger) : ref.to,
        at: timeOf(textOf(action["action_ts"]) ?? ""),
        mention: { mentioned: true },
        ...ref.rules,
        context: { ...ref.context, WasMentioned: true, ButtonMessageId: ts, ...session },
      }),
    ];
  });
}

/** A form that was sent or closed: noted in the person's own chat. */
async function formEvent(payload: Fields, user: string, facts: ReadingFacts): Promise<ChannelInboundEvent> {
  const view = fieldsOf(payload["view"]) ?? {};
  const isClosed = payload["type"] === "view_closed";
  const channel = await facts.workspace.directWith(user);
  const ref = await chatRefOf(facts, channel, user, "im");
  const values = JSON.stringify(fieldsOf(view["state"])?.["values"] ?? {}).slice(0, MAX_FORM);
  const name = textOf(view["callback_id"]) ?? textOf(view["id"]) ?? "";
  return {
    kind: "notice",
    id: `view:${textOf(view["id"]) ?? ""}:${textOf(view["hash"]) ?? ""}:${isClosed ? "closed" : "sent"}`,
    chat: ref.chat,
    sender: await senderOf(facts, user),
    text: isClosed ? `the form ${name} was closed` : `the form ${name} was sent: ${values}`,
    to: ref.to,
    context: { ...ref.context },
  };
}

export async function interactionEvents(payload: Fields, facts: ReadingFacts): Promise<readonly ChannelInboundEvent[]> {
  const user = textOf(fieldsOf(payload["user"])?.["id"]);
  if (user === undefined) throw new MalformedEvent("its interaction has no user");
  switch (payload["type"]) {
    case "block_actions":
      return buttonEvents(payload, user, facts);
    case "view_submission":
    case "view_closed":
      return [await formEvent(payload, user, facts)];
    default:
      return [];
  }
}
