/** Programs that recognise speech on this machine. */
import { existsSync } from "node:fs";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, parse } from "node:path";
import { AppError } from "../../base/errors.ts";
import { inheritedEnvironment } from "../../base/inherited-environment.ts";
import { isRecord } from "../../base/records.ts";
import { run } from "../../base/spawn.ts";
import { clip } from "../../base/text.ts";
import { loadOutgoing } from "../../media/index.ts";
import { findProgram, type Env } from "../program.ts";
import type { RecogniseRequest } from "./types.ts";

export interface ProgramSettings {
  readonly command: string;
  readonly args: readonly string[];
  readonly prompt?: string | undefined;
  readonly maxChars: number;
  /** It reads WAV only: other recordings are converted first, where that can be done. */
  readonly wantsWav?: boolean;
}

interface ProgramDeps {
  readonly env: Env;
  readonly temporary: string;
  warn(text: string): void;
}

const MAX_OUTPUT = 4 * 1024 * 1024;

async function textOf(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_OUTPUT), 0, MAX_OUTPUT, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return undefined;
  }
}

/** The transcript in what a program printed: its text, or the `text` of its JSON. */
function transcriptIn(output: string): string {
  const line = output.trim().split("\n").at(-1) ?? "";
  if (line.startsWith("{")) {
    try {
      const value: unknown = JSON.parse(line);
      const found = isRecord(value) ? (value["text"] ?? value["response"]) : undefined;
      if (typeof found === "string") return found.trim();
    } catch {
      // Words that begin with a bracket.
    }
  }
  return output.trim();
}

/** The recording as the program reads it. */
async function prepared({ path, mimeType, bytes, signal }: RecogniseRequest, folder: string, { env, warn }: ProgramDeps): Promise<string> {
  if (mimeType === "audio/wav" || mimeType === "audio/x-wav") return path;
  const { createConverters } = await loadOutgoing();
  const made = await createConverters({ env, warn, signal }).toWav(bytes, mimeType);
  if (!made) return path;
  const converted = join(folder, `${parse(path).name}.wav`);
  await writeFile(converted, made.data, { mode: 0o600 });
  return converted;
}

/** Runs a program on a recording, without a shell, in a folder of its own. Its transcript is the text file that it wrote there, or what it printed. */
export async function runRecogniser(
  { command, args, prompt = "", maxChars, wantsWav }: ProgramSettings,
  request: RecogniseRequest,
  deps: ProgramDeps,
): Promise<string> {
  const program = findProgram(command, deps.env);
  if (program === undefined) throw new AppError("UNAVAILABLE", `there is no program ${command}; install it, or check tools.media.audio.models`);
  const folder = await mkdtemp(join(deps.temporary, "openclaw-hearing-"));
  try {
    const media = wantsWav ? await prepared(request, folder, deps) : request.path;
    const base = join(folder, parse(media).name);
    const fields: Readonly<Record<string, string>> = {
      MediaPath: media,
      MediaDir: dirname(media),
      MediaType: request.mimeType,
      OutputDir: folder,
      OutputBase: base,
      Prompt: prompt,
      MaxChars: String(maxChars),
    };
    const filled = args.map((arg) => arg.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) => fields[name] ?? whole));
    const { timeoutMs, signal } = request;
    const { code, stdout, stderr } = await run(program, {
      args: filled,
      cwd: folder,
      env: inheritedEnvironment(deps.env),
      timeoutMs,
      maxOutputBytes: MAX_OUTPUT,
      signal,
    });
    if (code !== 0) throw new AppError("UNAVAILABLE", `${basename(program)} ended with code ${code}: ${clip(stderr.trim().split("\n").at(-1) ?? "", 200)}`);
    return transcriptIn((await textOf(`${base}.txt`)) ?? stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The model that Homebrew's whisper.cpp brings along. */
const BUNDLED_MODELS = ["/opt/homebrew/share/whisper-cpp/for-tests-ggml-tiny.bin", "/usr/local/share/whisper-cpp/for-tests-ggml-tiny.bin"];

function sherpa(env: Env): readonly string[] | undefined {
  const folder = env["SHERPA_ONNX_MODEL_DIR"]?.trim();
  if (!folder) return undefined;
  const parts = { tokens: "tokens.txt", encoder: "encoder.onnx", decoder: "decoder.onnx", joiner: "joiner.onnx" };
  if (!Object.values(parts).every((name) => existsSync(join(folder, name)))) return undefined;
  return [...Object.entries(parts).map(([option, name]) => `--${option}=${join(folder, name)}`), "{{MediaPath}}"];
}

function whisperCpp(env: Env): readonly string[] | undefined {
  const model = [env["WHISPER_CPP_MODEL"]?.trim(), ...BUNDLED_MODELS].find((path) => path && existsSync(path));
  return model === undefined ? undefined : ["-m", model, "-otxt", "-of", "{{OutputBase}}", "-np", "-nt", "{{MediaPath}}"];
}

const whisper = (): readonly string[] => ["--model", "turbo", "--output_format", "txt", "--output_dir", "{{OutputDir}}", "--verbose", "False", "{{MediaPath}}"];

/** Known programs with their arguments, in the order in which they are looked for. */
const KNOWN: readonly { readonly command: string; readonly wantsWav?: boolean; args(env: Env): readonly string[] | undefined }[] = [
  { command: "sherpa-onnx-offline", wantsWav: true, args: sherpa },
  { command: "whisper-cli", wantsWav: true, args: whisperCpp },
  { command: "whisper", args: whisper },
];

/** The known programs that are installed here, with what they need. */
export function installedRecognisers(env: Env): readonly Pick<ProgramSettings, "command" | "args" | "wantsWav">[] {
  return KNOWN.flatMap(({ command, args: argsOf, wantsWav }) => {
    const args = findProgram(command, env) === undefined ? undefined : argsOf(env);
    return args ? [{ command, args, ...(wantsWav ? { wantsWav } : {}) }] : [];
  });
}
