/** An inbound message as agents see it: the line in brackets with its origin, sender and time, and its derived fields. */
import { printableName } from "../../base/printable.ts";
import type { FinalizedMsgContext, HostConfig, MsgContext } from "../../protocol/index.ts";

export interface EnvelopeOptions {
  /** `local`, `utc`, `user` or an IANA name. Default `local`. */
  readonly timezone?: string | undefined;
  /** Default true. */
  readonly includeTimestamp?: boolean | undefined;
  /** Default true. */
  readonly includeElapsed?: boolean | undefined;
  readonly userTimezone?: string | undefined;
}

export interface Envelope {
  readonly channel: string;
  readonly from?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly timestamp?: number | Date | undefined;
  readonly host?: string | undefined;
  readonly ip?: string | undefined;
  readonly body: string;
  /** Of the previous message in the same session. */
  readonly previousTimestamp?: number | Date | undefined;
  readonly envelope?: EnvelopeOptions | undefined;
}

export function resolveEnvelopeFormatOptions(cfg?: HostConfig): EnvelopeOptions & { includeTimestamp: boolean; includeElapsed: boolean } {
  const defaults = cfg?.agents?.defaults ?? {};
  const text = (key: string): string | undefined => (typeof defaults[key] === "string" ? defaults[key].trim() || undefined : undefined);
  return {
    timezone: text("envelopeTimezone"),
    includeTimestamp: defaults["envelopeTimestamp"] !== "off",
    includeElapsed: defaults["envelopeElapsed"] !== "off",
    userTimezone: text("userTimezone"),
  };
}

/** Parts of the header are foreign text: they cannot end it, and stay on its line. */
const headerPart = (text: string | undefined): string => (text ?? "").replaceAll("[", "(").replaceAll("]", ")").replaceAll(/\s+/g, " ").trim();

