/** Programs and the library that turn a file into one that a platform takes. Each is optional: what cannot be done is undefined, and the log says once why. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { AppError, messageOf } from "../base/errors.ts";
import { inheritedEnvironment } from "../base/inherited-environment.ts";
import { readProgramFile } from "../base/program-output.ts";
import { run } from "../base/spawn.ts";
import { DEMUXERS } from "./demuxers.ts";
import { loadSharp, MAX_PIXELS, resizeToJpeg, type Sharp, shrinkImage } from "./images.ts";
import { waveformOf } from "./voice.ts";

export interface Converted {
  readonly data: Buffer;
  readonly mimeType: string;
}

export interface Converters {
  /** A PNG or JPEG within the limit. */
  shrink(data: Uint8Array, mimeType: string, maxBytes: number): Promise<Converted | undefined>;
  /** A type that every platform shows, from HEIC, AVIF, TIFF, BMP and the like. */
  toJpeg(data: Uint8Array, mimeType: string): Promise<Converted | undefined>;
  /** A voice note: Ogg Opus, 20 minutes at most. */
  toVoice(data: Uint8Array, mimeType: string): Promise<Converted | undefined>;
  toMp4(data: Uint8Array, mimeType: string): Promise<Converted | undefined>;
  /** What programs that recognise speech read: WAV with 16,000 samples a second. */
  toWav(data: Uint8Array, mimeType: string): Promise<Converted | undefined>;
  /** Loudness over time of an Ogg Opus file, 64 bytes. */
  waveform(data: Uint8Array): Promise<Uint8Array | undefined>;
}

export interface ConverterDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with the same text each time something is missing. */
  warn(text: string): void;
  readonly signal?: AbortSignal | undefined;
  /** Default: `sharp`. */
  readonly load?: () => Promise<Sharp>;
}

const TIMEOUT_MS = 45_000;
const MAX_SECONDS = 1200;
const MAX_MESSAGES = 64 * 1024;
/** Of a converted file; no platform takes larger ones. */
const MAX_MADE = 512 * 1024 * 1024;

/** How ImageMagick reads a type. */
const IMAGE_FORMATS: Readonly<Record<string, string>> = {
  "image/jpeg": "jpeg",
  "image/png": "png",
  "image/webp": "webp",
  "image/heic": "heic",
  "image/heif": "heic",
  "image/avif": "avif",
  "image/tiff": "tiff",
  "image/bmp": "bmp",
};

const TO_JPEG = "-auto-orient -strip -background white -flatten -resize 2048x2048> -quality 80".split(" ");
const TO_MP4 = "-c:v libx264 -preset veryfast -crf 28 -pix_fmt yuv420p -vf scale=trunc(iw/2)*2:trunc(ih/2)*2 -c:a aac -movflags +faststart -f mp4".split(" ");
const MAGICK_LIMITS = "-limit memory 512MiB -limit map 1GiB -limit disk 1GiB -limit time 40".split(" ");

/** Programs that make a JPEG of at most 2048 pixels a side, in the order in which they are tried. */
const IMAGE_PROGRAMS: readonly { readonly command: string; args(format: string, from: string, to: string): readonly string[] }[] = [
  ...["magick", "convert"].map((command) => ({
    command,
    args: (format: string, from: string, to: string) => [...MAGICK_LIMITS, `${format}:${from}[0]`, ...TO_JPEG, `jpeg:${to}`],
  })),
  { command: "sips", args: (_format, from, to) => ["-s", "format", "jpeg", "-Z", "2048", from, "--out", to] },
  { command: "heif-convert", args: (_format, from, to) => ["-q", "80", from, to] },
];

type RunProgram = (command: string, args: readonly string[]) => Promise<boolean>;

