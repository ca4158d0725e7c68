/** Programs of the configuration that describe a file or a link. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../base/errors.ts";
import { inheritedEnvironment } from "../base/inherited-environment.ts";
import { isRecord } from "../base/records.ts";
import { run } from "../base/spawn.ts";
import { clip } from "../base/text.ts";
import { expandHome } from "../config/index.ts";

export interface ProgramCall {
  readonly command: string;
  readonly args: readonly string[];
  /** What placeholders stand for, besides the folder and file for output. */
  readonly values: Readonly<Record<string, string>>;
  /** Fields of the message: text of others. */
  readonly fields: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

const MAX_OUTPUT = 5 * 1024 * 1024;
const MAX_FIELD = 4000;
const PLACEHOLDER = /\{\{\s*([A-Za-z]+)\s*\}\}/g;

/** An argument with its placeholders filled in. Text of a message cannot become an option of the program. */
function filled(argument: string, values: Readonly<Record<string, string>>, fields: ProgramCall["fields"]): string {
  const isOption = argument.startsWith("-");
  const whole = argument.replaceAll(PLACEHOLDER, (_, name: string) => values[name] ?? fields[name]?.slice(0, MAX_FIELD) ?? "");
  if (!isOption && whole.startsWith("-")) throw new AppError("INVALID_INPUT", `the argument ${argument} would begin with a dash`);
  return whole;
}

/** What a program means by its output: the field `response`, `text` or `result` of a JSON object, else all of it. */
function answerIn(output: string): string {
  const text = output.trim();
  if (!text.startsWith("{")) return text;
  try {
    const value: unknown = JSON.parse(text);
    const found = isRecord(value) ? (value["response"] ?? value["text"] ?? value["result"]) : undefined;
    return typeof found === "string" ? found.trim() : text;
  } catch {
    return text;
  }
}

/** Runs a program without a shell and without this process's secrets. Its answer is what it prints, or writes to `{{OutputBase}}.txt`. */
export async function runProgram({ command, args, values, fields, timeoutMs, signal, env, home }: ProgramCall): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "openclaw-media-"));
  try {
    const output = join(folder, "output");
    const all = { ...values, OutputDir: folder, OutputBase: output };
    const { code, stdout, stderr } = await run(expandHome(command, home), {
      args: args.map((argument) => filled(argument, all, fields)),
      cwd: folder,
      env: inheritedEnvironment(env),
      timeoutMs,
      maxOutputBytes: MAX_OUTPUT,
      signal,
    });
    if (code !== 0) throw new AppError("UNAVAILABLE", `${command} ended with code ${code}: ${clip(stderr.trim(), 200)}`);
    const answer = answerIn(stdout) || (await readFile(`${output}.txt`, "utf8").catch(() => "")).trim();
    if (answer === "") throw new AppError("UNAVAILABLE", `${command} answered nothing`);
    return answer;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
