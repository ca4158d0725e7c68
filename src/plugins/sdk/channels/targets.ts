/** How people name whom to write to on each platform, and the one spelling of it. */
import { AppError } from "../../../base/errors.ts";
import type { ResolvedTarget } from "../../../protocol/index.ts";
import { missingTargetError, normalizeE164 } from "../text.ts";

interface UserAndRoomRules {
  readonly platform: string;
  /** `<@id>`. */
  readonly mention: RegExp;
  /** What an id looks like behind `@` or `#`. */
  readonly id: RegExp;
  readonly rooms: boolean;
}

/** `user:<id>` or `channel:<id>` in lower case. */
function userOrRoom(raw: string, rules: UserAndRoomRules): string | undefined {
  const target = raw.trim();
  if (!target) return undefined;
  const mentioned = rules.mention.exec(target)?.[1];
  if (mentioned) return `user:${mentioned}`.toLowerCase();
  const [, named, behind = ""] = /^([a-z]+):(.*)$/i.exec(target) ?? [];
  const prefix = named?.toLowerCase();
  if (prefix === "user" || prefix === "channel" || prefix === rules.platform) {
    const id = behind.trim();
    return id ? `${prefix === "channel" ? "channel" : "user"}:${id}`.toLowerCase() : undefined;
  }
  const sign = target[0];
  if (sign === "@" || (sign === "#" && rules.rooms)) {
    const id = target.slice(1).trim();
    const kind = sign === "@" ? "user" : "channel";
    if (!rules.id.test(id))
      throw new AppError("INVALID_INPUT", `"${target}" is not a recipient on ${rules.platform}: write ${kind}:<id> with the platform's own id`);
    return `${kind}:${id}`.toLowerCase();
  }
  return `channel:${target}`.toLowerCase();
}

const DISCORD: UserAndRoomRules = { platform: "discord", mention: /^<@!?(\d+)>$/, id: /^\d+$/, rooms: false };
const SLACK: UserAndRoomRules = { platform: "slack", mention: /^<@([A-Z0-9]+)>$/i, id: /^[A-Z0-9]+$/i, rooms: true };

export const normalizeDiscordMessagingTarget = (raw: string): string | undefined => userOrRoom(raw, DISCORD);
export const normalizeSlackMessagingTarget = (raw: string): string | undefined => userOrRoom(raw, SLACK);

/** A bare number is a channel. */
export function normalizeDiscordOutboundTarget(to?: string): ResolvedTarget {
  const target = to?.trim();
  if (!target) return { ok: false, error: missingTargetError("Discord", "channel:<id> for a channel, user:<id> for a person") };
  return { ok: true, to: /^\d+$/.test(target) ? `channel:${target}` : target };
}

export function normalizeTelegramMessagingTarget(raw: string): string | undefined {
  const target = raw
    .trim()
    .replace(/^(?:telegram|tg):/, "")
    .trim()
    .replace(/^(?:https?:\/\/)?t\.me\/(\w+)$/i, "@$1");
  return target ? `telegram:${target}`.toLowerCase() : undefined;
}

/** Group ids keep their case: they are base64. */
export function normalizeSignalMessagingTarget(raw: string): string | undefined {
  const target = raw
    .trim()
    .replace(/^signal:/i, "")
    .trim();
  const [, kind, behind = ""] = /^(group|username|u|uuid):(.*)$/is.exec(target) ?? [];
  if (kind === undefined) return target.toLowerCase() || undefined;
  const id = behind.trim();
  if (!id) return undefined;
  switch (kind.toLowerCase()) {
    case "group":
      return `group:${id}`;
    case "uuid":
      return id.toLowerCase();
    default:
      return `username:${id}`.toLowerCase();
  }
}

const CHAT_TARGET = /^(?:chat_id|chatid|chat|chat_guid|chatguid|guid|chat_identifier|chatidentifier|chatident):/i;

function iMessageHandle(raw: string): string {
  const handle = raw.trim();
  if (CHAT_TARGET.test(handle)) return handle.replace(/^[^:]+:/, (prefix) => prefix.toLowerCase());
  if (handle.includes("@")) return handle.toLowerCase();
  const digits = handle.replaceAll(/[^\d+]/g, "");
  return /^\+?\d{3,}$/.test(digits) ? normalizeE164(digits) : handle.replaceAll(/\s+/g, "");
}

