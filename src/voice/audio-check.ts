/** Whether what a provider or program gave is audio, by its content. */
import { AppError } from "../base/errors.ts";
import { clip } from "../base/text.ts";
import { mediaTypeOf, sniffMediaType } from "../media/index.ts";

/** Containers that hold audio as well as films. */
const CONTAINERS: ReadonlySet<string> = new Set(["video/mp4", "video/webm"]);
const TEXT_HEAD = 64;

/** The type that the bytes show; undefined for audio without a signature. Throws for what is none; `gave` begins the error, such as "OpenAI answered with". */
export function audioType(bytes: Buffer, gave: string): string | undefined {
  const type = sniffMediaType(bytes);
  const head = bytes.toString("latin1", 0, TEXT_HEAD);
  if (type === undefined && (/^[\t\n\r\x20-\x7e]*$/.test(head) || mediaTypeOf({ data: bytes }) === "text/plain"))
    throw new AppError("UNAVAILABLE", `${gave} text instead of audio: ${clip(head.trim(), 60)}`);
  if (type !== undefined && !type.startsWith("audio/") && !CONTAINERS.has(type)) throw new AppError("UNAVAILABLE", `${gave} ${type} instead of audio`);
  if (type === "audio/wav" && !hasSamples(bytes)) throw new AppError("UNAVAILABLE", `${gave} a WAV file without any samples`);
  return type;
}

const RIFF_HEADER = 12;
const CHUNK_HEADER = 8;

/** Programs that write to a pipe do not know the size before: they state none, or the largest, and what follows counts. */
function hasSamples(wav: Buffer): boolean {
  for (let at = RIFF_HEADER; at + CHUNK_HEADER <= wav.length;) {
    const [size, start] = [wav.readUInt32LE(at + 4), at + CHUNK_HEADER];
    if (wav.toString("latin1", at, at + 4) === "data") return start < wav.length && (size > 0 || !isChunk(wav, start));
    at = start + size + (size % 2);
  }
  return false;
}

const isChunk = (wav: Buffer, at: number): boolean =>
  at + CHUNK_HEADER <= wav.length &&
  /^[A-Za-z0-9 _]{4}$/.test(wav.toString("latin1", at, at + 4)) &&
  at + CHUNK_HEADER + wav.readUInt32LE(at + 4) <= wav.length;
