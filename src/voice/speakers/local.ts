/** Speaks on this machine: espeak-ng, or any command that takes a text and writes a WAV file. */
import { mkdtemp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { inheritedEnvironment } from "../../base/inherited-environment.ts";
import { readProgramFile } from "../../base/program-output.ts";
import { run } from "../../base/spawn.ts";
import { clip } from "../../base/text.ts";
import { extensionForMime, loadPrograms, type Env } from "../../media/index.ts";
import { audioType } from "../audio-check.ts";
import type { Speaker } from "../types.ts";

export interface LocalDeps {
  /** Of the command; the usual one when nothing is written. */
  readonly command?: string | undefined;
  /** `{file}` is where the audio goes, `{voice}` the voice, `{text}` the text; without `{text}` the text comes on standard input. */
  readonly args?: readonly string[] | undefined;
  readonly voice?: string | undefined;
  readonly env: Env;
  readonly temporary: string;
}

const USUAL = ["espeak-ng", "espeak"];
const USUAL_ARGS = ["-v", "{voice}", "-w", "{file}", "--stdin"];
const MAX_OUTPUT = 1024 * 1024;
/** Of the file; more is a mistake. */
const MAX_AUDIO = 50 * 1024 * 1024;

export function localSpeaker({ command, args, voice = "en", env, temporary }: LocalDeps): Speaker {
  return {
    id: "local",
    name: command ?? "espeak-ng",
    models: [],
    async ready() {
      const { findProgram } = await loadPrograms();
      const program = (command === undefined ? USUAL : [command]).map((name) => findProgram(name, env)).find((path) => path !== undefined);
      if (program === undefined)
        return {
          missing:
            command === undefined
              ? "espeak-ng is not installed; install it, or set messages.tts.local.command"
              : `there is no program ${command}; check messages.tts.local.command`,
        };
      return {
        async speak({ text, timeoutMs, signal }) {
          const folder = await mkdtemp(join(temporary, "openclaw-speech-"));
          try {
            const file = join(folder, "speech.wav");
            const given = args ?? USUAL_ARGS;
            // A text must not be taken for an option of the program: `-f /etc/passwd` would speak a file.
            const spoken = text.startsWith("-") ? ` ${text}` : text;
            const filled = given.map((arg) =>
              arg
                .replaceAll("{file}", () => file)
                .replaceAll("{voice}", () => voice)
                .replaceAll("{text}", () => spoken),
            );
            const input = given.some((arg) => arg.includes("{text}")) ? {} : { input: text };
            // Sound libraries leave files in the home folder, and espeak-ng needs nothing from there.
            const inherited = inheritedEnvironment(env);
            const own = command === undefined ? { ...inherited, HOME: folder, XDG_CONFIG_HOME: folder, TMPDIR: folder, PULSE_RUNTIME_PATH: folder } : inherited;
            const { code, stderr } = await run(program, { args: filled, cwd: folder, env: own, timeoutMs, maxOutputBytes: MAX_OUTPUT, signal, ...input });
            if (code !== 0) throw new AppError("UNAVAILABLE", `${program} exited with code ${code}${stderr.trim() && `: ${clip(stderr.trim(), 200)}`}`);
            const bytes = await readProgramFile({ folder, name: basename(file), maxBytes: MAX_AUDIO, program });
            if (bytes === undefined || bytes.length === 0) throw new AppError("UNAVAILABLE", `${program} wrote no audio; its arguments must contain {file}`);
            const contentType = audioType(bytes, `${program} wrote`);
            if (!contentType?.startsWith("audio/"))
              throw new AppError("UNAVAILABLE", `${program} wrote ${contentType ?? "no known type of audio"}; a WAV file is expected`);
            return { bytes, format: extensionForMime(contentType)?.slice(1) ?? contentType, contentType, voiceCompatible: false };
          } finally {
            await rm(folder, { recursive: true, force: true });
          }
        },
      };
    },
  };
}
