/** Files to WhatsApp: pictures and videos as such, several of them as an album, voice notes, documents. */
import type { AnyMessageContent, WAMessageKey } from "baileys";
import type { OutboundDeliveryResult } from "openclaw/plugin-sdk";
import { loadOutgoingFiles, type MediaRules, type OutgoingContext, type OutgoingFile, type OutgoingFiles } from "openclaw/plugin-sdk/channel-kit";
import { jidOf } from "./address.ts";
import type { Live } from "./live.ts";
import { type SendOptions, textContent, transmit } from "./send.ts";

const MB = 1024 * 1024;

const RULES: MediaRules = {
  channel: "whatsapp",
  platform: "WhatsApp",
  image: { maxBytes: 16 * MB, types: ["image/jpeg", "image/png", "image/webp"] },
  video: { maxBytes: 16 * MB, types: ["video/mp4", "video/3gpp", "video/quicktime"] },
  audio: { maxBytes: 16 * MB },
  voice: { maxBytes: 16 * MB },
  document: { maxBytes: 100 * MB },
};

export type MediaContext = OutgoingContext & SendOptions & { readonly to: string; readonly gifPlayback?: boolean | undefined };

/** How WhatsApp shows a file best. */
function contentOf({ kind, data, mimeType, fileName, durationSeconds }: OutgoingFile, caption: string, gifPlayback: boolean): AnyMessageContent {
  const buffer = Buffer.from(data.buffer, data.byteOffset, data.length);
  const text = caption.trim() === "" ? {} : { caption };
  switch (kind) {
    case "image":
      return { image: buffer, mimetype: mimeType, ...text };
    case "video":
      return { video: buffer, mimetype: mimeType, gifPlayback, ...text };
    case "voice":
      return {
        audio: buffer,
        ptt: true,
        mimetype: "audio/ogg; codecs=opus",
        ...(durationSeconds === undefined ? {} : { seconds: Math.round(durationSeconds) }),
      };
    case "audio":
      return { audio: buffer, ptt: false, mimetype: mimeType };
    default:
      return { document: buffer, mimetype: mimeType, fileName, ...text };
  }
}

const isVisual = ({ kind }: OutgoingFile): boolean => kind === "image" || kind === "video";

/** Each message of several has an id of its own that is the same for every attempt: what is repeated is the same message to everybody. */
const numbered = ({ nonce, signal }: SendOptions, part: string): SendOptions => ({ signal, ...(nonce === undefined ? {} : { nonce: `${nonce}:${part}` }) });

/** Pictures and videos that follow are shown as one. Nothing where they would not be. */
async function openAlbum(live: Live, ctx: MediaContext, files: OutgoingFiles["files"]): Promise<{ readonly albumParentKey?: WAMessageKey }> {
  if (files.length < 2 || !files.every(isVisual)) return {};
  const count = (wanted: OutgoingFile["kind"]): number => files.filter(({ kind }) => kind === wanted).length;
  const album = { expectedImageCount: count("image"), expectedVideoCount: count("video") };
  const { messageId } = await transmit(live, ctx.to, { album }, numbered(ctx, "album"));
  return { albumParentKey: { remoteJid: jidOf(ctx.to), fromMe: true, id: messageId } };
}

/** The files of a message with the text under the first. Recordings have no text: theirs follows. */
export async function sendMedia(
  live: Live,
  ctx: MediaContext,
  render: (words: Pick<OutgoingFiles, "text" | "rich">) => Promise<string>,
): Promise<OutboundDeliveryResult> {
  const { files, ...words } = await loadOutgoingFiles(ctx, RULES);
  const caption = await render(words);
  const [first, ...more] = files;
  const album = await openAlbum(live, ctx, files);
  const content = (file: OutgoingFile, text: string): AnyMessageContent => ({ ...contentOf(file, text, ctx.gifPlayback === true), ...album });
  const sent = await transmit(live, ctx.to, content(first, caption), ctx);
  for (const [index, file] of more.entries()) await transmit(live, ctx.to, content(file, ""), numbered(ctx, String(index + 2)));
  const isSilent = first.kind === "audio" || first.kind === "voice";
  if (isSilent && caption.trim() !== "") await transmit(live, ctx.to, textContent(caption), numbered(ctx, "text"));
  return sent;
}