function zoneOf({ timezone = "local", userTimezone }: EnvelopeOptions): string | undefined {
  const wanted = timezone.toLowerCase();
  if (wanted === "utc" || wanted === "gmt") return "UTC";
  const zone = wanted === "user" ? userTimezone : wanted === "local" || wanted === "host" ? undefined : timezone;
  try {
    return zone && new Intl.DateTimeFormat("en-US", { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined; // Unknown zone: use the host's.
  }
}

/** `Sun 2026-01-18 00:19 PST`, in UTC `Sun 2026-01-18T05:19Z`. */
export function formatEnvelopeTime(ms: number, options: EnvelopeOptions): string {
  const timeZone = zoneOf(options);
  const format = new Intl.DateTimeFormat("en-US", {
    ...(timeZone ? { timeZone } : {}),
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  });
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of format.formatToParts(ms)) parts[type] = value;
  const day = `${parts.weekday} ${parts.year}-${parts.month}-${parts.day}`;
  const time = `${parts.hour}:${parts.minute}`;
  return timeZone === "UTC" ? `${day}T${time}Z` : `${day} ${time} ${parts.timeZoneName}`;
}

/** `30s`, `5m`, `3h` up to two days, then `2d`. Undefined for negative times. */
export function formatElapsed(ms: number): string | undefined {
  const seconds = Math.floor(ms / 1000);
  if (!(seconds >= 0)) return undefined;
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  const hours = Math.floor(seconds / 3600);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}

/** `[Channel from +elapsed host ip time] body`; unknown parts are left out. */
export function formatAgentEnvelope({ channel, from, host, ip, body, envelope = {}, ...times }: Envelope): string {
  const at = Number(times.timestamp ?? Number.NaN);
  const before = Number(times.previousTimestamp ?? Number.NaN);
  const { includeTimestamp = true, includeElapsed = true } = envelope;
  const elapsed = includeElapsed && Number.isFinite(at) && Number.isFinite(before) ? formatElapsed(at - before) : undefined;
  const header = [
    headerPart(channel) || "Channel",
    headerPart(from),
    elapsed === undefined ? "" : `+${elapsed}`,
    headerPart(host),
    headerPart(ip),
    includeTimestamp && Number.isFinite(at) ? formatEnvelopeTime(at, envelope) : "",
  ];
  return `[${header.filter(Boolean).join(" ")}] ${body}`;
}

export interface EnvelopeSender {
  readonly name?: string | undefined;
  readonly username?: string | undefined;
  readonly tag?: string | undefined;
  readonly e164?: string | undefined;
  readonly id?: string | undefined;
}

/** `Name (id)`: a name, user name or tag, and an id that distinguishes people of that name. */
export function formatSenderLabel({ name, username, tag, e164, id }: EnvelopeSender): string | undefined {
  const shown = name?.trim() || username?.trim() || tag?.trim() || undefined;
  const exact = e164?.trim() || id?.trim() || undefined;
  if (shown === undefined || exact === undefined || shown === exact) return shown ?? exact;
  return `${shown} (${exact})`;
}

/** Like {@link formatAgentEnvelope}; in groups the body starts with the sender. */
export function formatInboundEnvelope(
  params: Omit<Envelope, "host" | "ip"> & {
    readonly chatType?: string | undefined;
    readonly senderLabel?: string | undefined;
    readonly sender?: EnvelopeSender | undefined;
  },
): string {
  const { chatType, senderLabel, sender, ...envelope } = params;
  if (chatType === undefined || canonicalChatType(chatType) === "direct") return formatAgentEnvelope(envelope);
  const label = headerPart(senderLabel) || headerPart(formatSenderLabel(sender ?? {}));
  return formatAgentEnvelope({ ...envelope, body: label ? `${label}: ${params.body}` : params.body });
}

/** `dm` is an older word for `direct`. */
export function canonicalChatType(written?: string | null): "direct" | "group" | "channel" | undefined {
  const type = (written ?? "").trim().toLowerCase();
  if (type === "dm") return "direct";
  return type === "direct" || type === "group" || type === "channel" ? type : undefined;
}

export interface FinalizeOptions {
  readonly forceBodyForAgent?: boolean | undefined;
  readonly forceBodyForCommands?: boolean | undefined;
  readonly forceChatType?: boolean | undefined;
  readonly forceConversationLabel?: boolean | undefined;
}

const TEXTS = ["Body", "RawBody", "CommandBody", "Transcript", "ThreadStarterBody", "ThreadHistoryBody", "BodyForAgent", "BodyForCommands"] as const;
const UNKNOWN_TYPE = "application/octet-stream";

const trimmed = (value: unknown): string | undefined => (typeof value === "string" ? value.trim() || undefined : undefined);
const lines = (text: string): string => text.replaceAll(/\r\n?/g, "\n");

/** The part after the last colon of an address such as `signal:group:123`. */
const idOf = (address: string | undefined): string | undefined => address?.split(":").at(-1)?.trim() || undefined;

/** A name for the conversation; a bare number is added where the name alone would be ambiguous. */
export function conversationLabel(ctx: MsgContext): string | undefined {
  const explicit = trimmed(ctx.ConversationLabel) ?? trimmed(ctx.ThreadLabel);
  if (explicit !== undefined) return explicit;
  const from = trimmed(ctx.From);
  if (canonicalChatType(ctx.ChatType) === "direct") return trimmed(ctx.SenderName) ?? from;
  const base = trimmed(ctx.GroupChannel) ?? trimmed(ctx.GroupSubject) ?? trimmed(ctx.GroupSpace) ?? from;
  const id = idOf(from);
  const vague = id !== undefined && (/^\d+$/.test(id) || id.endsWith("@g.us"));
  return base === undefined || id === undefined || !vague || base.includes(id) || /^[#@]/.test(base) ? base : `${base} id:${id}`;
}

function mediaTypes(ctx: MsgContext): void {
  const count = Math.max(ctx.MediaPaths?.length ?? 0, ctx.MediaUrls?.length ?? 0, ctx.MediaPath || ctx.MediaUrl ? 1 : 0);
  if (count === 0) return;
  const known = ctx.MediaTypes ?? (ctx.MediaType ? [ctx.MediaType] : []);
  ctx.MediaTypes = Array.from({ length: Math.max(count, known.length) }, (_, index) => trimmed(known[index]) ?? UNKNOWN_TYPE);
  ctx.MediaType = trimmed(ctx.MediaType) ?? ctx.MediaTypes[0];
}

/** Names of people and chats: one printable line. */
const NAMES = [
  "SenderName",
  "SenderUsername",
  "SenderTag",
  "GroupSubject",
  "GroupChannel",
  "GroupSpace",
  "ConversationLabel",
  "ThreadLabel",
  "ReplyToSender",
] as const;

/** Fills `ctx` in place and returns it. Only an exact `true` authorizes. */
export function finalizeInboundContext<T extends MsgContext>(ctx: T, options: FinalizeOptions = {}): T & FinalizedMsgContext {
  const target: MsgContext = ctx;
  for (const key of TEXTS) if (typeof target[key] === "string") target[key] = lines(target[key]);
  for (const key of NAMES) if (typeof target[key] === "string") target[key] = printableName(target[key]);
  target.Body ??= "";
  if (target.UntrustedContext) target.UntrustedContext = target.UntrustedContext.map(lines).filter((text) => text.trim() !== "");
  const chatType = canonicalChatType(target.ChatType);
  if (chatType !== undefined || options.forceChatType) target.ChatType = chatType;
  const body = target.CommandBody ?? target.RawBody ?? target.Body;
  if (options.forceBodyForAgent || target.BodyForAgent === undefined) target.BodyForAgent = body;
  if (options.forceBodyForCommands || target.BodyForCommands === undefined) target.BodyForCommands = body;
  if (options.forceConversationLabel) target.ConversationLabel = undefined;
  target.ConversationLabel = conversationLabel(target);
  target.CommandAuthorized = target.CommandAuthorized === true;
  mediaTypes(target);
  return ctx as T & FinalizedMsgContext;
}
