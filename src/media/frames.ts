/** Pictures of a film, for models that see pictures. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../base/errors.ts";
import { inheritedEnvironment } from "../base/inherited-environment.ts";
import { readProgramFile } from "../base/program-output.ts";
import { run } from "../base/spawn.ts";
import { DEMUXERS } from "./demuxers.ts";

export interface FramesRequest {
  readonly path: string;
  readonly mimeType: string;
  /** At most. */
  readonly count: number;
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export interface Frames {
  /** JPEG, in the order of the film. */
  readonly pictures: readonly Buffer[];
  /** Undefined: the file does not say. */
  readonly seconds?: number;
}

const MAX_MESSAGES = 64 * 1024;
const MAX_PICTURE = 20 * 1024 * 1024;
const LONGEST_SIDE = 768;
const MAX_SECONDS = 3600;
/** Frames a second of a film of unknown length. */
const BLIND_RATE = "1/2";

/** `Duration: 00:01:02.50` in what ffmpeg prints about a file; 0 when it does not know. */
function secondsIn(text: string): number | undefined {
  if (text.includes("Duration: N/A")) return 0;
  const found = /Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(text);
  return found ? Number(found[1]) * 3600 + Number(found[2]) * 60 + Number(found[3]) : undefined;
}

/** Evenly spread over the film. Rejects with the reason when ffmpeg is missing or cannot read it. */
export async function framesOf({ path, mimeType, count, timeoutMs, env, signal }: FramesRequest): Promise<Frames> {
  const demuxer = DEMUXERS[mimeType];
  if (demuxer === undefined) throw new AppError("INVALID_INPUT", `films of type ${mimeType} are not read`);
  const options = { env: inheritedEnvironment(env), timeoutMs, maxOutputBytes: MAX_MESSAGES, signal };
  const input = ["-nostdin", "-hide_banner", "-protocol_whitelist", "file", "-f", demuxer, "-i", path];
  // Without an output ffmpeg fails, after it has said what the file is.
  const { stderr } = await run("ffmpeg", { ...options, args: input });
  const seconds = secondsIn(stderr);
  if (seconds === undefined) throw new AppError("INVALID_INPUT", "the film is damaged or is none");
  const folder = await mkdtemp(join(tmpdir(), "openclaw-media-"));
  try {
    const scale = `scale='min(${LONGEST_SIDE},iw)':'min(${LONGEST_SIDE},ih)':force_original_aspect_ratio=decrease`;
    const filter = `fps=${seconds === 0 ? BLIND_RATE : `${count}/${Math.min(seconds, MAX_SECONDS)}`},${scale}`;
    const args = [...input, "-t", String(MAX_SECONDS), "-an", "-vf", filter, "-frames:v", String(count), "-q:v", "5", join(folder, "%03d.jpg")];
    const { code } = await run("ffmpeg", { ...options, args });
    const names = (await readdir(folder)).toSorted();
    if (code !== 0 || names.length === 0) throw new AppError("INVALID_INPUT", "ffmpeg could not read the film");
    const read = await Promise.all(names.map((name) => readProgramFile({ folder, name, maxBytes: MAX_PICTURE, program: "ffmpeg" })));
    return { pictures: read.filter((picture) => picture !== undefined), ...(seconds === 0 ? {} : { seconds }) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