export function normalizeIMessageMessagingTarget(raw: string): string | undefined {
  const [prefix = "", service] = /^\s*(imessage|sms|auto):/i.exec(raw) ?? [];
  const handle = iMessageHandle(raw.slice(prefix.length));
  if (!handle) return undefined;
  return service !== undefined && !CHAT_TARGET.test(handle) ? `${service.toLowerCase()}:${handle}` : handle;
}

const withoutWhatsApp = (value: string) => value.trim().replace(/^(?:whatsapp:\s*)+/i, "");

export function isWhatsAppGroupJid(value: string): boolean {
  return /^\d+(?:-\d+)*@g\.us$/i.test(withoutWhatsApp(value));
}

/** A phone number with its plus, or a group's id; `null` for anything else. */
export function normalizeWhatsAppTarget(value: string): string | null {
  const target = withoutWhatsApp(value);
  if (isWhatsAppGroupJid(target)) return target.toLowerCase();
  const user = /^(\d+)(?::\d+)?@s\.whatsapp\.net$|^(\d+)@lid$/i.exec(target);
  if (!user && target.includes("@")) return null;
  const phone = normalizeE164(user?.[1] ?? user?.[2] ?? target);
  return phone.length > 1 ? phone : null;
}

export const normalizeWhatsAppMessagingTarget = (raw: string): string | undefined => (raw.trim() ? (normalizeWhatsAppTarget(raw) ?? undefined) : undefined);

const UUID = /^[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}$/i;
const PHONE = /^\+?\d{3,}$/;

const LOOKS = {
  discord: [/^<@!?\d+>$/, /^(?:user|channel|discord):/i, /^\d{6,}$/],
  slack: [/^<@[A-Z0-9]+>$/i, /^(?:user|channel|slack):/i, /^[@#]/, /^[CUWGD][A-Z0-9]{8,}$/i],
  telegram: [/^(?:telegram|tg):/i, /^@/, /^-?\d{6,}$/],
  imessage: [/^(?:imessage|sms|auto):/i, CHAT_TARGET, /@/, PHONE],
  whatsapp: [/^whatsapp:/i, /@/, PHONE],
} satisfies Readonly<Record<string, readonly RegExp[]>>;

const looksLike = (channel: keyof typeof LOOKS) => (raw: string) => raw.trim() !== "" && LOOKS[channel].some((shape) => shape.test(raw.trim()));

/** Whether a text is an address already, and no name to look up. */
export const looksLikeDiscordTargetId = looksLike("discord");
export const looksLikeSlackTargetId = looksLike("slack");
export const looksLikeTelegramTargetId = looksLike("telegram");
export const looksLikeIMessageTargetId = looksLike("imessage");
export const looksLikeWhatsAppTargetId = looksLike("whatsapp");

export function looksLikeSignalTargetId(raw: string, normalized?: string): boolean {
  return [raw, normalized ?? ""].some((candidate) => {
    const target = candidate
      .trim()
      .replace(/^signal:/i, "")
      .trim();
    return /^(?:group|username|u):/i.test(target) || UUID.test(target.replace(/^uuid:/i, "").trim()) || PHONE.test(target);
  });
}

export function resolveWhatsAppOutboundTarget(params: {
  to: string | null | undefined;
  allowFrom: readonly (string | number)[] | null | undefined;
  mode: string | null | undefined;
}): ResolvedTarget {
  const refused: ResolvedTarget = { ok: false, error: missingTargetError("WhatsApp", "<E.164 number or group id>") };
  const to = params.to?.trim() ? normalizeWhatsAppTarget(params.to) : null;
  if (to === null) return refused;
  const listed = (params.allowFrom ?? []).map((entry) => String(entry).trim()).filter(Boolean);
  const open = isWhatsAppGroupJid(to) || (params.mode !== "implicit" && params.mode !== "heartbeat") || listed.includes("*");
  const numbers = listed.flatMap((entry) => (entry === "*" ? [] : (normalizeWhatsAppTarget(entry) ?? [])));
  return open || numbers.length === 0 || numbers.includes(to) ? { ok: true, to } : refused;
}
