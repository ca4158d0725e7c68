/** Configured programs that describe or transcribe a file, or read a link. */
import { accessSync, constants } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { AppError } from "../base/errors.ts";
import { inheritedEnvironment } from "../base/inherited-environment.ts";
import { readProgramFile } from "../base/program-output.ts";
import { isRecord } from "../base/records.ts";
import { run } from "../base/spawn.ts";
import { clip } from "../base/text.ts";

export type Env = Readonly<Record<string, string | undefined>>;

export interface ProgramCall {
  /** A command on PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Values of the `{{…}}` placeholders, besides those for the output folder and file. Files made for the program go into `folder`. */
  readonly values: (folder: string) => Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  /** Fields of the message: untrusted. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Name of the output file, without extension. */
  readonly outputName?: (values: Readonly<Record<string, string>>) => string;
  readonly temporary: string;
  readonly env: Env;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const MAX_OUTPUT = 5 * 1024 * 1024;
const MAX_FIELD = 4000;
const PLACEHOLDER = /\{\{\s*(\w+)\s*\}\}/g;

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of a program, found on PATH or by its absolute path. */
export function findProgram(name: string, env: Env): string | undefined {
  // Windows lists executable extensions in PATHEXT.
  const extensions = ["", ...(env["PATHEXT"]?.split(";") ?? [])];
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  const paths = isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name));
  return paths.flatMap((path) => extensions.map((extension) => path + extension)).find(isProgram);
}

/** An argument with its placeholders filled in; unknown ones are empty. Message text cannot become an option of the program. */
function filled(argument: string, values: Readonly<Record<string, string>>, fields: Readonly<Record<string, string>>): string {
  const whole = argument.replaceAll(PLACEHOLDER, (_, name: string) => values[name] ?? fields[name]?.slice(0, MAX_FIELD) ?? "");
  if (!argument.startsWith("-") && whole.startsWith("-")) throw new AppError("INVALID_INPUT", `the argument ${argument} would begin with a dash`);
  return whole;
}

function textInJson(text: string): string | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const found = isRecord(value) ? (value["response"] ?? value["text"] ?? value["result"]) : undefined;
    return typeof found === "string" ? found.trim() : undefined;
  } catch {
    return undefined;
  }
}

/** Extracts the answer from a program's output: `response`, `text` or `result` of a JSON object (the whole output, or its last line), else all of it. */
function answerIn(output: string): string {
  const text = output.trim();
  return textInJson(text) ?? textInJson(text.split("\n").at(-1) ?? "") ?? text;
}

/**
 * Runs a program without a shell and without this process's secrets, in its own temporary folder. Returns what it wrote to `{{OutputBase}}.txt`, else
 * what it printed.
 */
export async function runMediaProgram({ command, args, values, fields = {}, outputName, temporary, env, timeoutMs, signal }: ProgramCall): Promise<string> {
  const program = findProgram(command, env);
  if (program === undefined) throw new AppError("UNAVAILABLE", `there is no program ${command}: it is not installed, or not in PATH`);
  const folder = await mkdtemp(join(temporary, "openclaw-media-"));
  try {
    const own = await values(folder);
    const output = join(folder, outputName?.(own) ?? "output");
    const all = { ...own, OutputDir: folder, OutputBase: output };
    const { code, stdout, stderr } = await run(program, {
      args: args.map((argument) => filled(argument, all, fields)),
      cwd: folder,
      env: inheritedEnvironment(env),
      timeoutMs,
      maxOutputBytes: MAX_OUTPUT,
      signal,
    });
    const last = stderr.trim().split("\n").at(-1) ?? "";
    if (code !== 0) throw new AppError("UNAVAILABLE", `${basename(program)} ended with code ${code}${last && `: ${clip(last, 200)}`}`);
    const written = await readProgramFile({ folder, name: `${basename(output)}.txt`, maxBytes: MAX_OUTPUT, program: basename(program) });
    return answerIn(written?.toString("utf8").trim() || stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
