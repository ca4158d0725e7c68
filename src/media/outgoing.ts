/** What a platform takes, and files made to fit it. */
import { basename, extname } from "node:path";
import { formatBytes } from "../base/text.ts";
import type { Converters } from "./converters.ts";
import { extensionForMime, mediaKindFromMime, mediaTypeOf, mimeForExtension } from "./mime.ts";
import { isOggOpus, opusSeconds } from "./voice.ts";

/** What a platform takes of one kind of file. */
export interface KindRule {
  readonly maxBytes: number;
  /** Types that it shows as that kind. Default: all, of pictures those that every program shows. */
  readonly types?: readonly string[] | undefined;
}

/** What a platform takes. A kind without a rule goes as a document. */
export interface MediaRules {
  /** The channel's id, whose settings may lower the limits. */
  readonly channel: string;
  /** For people: "Telegram". */
  readonly platform: string;
  readonly image?: KindRule | undefined;
  readonly video?: KindRule | undefined;
  readonly audio?: KindRule | undefined;
  /** Recordings that are shown as spoken messages. `waveform`: the platform shows how loud it is when. */
  readonly voice?: (KindRule & { readonly waveform?: boolean | undefined }) | undefined;
  readonly document: KindRule;
  /** Holds for all kinds unless a setting says otherwise. */
  readonly defaultMb?: number | undefined;
}

export interface OutgoingFile {
  readonly kind: "image" | "video" | "audio" | "voice" | "document";
  readonly data: Uint8Array;
  readonly fileName: string;
  readonly mimeType: string;
  /** Of a voice note. */
  readonly durationSeconds?: number | undefined;
  /** Of a voice note, where the rules ask for it: 64 bytes. */
  readonly waveform?: Uint8Array | undefined;
}

export interface SourceFile {
  readonly data: Uint8Array;
  readonly fileName?: string | undefined;
  /** What the sender or a server says it is. */
  readonly claim?: string | undefined;
}

export interface FitOptions {
  readonly asVoice?: boolean | undefined;
  /** A configured limit for all kinds. */
  readonly cap?: { readonly maxBytes: number; readonly setting: string } | undefined;
}

export type FittedFile = { readonly file: OutgoingFile; readonly note?: undefined } | { readonly file?: undefined; readonly note: string };

/** A name with the ending of its new type. */
function renamed(fileName: string, mimeType: string): string {
  const ending = extensionForMime(mimeType);
  return ending === undefined ? fileName : `${basename(fileName, extname(fileName))}${ending}`;
}

/** Why a file is not sent: `clip.mp4 is 60 MB; Telegram takes 50 MB`. */
export function tooLargeNote(
  fileName: string,
  bytes: number,
  { platform, maxBytes, cap }: { platform: string; maxBytes: number; cap?: FitOptions["cap"] },
): string {
  const limit = cap && cap.maxBytes < maxBytes ? `${cap.setting} allows ${formatBytes(cap.maxBytes)}` : `${platform} takes ${formatBytes(maxBytes)}`;
  return `${fileName} is ${formatBytes(bytes)}; ${limit}`;
}

interface Ready {
  readonly data: Uint8Array;
  readonly mimeType: string;
}

/** Makes a file fit, or says why it cannot be sent. */
export async function fitOutgoing(source: SourceFile, rules: MediaRules, converters: Converters, options: FitOptions = {}): Promise<FittedFile> {
  const { data, fileName = "file", claim } = source;
  // Platforms refuse such files, and the text with them.
  if (data.length === 0) return { note: `${fileName} is empty` };
  const mimeType = mediaTypeOf({ data, fileName, claim });
  const kind = mediaKindFromMime(mimeType);
  const limitOf = (rule: KindRule): number => Math.min(rule.maxBytes, options.cap?.maxBytes ?? Infinity);
  const shows = (rule: KindRule, type: string): boolean => rule.types?.includes(type) ?? true;
  const file = (as: OutgoingFile["kind"], ready: Ready): FittedFile => ({
    file: {
      kind: as,
      data: ready.data,
      mimeType: ready.mimeType,
      fileName: ready.data === data ? named(fileName, mimeType) : renamed(fileName, ready.mimeType),
    },
  });

  if (options.asVoice === true && rules.voice && kind === "audio") {
    const voice = await asVoice({ data, mimeType }, rules.voice, converters);
    if (voice && voice.data.length <= limitOf(rules.voice)) return { file: { ...voice, fileName: renamed(fileName, voice.mimeType) } };
  }
  if (kind === "image" && rules.image) {
    const image = await asImage({ data, mimeType }, { ...rules.image, maxBytes: limitOf(rules.image) }, converters);
    if (image) return file("image", image);
  }
  if (kind === "video" && rules.video) {
    const ready = shows(rules.video, mimeType) ? { data, mimeType } : await converters.toMp4(data, mimeType);
    if (ready && ready.data.length <= limitOf(rules.video)) return file("video", ready);
  }
  if (kind === "audio" && rules.audio && shows(rules.audio, mimeType) && data.length <= limitOf(rules.audio)) return file("audio", { data, mimeType });
  if (data.length <= limitOf(rules.document)) return file("document", { data, mimeType });
  return { note: tooLargeNote(fileName, data.length, { platform: rules.platform, maxBytes: rules.document.maxBytes, cap: options.cap }) };
}

/** With an ending where it has none, and with the right one where its own says what it is not: a page that is called `cat.png` goes as `cat.txt`. */
function named(fileName: string, mimeType: string): string {
  const ending = extname(fileName);
  if (ending === "") return `${fileName}${extensionForMime(mimeType) ?? ""}`;
  const said = mediaKindFromMime(mimeForExtension(ending.toLowerCase()));
  return said !== "unknown" && said !== "document" && said !== mediaKindFromMime(mimeType) ? renamed(fileName, mimeType) : fileName;
}

/** Photos of phones and scanners, which most programs do not show. */
const RARELY_SHOWN: ReadonlySet<string> = new Set(["image/heic", "image/heif", "image/avif", "image/tiff", "image/bmp"]);

/** Undefined: it goes as a document. Moving pictures are never scaled: they would stand still. */
async function asImage(image: Ready, rule: KindRule, converters: Converters): Promise<Ready | undefined> {
  const isShown = rule.types?.includes(image.mimeType) ?? !RARELY_SHOWN.has(image.mimeType);
  if (isShown && image.data.length <= rule.maxBytes) return image;
  if (image.mimeType === "image/gif" || image.mimeType === "image/svg+xml") return undefined;
  const ready = isShown ? image : await converters.toJpeg(image.data, image.mimeType);
  if (!ready) return undefined;
  return ready.data.length <= rule.maxBytes ? ready : converters.shrink(ready.data, ready.mimeType, rule.maxBytes);
}

async function asVoice(
  { data, mimeType }: Ready,
  { types, waveform }: NonNullable<MediaRules["voice"]>,
  converters: Converters,
): Promise<Omit<OutgoingFile, "fileName"> | undefined> {
  const isReady = mimeType === "audio/ogg" ? isOggOpus(data) : types?.includes(mimeType) === true;
  const ready = isReady ? { data, mimeType } : await converters.toVoice(data, mimeType);
  if (!ready) return undefined;
  return {
    kind: "voice",
    ...ready,
    durationSeconds: opusSeconds(ready.data),
    ...(waveform === true ? { waveform: await converters.waveform(ready.data) } : {}),
  };
}
