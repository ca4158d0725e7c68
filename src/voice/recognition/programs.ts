/** Programs that recognise speech on this machine. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { loadOutgoing, loadPrograms, type Env } from "../../media/index.ts";
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

/** Runs a program on a recording. */
export async function runRecogniser(
  { command, args, prompt = "", maxChars, wantsWav }: ProgramSettings,
  request: RecogniseRequest,
  deps: ProgramDeps,
): Promise<string> {
  const { env, temporary } = deps;
  const { timeoutMs, signal, mimeType } = request;
  const { runMediaProgram } = await loadPrograms();
  return runMediaProgram({
    command,
    args,
    async values(folder) {
      const media = wantsWav ? await prepared(request, folder, deps) : request.path;
      return { MediaPath: media, MediaDir: dirname(media), MediaType: mimeType, Prompt: prompt, MaxChars: String(maxChars) };
    },
    // Some programs name their output after the recording.
    outputName: ({ MediaPath = "output" }) => parse(MediaPath).name,
    temporary,
    env,
    timeoutMs,
    signal,
  });
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
export async function installedRecognisers(env: Env): Promise<readonly Pick<ProgramSettings, "command" | "args" | "wantsWav">[]> {
  const { findProgram } = await loadPrograms();
  return KNOWN.flatMap(({ command, args: argsOf, wantsWav }) => {
    const args = findProgram(command, env) === undefined ? undefined : argsOf(env);
    return args ? [{ command, args, ...(wantsWav ? { wantsWav } : {}) }] : [];
  });
}
