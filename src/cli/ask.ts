import { Writable } from "node:stream";
import { AppError } from "../base/errors.ts";
import type { Io } from "./io.ts";

const MAX_INPUT_BYTES = 64 * 1024;

export interface Question {
  /** What is shown on a terminal. */
  readonly text: string;
  /** What is typed is not shown. */
  readonly secret?: boolean;
  /** What would be expected on the standard input when there is no terminal. */
  readonly expected: string;
  readonly signal?: AbortSignal;
}

/** Asks for a line on the terminal; without one, the standard input is the answer. Secrets are asked for, never taken from arguments, which others can see. */
export async function ask(io: Io, question: Question): Promise<string> {
  const answer = io.interactive ? await askTerminal(question) : await readInput();
  const line = answer.trim();
  if (line === "") throw new AppError("INVALID_INPUT", `expected ${question.expected}${io.interactive ? "" : " on standard input"}, got nothing`);
  return line;
}

async function askTerminal({ text, secret, signal }: Question): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  // The prompt line is redrawn as a whole; text before it on the same line would be erased.
  if (secret) process.stderr.write(text);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: secret ? silent : process.stderr, terminal: true });
  try {
    return await lines.question(secret ? "" : text, signal ? { signal } : {});
  } finally {
    lines.close();
    if (secret) process.stderr.write("\n");
  }
}

/** The whole standard input. */
export async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_INPUT_BYTES) throw new AppError("INVALID_INPUT", `expected at most ${MAX_INPUT_BYTES} bytes on standard input`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
