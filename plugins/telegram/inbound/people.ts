/** Who wrote. */
import { fieldsOf, type Fields, given, textOf, wholeOf } from "../fields.ts";
import type { ChannelInboundSender } from "../types.ts";

/** Accounts of Telegram itself that stand in for a chat: anonymous admins, posts of channels, what a linked channel posts. */
const STAND_INS: ReadonlySet<number> = new Set([1_087_968_824, 136_817_688, 777_000]);

export function nameOf(person: Fields | undefined): string | undefined {
  const name = [person?.["first_name"], person?.["last_name"]].flatMap((part) => textOf(part)?.trim() || []).join(" ");
  return name || textOf(person?.["title"])?.trim() || textOf(person?.["username"]) || undefined;
}

/** A person or, where someone writes as a chat, that chat: its id is below zero and equals nobody's. */
export function senderOf(from: unknown, as?: unknown): ChannelInboundSender | undefined {
  const person = fieldsOf(from);
  const chat = fieldsOf(as);
  const personId = wholeOf(person?.["id"]);
  const author = chat && (personId === undefined || STAND_INS.has(personId)) ? chat : person;
  const id = wholeOf(author?.["id"]);
  if (author === undefined || id === undefined) return undefined;
  return given({
    id: String(id),
    name: nameOf(author),
    username: textOf(author["username"]),
    isBot: author === person && person["is_bot"] === true ? true : undefined,
  });
}
