/** What a message says: its text, files, location, and what it refers to. */
import type { proto } from "baileys";
import type { ChannelInboundEvent } from "openclaw/plugin-sdk";
import { defined } from "openclaw/plugin-sdk/channel-kit";

type Media = NonNullable<ChannelInboundEvent["media"]>[number];

/** How a file is found again, as JSON. */
export interface MediaRef {
  readonly type: "image" | "video" | "audio" | "document" | "sticker";
  readonly url?: string;
  readonly directPath?: string;
  readonly mediaKey: string;
  readonly mimeType?: string;
  readonly fileName?: string;
}

interface FileMessage {
  readonly url?: string | null;
  readonly directPath?: string | null;
  readonly mediaKey?: Uint8Array | null;
  readonly mimetype?: string | null;
  readonly fileLength?: unknown;
  readonly fileName?: string | null;
  readonly seconds?: number | null;
  readonly ptt?: boolean | null;
}

function mediaOf(type: MediaRef["type"], file: FileMessage | null | undefined): Media | undefined {
  if (!file?.mediaKey || file.mediaKey.length === 0) return undefined;
  const mimeType = file.mimetype?.split(";", 1)[0] || undefined;
  const fileName = file.fileName || undefined;
  const bytes = Number(file.fileLength ?? Number.NaN);
  const ref: MediaRef = defined({
    type,
    url: file.url || undefined,
    directPath: file.directPath || undefined,
    mediaKey: Buffer.from(file.mediaKey).toString("base64"),
    mimeType,
    fileName,
  });
  const spoken = file.ptt ? { isVoice: true } : {};
  return defined({
    kind: type,
    ref,
    mimeType,
    fileName,
    bytes: Number.isFinite(bytes) ? bytes : undefined,
    durationSeconds: file.seconds || undefined,
    ...spoken,
  });
}

export function mediaIn(content: proto.IMessage): Media[] {
  const { imageMessage, videoMessage, ptvMessage, audioMessage, documentMessage, stickerMessage } = content;
  const found = [
    mediaOf("image", imageMessage),
    mediaOf("video", videoMessage ?? ptvMessage),
    mediaOf("audio", audioMessage),
    mediaOf("document", documentMessage),
    mediaOf("sticker", stickerMessage),
  ];
  return found.filter((media) => media !== undefined);
}

export function locationIn({ locationMessage, liveLocationMessage }: proto.IMessage): ChannelInboundEvent["location"] {
  const place = locationMessage ?? liveLocationMessage;
  const [latitude, longitude] = [place?.degreesLatitude, place?.degreesLongitude];
  if (!place || typeof latitude !== "number" || typeof longitude !== "number") return undefined;
  const name = locationMessage?.name || undefined;
  const isLive = liveLocationMessage !== undefined && liveLocationMessage !== null;
  return defined({
    latitude,
    longitude,
    accuracy: place.accuracyInMeters || undefined,
    name,
    address: locationMessage?.address || undefined,
    isLive,
    source: isLive ? ("live" as const) : name === undefined ? ("pin" as const) : ("place" as const),
    caption: (locationMessage?.comment ?? liveLocationMessage?.caption) || undefined,
  });
}

/** Name and numbers of a contact card. */
function cardText({ displayName, vcard }: proto.Message.IContactMessage): string {
  const numbers = [...(vcard ?? "").matchAll(/^TEL[^:\n]*:(.+)$/gim)].map(([, number]) => number!.trim());
  return `[contact: ${[displayName || "unnamed", ...numbers].join(", ")}]`;
}

export const pollIn = ({ pollCreationMessage, pollCreationMessageV2, pollCreationMessageV3 }: proto.IMessage): proto.Message.IPollCreationMessage | undefined =>
  pollCreationMessage ?? pollCreationMessageV2 ?? pollCreationMessageV3 ?? undefined;

export function textIn(content: proto.IMessage): string {
  const { conversation, extendedTextMessage, imageMessage, videoMessage, documentMessage, contactMessage, contactsArrayMessage } = content;
  const written = conversation ?? extendedTextMessage?.text ?? imageMessage?.caption ?? videoMessage?.caption ?? documentMessage?.caption;
  if (written) return written;
  const cards = contactMessage ? [contactMessage] : (contactsArrayMessage?.contacts ?? []);
  if (cards.length > 0) return cards.map(cardText).join("\n");
  const poll = pollIn(content);
  return poll ? [`[poll] ${poll.name ?? ""}`, ...(poll.options ?? []).map(({ optionName }) => `- ${optionName ?? ""}`)].join("\n") : "";
}

/** What stands beside the content: the quoted message, mentions, whether it was forwarded. */
export function contextIn(content: proto.IMessage): proto.IContextInfo | undefined {
  for (const part of Object.values(content) as unknown[]) {
    const info = typeof part === "object" && part !== null ? (part as { contextInfo?: proto.IContextInfo | null }).contextInfo : undefined;
    if (info) return info;
  }
  return undefined;
}
