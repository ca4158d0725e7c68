/** Whom a message is for: a person by handle, or a chat by one of its three names. */
import { looksLikeIMessageTargetId, normalizeIMessageMessagingTarget } from "openclaw/plugin-sdk";
import { createTargets, type Fields, unfit } from "openclaw/plugin-sdk/channel-kit";
import { bareEntry, type Service } from "./account.ts";

export type Target =
  | { readonly kind: "handle"; readonly handle: string; readonly service: Service | undefined }
  | { readonly kind: "chat_id"; readonly id: number }
  | { readonly kind: "chat_guid" | "chat_identifier"; readonly id: string };

const CHAT = /^(chat_id|chatid|chat|chat_guid|chatguid|guid|chat_identifier|chatidentifier|chatident|group):(.*)$/is;
const isMail = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text);

function chatTarget(name: string, id: string, written: string): Target {
  const isEmpty = id === "";
  if (/^(?:chat_?id|chat|group)$/i.test(name)) {
    if (!/^\d{1,15}$/.test(id)) throw unfit("send", `"${written}" names no chat: chat_id: must be followed by its number, see imsg chats`);
    return { kind: "chat_id", id: Number(id) };
  }
  if (isEmpty) throw unfit("send", `"${written}" names no chat: a value must follow ${name}:`);
  return { kind: /guid$/i.test(name) ? "chat_guid" : "chat_identifier", id };
}

export function parseTarget(to: string): Target {
  const [prefix = "", service] = /^\s*(imessage|sms|auto):/i.exec(to) ?? [];
  const rest = to.slice(prefix.length).trim();
  const [, name, id = ""] = CHAT.exec(rest) ?? [];
  if (name !== undefined) return chatTarget(name, id.trim(), to);
  const digits = rest.replaceAll(/[\s().-]/g, "");
  const isPhone = /^\+?\d{3,15}$/.test(digits);
  if (!isPhone && !isMail(rest) && !/^urn:[\w:.-]+$/i.test(rest))
    throw unfit("send", `"${to}" names nobody on iMessage; write a number such as +15550100, a mail address, or chat_id:<number>`);
  // A number without a country code is left to imsg, which knows the region.
  const handle = isPhone ? digits : isMail(rest) ? rest.toLowerCase() : rest;
  return { kind: "handle", handle, service: service === undefined ? undefined : (service.toLowerCase() as Service) };
}

/** The target in its one spelling. */
export function targetText(target: Target): string {
  if (target.kind !== "handle") return `${target.kind}:${target.id}`;
  return target.service === undefined ? target.handle : `${target.service}:${target.handle}`;
}

/** As `imsg` takes it. */
export function targetParams(target: Target): Fields {
  return target.kind === "handle" ? { to: target.handle } : { [target.kind]: target.id };
}

/** What messages to it are known by when they come back. */
export const echoKey = (target: Target): string => (target.kind === "handle" ? bareEntry(target.handle) : targetText(target));

/** A sender's handle in its one spelling. */
export const handleOf = (sender: string): string => normalizeIMessageMessagingTarget(sender.replace(/^(?:imessage|sms|auto):/i, "")) ?? "";

export const TARGETS = createTargets({
  normalize: (raw) => targetText(parseTarget(raw)),
  looksLikeId: (raw) => looksLikeIMessageTargetId(raw),
  hint: "+15550100, name@example.org, chat_id:<number>, chat_guid:<guid> or chat_identifier:<id>",
});