/** Runs `work` with a file that holds the data, in a folder of its own, and reads what was written beside it. */
async function withFiles(data: Uint8Array, ending: string, work: (from: string, to: string) => Promise<boolean>): Promise<Buffer | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "openclaw-media-"));
  try {
    const [from, to] = [join(folder, "in"), join(folder, `out${ending}`)];
    await writeFile(from, data, { mode: 0o600 });
    if (!(await work(from, to))) return undefined;
    // A converter that wrote anything but a file has not converted it.
    const made = await readProgramFile({ folder, name: basename(to), maxBytes: MAX_MADE, program: "the converter" }).catch(() => undefined);
    return made && made.length > 0 ? made : undefined;
  } catch (error) {
    if (error instanceof AppError) throw error;
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function jpegByProgram(start: RunProgram, data: Uint8Array, mimeType: string): Promise<Converted | undefined> {
  const format = IMAGE_FORMATS[mimeType];
  if (format === undefined) return undefined;
  for (const { command, args } of IMAGE_PROGRAMS) {
    const made = await withFiles(data, ".jpg", (from, to) => start(command, args(format, from, to)));
    if (made?.readUInt16BE(0) === 0xffd8) return { data: made, mimeType: "image/jpeg" };
  }
  return undefined;
}

export function createConverters({ env, warn, signal, load = loadSharp }: ConverterDeps): Converters {
  /** Undefined: the program is not there. */
  async function attempt(command: string, args: readonly string[]): Promise<boolean | undefined> {
    const options = { args, env: inheritedEnvironment(env), timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_MESSAGES, ...(signal ? { signal } : {}) };
    try {
      const { code, stderr } = await run(command, options);
      if (code !== 0) warn(`${command} could not convert a file: ${stderr.trim().split("\n").at(-1) ?? `code ${code}`}`);
      return code === 0;
    } catch (error) {
      if (signal?.aborted) throw error;
      if (error instanceof AppError && error.code === "NOT_FOUND") return undefined;
      warn(`${command} could not convert a file: ${messageOf(error)}`);
      return false;
    }
  }

  async function ffmpeg(data: Uint8Array, mimeType: string, ending: string, args: readonly string[], without: string): Promise<Buffer | undefined> {
    const demuxer = DEMUXERS[mimeType];
    if (demuxer === undefined) return undefined;
    const input = (from: string): string[] => ["-nostdin", "-v", "error", "-protocol_whitelist", "file", "-f", demuxer, "-i", from];
    return withFiles(data, ending, async (from, to) => {
      const done = await attempt("ffmpeg", [...input(from), "-t", String(MAX_SECONDS), "-map_metadata", "-1", ...args, to]);
      if (done === undefined) warn(`${without}: ffmpeg is not installed`);
      return done === true;
    });
  }

  async function byLibrary<T>(work: (sharp: Sharp) => Promise<T>): Promise<T | undefined> {
    try {
      return await work(await load());
    } catch {
      // The library is not there for this machine, or does not know the type: programs may.
      return undefined;
    }
  }

  const byProgram = (data: Uint8Array, mimeType: string): Promise<Converted | undefined> =>
    jpegByProgram(async (command, args) => (await attempt(command, args)) === true, data, mimeType);

  return {
    async shrink(data, mimeType, maxBytes) {
      const made = await byLibrary((sharp) => shrinkImage(sharp, data, maxBytes));
      if (made) return made;
      const other = await byProgram(data, mimeType);
      return other && other.data.length <= maxBytes ? other : undefined;
    },
    async toJpeg(data, mimeType) {
      const made = await byLibrary((sharp) => resizeToJpeg(sharp, data, { maxSide: Math.floor(Math.sqrt(MAX_PIXELS)), quality: 85 }));
      if (made) return { data: made, mimeType: "image/jpeg" };
      const other = await byProgram(data, mimeType);
      if (!other) warn(`images of type ${mimeType} are not converted: install ImageMagick or heif-convert`);
      return other;
    },
    async toVoice(data, mimeType) {
      const args = ["-vn", "-c:a", "libopus", "-b:a", "32k", "-ac", "1", "-ar", "48000", "-f", "ogg"];
      const made = await ffmpeg(data, mimeType, ".ogg", args, "voice notes are sent as audio files");
      return made && { data: made, mimeType: "audio/ogg" };
    },
    async toMp4(data, mimeType) {
      const made = await ffmpeg(data, mimeType, ".mp4", TO_MP4, `videos of type ${mimeType} are sent as documents`);
      return made && { data: made, mimeType: "video/mp4" };
    },
    async toWav(data, mimeType) {
      const args = ["-vn", "-c:a", "pcm_s16le", "-ac", "1", "-ar", "16000", "-f", "wav"];
      const made = await ffmpeg(data, mimeType, ".wav", args, "recordings reach programs that recognise speech as they are");
      return made && { data: made, mimeType: "audio/wav" };
    },
    async waveform(data) {
      const samples = await ffmpeg(data, "audio/ogg", ".raw", ["-ac", "1", "-ar", "8000", "-f", "s16le"], "voice notes show no waveform");
      return samples && waveformOf(samples);
    },
  };
}
