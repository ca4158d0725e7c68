/** What the parts of this machine that see and hear have in common: how they are found, run and limited. */
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { AppError, messageOf } from "../../../base/errors.ts";
import { inheritedEnvironment } from "../../../base/inherited-environment.ts";
import { readProgramFile } from "../../../base/program-output.ts";
import { isRecord } from "../../../base/records.ts";
import { run } from "../../../base/spawn.ts";
import { clip } from "../../../base/text.ts";
import { resolveExecutable } from "../../../tools/index.ts";
import { MOST_FILE_BYTES } from "../files.ts";
import { HostError } from "../host-error.ts";
import type { HostCall, RunCommandDeps } from "../run-command.ts";
import { openRecordingFolder } from "./recordings.ts";

export interface DeviceDeps extends Pick<RunCommandDeps, "clock" | "config" | "env" | "platform"> {
  /** Of this node: recordings are in it while they are made. */
  readonly folder: string;
}

export type DeviceName = "camera" | "screen" | "location";

/** A part of this machine that the gateway may use: without commands it is off, or not there. */
export interface Device {
  readonly name: DeviceName;
  readonly commands: readonly (readonly [string, (call: HostCall) => Promise<unknown>])[];
  /** What is used, or why nothing is. For people. */
  readonly text: string;
}

/** Options of ffmpeg that open a source. */
export type Input = readonly string[];

export const unavailable = (name: DeviceName, text: string): Device => ({ name, commands: [], text });
export const turnedOff = (name: DeviceName): Device => unavailable(name, `off; turn it on with nodeHost.${name}.enabled`);

export const MOST_RECORDING_MS = 60_000;
const LEAST_RECORDING_MS = 250;
/** Time to open a source and to write the file, besides the recording itself. */
export const START_MS = 20_000;
const MOST_OUTPUT = 1024 * 1024;
const WITH_PASSWORD = /([a-z][a-z0-9+.-]*:\/\/)[^/@\s]+@/gi;

export const findProgram = (name: string, { env }: Pick<DeviceDeps, "env">): string | undefined =>
  resolveExecutable(name, "/", env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin");

export const invalid = (message: string): HostError => new HostError("INVALID_REQUEST", message);

export const fieldsOf = (params: unknown): Readonly<Record<string, unknown>> => (isRecord(params) ? params : {});

/** A number within bounds; throws for everything else that is there. */
export function numberIn(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  { least, most, fallback }: { readonly least: number; readonly most: number; readonly fallback: number },
): number {
  const value = fields[name] ?? fallback;
  if (typeof value === "number" && value >= least && value <= most) return value;
  throw invalid(`${name} must be a number from ${least} to ${most}`);
}

export const durationIn = (fields: Readonly<Record<string, unknown>>, fallback: number): number =>
  numberIn(fields, "durationMs", { least: LEAST_RECORDING_MS, most: MOST_RECORDING_MS, fallback });

/** What a program wrote before it failed, without the passwords of addresses. */
function reasonIn(stderr: string): string {
  const lines = stderr.trim().split("\n").slice(-2).join("; ");
  return clip(lines.replaceAll(WITH_PASSWORD, "$1…@"), 300);
}

/** A failure of a program by its documented code. */
export function deviceError(error: unknown, permission: string): HostError {
  if (error instanceof HostError) return error;
  const text = messageOf(error);
  return new HostError(/permission denied|not authorized|not permitted/i.test(text) ? permission : "UNAVAILABLE", text);
}

export interface Recording {
  readonly program: string;
  /** Ends with the file that it writes. */
  readonly args: (file: string) => readonly string[];
  readonly extension: string;
  readonly timeoutMs: number;
  /** Code of a failure because the operating system does not allow it. */
  readonly permission: string;
}

/** Runs a program that writes one file, and gives the file. */
export async function record(
  { program, args, extension, timeoutMs, permission }: Recording,
  { env, folder: own }: DeviceDeps,
  call: HostCall,
): Promise<Buffer> {
  try {
    await using folder = await openRecordingFolder(own);
    const name = `recording.${extension}`;
    const file = join(folder.path, name);
    call.begin();
    const bounds = { timeoutMs, maxOutputBytes: MOST_OUTPUT, signal: call.signal };
    const { code, stderr } = await run(program, { args: args(file), cwd: folder.path, env: inheritedEnvironment(env), onStart: folder.started, ...bounds });
    const size = code === 0 ? ((await stat(file).catch(() => undefined))?.size ?? 0) : 0;
    if (size > MOST_FILE_BYTES) throw new HostError("UNAVAILABLE", `the recording has more than ${MOST_FILE_BYTES} bytes; ask for a shorter or smaller one`);
    const content = size === 0 ? undefined : await readProgramFile({ folder: folder.path, name, maxBytes: MOST_FILE_BYTES, program: basename(program) });
    if (content !== undefined) return content;
    const reason = reasonIn(stderr);
    throw new AppError("UNAVAILABLE", `${basename(program)} ${code === 0 ? "recorded nothing" : `ended with code ${code}`}${reason && `: ${reason}`}`);
  } catch (error) {
    throw deviceError(error, permission);
  }
}

/** Lets one call at a time use a device. */
export function oneAtATime(what: string): (use: (call: HostCall) => Promise<unknown>) => (call: HostCall) => Promise<unknown> {
  let isBusy = false;
  return (use) => async (call) => {
    if (isBusy) throw new HostError("UNAVAILABLE", `the ${what} is in use by another command; try again when it has ended`);
    isBusy = true;
    try {
      return await use(call);
    } finally {
      isBusy = false;
    }
  };
}

export const QUIET = ["-hide_banner", "-loglevel", "error", "-nostdin", "-y"];

/** Encodes what was opened as MP4. The file ends right above the limit, so that it is seen to be too large. */
export function asMp4(durationMs: number, { mostWidth, fps }: { readonly mostWidth: number; readonly fps?: number }): readonly string[] {
  const time = ["-t", String(durationMs / 1000)];
  const rate = fps === undefined ? [] : ["-r", String(fps)];
  const picture = ["-vf", `scale='min(${mostWidth},iw)':-2`, "-pix_fmt", "yuv420p", "-preset", "veryfast"];
  return [...time, ...rate, ...picture, "-fs", String(MOST_FILE_BYTES + 65_536), "-movflags", "+faststart"];
}

/** The microphone, where the operator turned it on: sound is never recorded without that. */
export function microphone({ config, platform }: DeviceDeps): Input | undefined {
  const { enabled, input } = config().nodeHost?.microphone ?? {};
  if (enabled !== true) return undefined;
  if (input !== undefined && input.length > 0) return input;
  if (platform === "darwin") return ["-f", "avfoundation", "-i", ":default"];
  return platform === "linux" ? ["-f", "pulse", "-i", "default"] : undefined;
}
