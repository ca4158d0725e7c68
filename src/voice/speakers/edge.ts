/** The voices that Microsoft Edge reads pages aloud with: no key, over a WebSocket. Written here because it is a few frames; the packages for it bring a client of their own. */
import { createHash, randomUUID } from "node:crypto";
import type { WebSocket } from "ws";
import { AppError, messageOf } from "../../base/errors.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Speaker, SpeakRequest } from "../types.ts";

type EdgeConfig = NonNullable<NonNullable<NonNullable<OpenClawConfig["messages"]>["tts"]>["edge"]>;

export interface EdgeDeps {
  readonly settings: EdgeConfig;
  readonly now: () => number;
  /** Where the service is, if not where Microsoft has it. */
  readonly url?: string | undefined;
}

const URL_OF_SERVICE = "wss://speech.platform.bing.com/consumer/speech/synthesize/readaloud/edge/v1";
/** Edge's own, the same in every copy of it. */
const CLIENT_TOKEN = "6A5AA1D4EAFF4E9FB37E23D68491D6F4";
const VERSION = "143.0.3650.75";
const ORIGIN = "chrome-extension://jdiccldimpdaibmpdkjnbmckianbafold";
const AGENT = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0`;
const FORMAT = "audio-24khz-48kbitrate-mono-mp3";
/** The service closes the connection on longer ones. */
const MAX_PIECE_BYTES = 3000;
const MAX_AUDIO_BYTES = 50 * 1024 * 1024;
/** Seconds between 1601, where the service begins to count, and 1970. */
const EPOCH_SECONDS = 11_644_473_600;
const ROUNDED_TO_SECONDS = 300;

const CONTENT_TYPES: readonly (readonly [ending: RegExp, type: string, voiceCompatible: boolean])[] = [
  [/^ogg-.*opus$/, "audio/ogg", true],
  [/^webm-/, "video/webm", false],
  [/^riff-/, "audio/wav", false],
  [/mp3$/, "audio/mpeg", false],
];

/** What the service accepts instead of a key: the time, rounded, hashed with Edge's token. */
export function proofOf(nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000) + EPOCH_SECONDS;
  const ticks = BigInt(seconds - (seconds % ROUNDED_TO_SECONDS)) * 10_000_000n;
  return createHash("sha256").update(`${ticks}${CLIENT_TOKEN}`, "ascii").digest("hex").toUpperCase();
}

const escaped = (text: string): string =>
  text
    // XML cannot hold most of these.
    .replaceAll(/[\p{Cc}\uFFFE\uFFFF]/gu, " ")
    .toWellFormed()
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&apos;");

/** Pieces of at most so many bytes, cut behind a sentence or a word where there is one. */
export function pieces(text: string, most = MAX_PIECE_BYTES): readonly string[] {
  const found: string[] = [];
  let piece = "";
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text)) {
    for (const part of Buffer.byteLength(escaped(segment)) <= most ? [segment] : parts(segment, most)) {
      if (piece !== "" && Buffer.byteLength(escaped(piece + part)) > most) {
        found.push(piece);
        piece = "";
      }
      piece += part;
    }
  }
  if (piece.trim() !== "") found.push(piece);
  return found;
}

/** A sentence that is too long: its words, and a word that is too long in characters. */
function parts(sentence: string, most: number): readonly string[] {
  return sentence.split(/(?<=\s)/).flatMap((word) => (Buffer.byteLength(escaped(word)) <= most ? [word] : Array.from(word)));
}

function ssmlOf(text: string, { voice, lang, pitch, rate, volume }: EdgeConfig): string {
  const sound = `pitch="${escaped(pitch || "+0Hz")}" rate="${escaped(rate || "+0%")}" volume="${escaped(volume || "+0%")}"`;
  const language = escaped(lang || "en-US");
  return `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${language}"><voice name="${escaped(voice || "en-US-MichelleNeural")}"><prosody ${sound}>${escaped(text)}</prosody></voice></speak>`;
}

const frame = (headers: Readonly<Record<string, string>>, body: string): string =>
  `${Object.entries(headers)
    .map(([name, value]) => `${name}:${value}`)
    .join("\r\n")}\r\n\r\n${body}`;

/** The audio in a binary frame: two bytes say how long its headers are. */
function audioIn(data: Buffer): Buffer | undefined {
  if (data.length < 2) return undefined;
  const end = 2 + data.readUInt16BE(0);
  return /Path:audio\r?\n/.test(data.subarray(2, end).toString("latin1")) ? data.subarray(end) : undefined;
}

/** Speaks one piece over an open connection. */
function take(socket: WebSocket, text: string, format: string, { settings, now }: EdgeDeps): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const stamp = new Date(now()).toISOString();
  const onMessage = (data: Buffer, isBinary: boolean): void => {
    if (!isBinary) return /Path:turn\.end\r?\n/.test(data.toString("utf8")) ? resolve(Buffer.concat(chunks)) : undefined;
    const audio = audioIn(data);
    if (!audio) return;
    size += audio.length;
    if (size > MAX_AUDIO_BYTES) reject(new AppError("OVERLOADED", `Edge returned more than ${MAX_AUDIO_BYTES / 1024 / 1024} MB of audio`));
    else chunks.push(audio);
  };
  const onClose = (code: number, reason: Buffer): void =>
    reject(new AppError("UNAVAILABLE", `Edge closed the connection (${code}) ${reason.toString("utf8").slice(0, 200)}`.trim()));
  socket.on("message", onMessage);
  socket.once("close", onClose);
  const config = {
    context: { synthesis: { audio: { metadataoptions: { sentenceBoundaryEnabled: "false", wordBoundaryEnabled: "false" }, outputFormat: format } } },
  };
  socket.send(frame({ "X-Timestamp": stamp, "Content-Type": "application/json; charset=utf-8", Path: "speech.config" }, JSON.stringify(config)));
  socket.send(
    frame(
      { "X-RequestId": randomUUID().replaceAll("-", ""), "Content-Type": "application/ssml+xml", "X-Timestamp": `${stamp}Z`, Path: "ssml" },
      ssmlOf(text, settings),
    ),
  );
  return promise.finally(() => {
    socket.off("message", onMessage);
    socket.off("close", onClose);
  });
}

async function connect({ now, url = URL_OF_SERVICE }: EdgeDeps, { timeoutMs, signal }: Pick<SpeakRequest, "timeoutMs" | "signal">): Promise<WebSocket> {
  const { WebSocket: Client } = await import("ws");
  signal.throwIfAborted();
  const query = new URLSearchParams({
    TrustedClientToken: CLIENT_TOKEN,
    "Sec-MS-GEC": proofOf(now()),
    "Sec-MS-GEC-Version": `1-${VERSION}`,
    ConnectionId: randomUUID().replaceAll("-", ""),
  });
  const socket = new Client(`${url}?${query.toString()}`, {
    headers: { Origin: ORIGIN, "User-Agent": AGENT },
    handshakeTimeout: timeoutMs,
    maxPayload: MAX_AUDIO_BYTES,
  });
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  signal.addEventListener("abort", () => socket.terminate(), { once: true });
  socket.once("open", () => resolve(socket));
  // A failed connection is closed too; what happens later shows there.
  socket.on("error", (error) => reject(new AppError("UNAVAILABLE", `Edge could not be reached: ${messageOf(error)}`)));
  return promise;
}

export function edgeSpeaker(deps: EdgeDeps): Speaker {
  const { settings } = deps;
  return {
    id: "edge",
    name: "Edge",
    models: [],
    ...(settings.timeoutMs === undefined ? {} : { timeoutMs: settings.timeoutMs }),
    async ready() {
      if (settings.enabled === false) return { missing: "switched off: messages.tts.edge.enabled is false" };
      return {
        async speak({ text, asVoiceNote, timeoutMs, signal }) {
          const format = settings.outputFormat || FORMAT;
          const [, contentType, voiceCompatible] = CONTENT_TYPES.find(([ending]) => ending.test(format)) ?? [];
          if (contentType === undefined || voiceCompatible === undefined)
            throw new AppError(
              "INVALID_INPUT",
              `messages.tts.edge.outputFormat is not a format that can be sent: ${JSON.stringify(format)}; remove it to use ${FORMAT}`,
            );
          const socket = await connect(deps, { timeoutMs, signal });
          try {
            const audio: Buffer[] = [];
            for (const piece of pieces(text)) audio.push(await take(socket, piece, format, deps));
            const bytes = Buffer.concat(audio);
            if (bytes.length === 0) throw new AppError("UNAVAILABLE", "Edge returned no audio; check messages.tts.edge.voice");
            return { bytes, format, contentType, voiceCompatible: asVoiceNote && voiceCompatible };
          } finally {
            socket.terminate();
          }
        },
      };
    },
  };
}
