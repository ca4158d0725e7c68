import { resolve } from "node:path";
import { AppError, messageOf } from "../base/errors.ts";
import { substituteText } from "./environment.ts";
import type { Env } from "./env.ts";
import { expandHome } from "./paths.ts";
import { isObject } from "./value.ts";

/** A secret as the configuration gives it: the text (with `${VAR}`), or where to get it. */
export type SecretInput =
  | string
  | { readonly source: "env"; readonly id: string }
  | { readonly source: "file"; readonly path: string; readonly key?: string | undefined }
  | { readonly source: "exec"; readonly command: string; readonly args?: readonly string[] | undefined; readonly timeoutMs?: number | undefined };

/** Runs a program without a shell and gives its standard output; rejects when it fails, takes too long or writes too much. */
export type RunProgram = (command: string, args: readonly string[], limits: { readonly timeoutMs: number; readonly maxBytes: number }) => Promise<string>;

export interface SecretsDeps {
  readonly env: () => Env;
  /** Reads at most 64 KB of a file. */
  readonly readFile: (path: string) => Uint8Array;
  /** Permission bits of a file. */
  readonly mode: (path: string) => number | undefined;
  readonly run?: RunProgram | undefined;
  readonly home: string;
  readonly cwd: string;
  /** Called with every secret that was resolved, before it is returned, so that logs can redact it. */
  readonly onSecret?: ((value: string) => void) | undefined;
  readonly warn?: ((message: string) => void) | undefined;
}

export const MAX_SECRET_BYTES = 64 * 1024;
const EXEC_TIMEOUT_MS = 10_000;

/** Fetches a secret. `at` is its config path, for messages; the value itself is in none of them. Throws `SECRET_UNRESOLVED`. */
export async function resolveSecret(input: SecretInput, at: string, deps: SecretsDeps): Promise<string> {
  const value = withoutLineBreak(await fetchSecret(input, at, deps));
  if (value === "") throw unresolved(at, "it is empty", "set it");
  deps.onSecret?.(value);
  return value;
}

function unresolved(at: string, why: string, advice: string): AppError {
  return new AppError("SECRET_UNRESOLVED", `the secret at ${at} could not be read: ${why}; ${advice}`, { details: { path: at } });
}

function withoutLineBreak(text: string): string {
  return text.replace(/(?:\r?\n)+$/, "");
}

async function fetchSecret(input: SecretInput, at: string, deps: SecretsDeps): Promise<string> {
  if (typeof input === "string") {
    return substituteText(input, deps.env(), (name) => {
      throw unresolved(at, `the environment variable ${name} is not set`, "set it, or write the secret another way");
    });
  }
  if (input.source === "env") {
    const value = deps.env()[input.id];
    if (value) return value;
    throw unresolved(at, `the environment variable ${input.id} is not set`, "set it, or write the secret another way");
  }
  return input.source === "file" ? fromFile(input, at, deps) : fromProgram(input, at, deps);
}

function fromFile(input: Extract<SecretInput, { source: "file" }>, at: string, deps: SecretsDeps): string {
  const path = resolve(deps.cwd, expandHome(input.path, deps.home));
  const mode = deps.mode(path);
  if (mode !== undefined && (mode & 0o077) !== 0) deps.warn?.(`${path}, which holds the secret at ${at}, can be read by others; run chmod 600 on it`);
  let bytes: Uint8Array;
  try {
    bytes = deps.readFile(path);
  } catch (error) {
    throw unresolved(at, messageOf(error), "check source.path");
  }
  if (bytes.length > MAX_SECRET_BYTES) throw unresolved(at, `${path} has more than ${MAX_SECRET_BYTES} bytes`, "use a file that contains only the secret");
  const text = Buffer.from(bytes).toString("utf8");
  return input.key === undefined ? text : fieldOf(text, input.key, at, path);
}

function fieldOf(text: string, key: string, at: string, path: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw unresolved(at, `${path} is not JSON, so it has no key "${key}"`, "leave key out to take the whole file");
  }
  const value = isObject(parsed) && Object.hasOwn(parsed, key) ? parsed[key] : undefined;
  if (typeof value === "string") return value;
  throw unresolved(at, `${path} has no string at key "${key}"`, "check source.key");
}

async function fromProgram(input: Extract<SecretInput, { source: "exec" }>, at: string, deps: SecretsDeps): Promise<string> {
  if (!deps.run) throw unresolved(at, "programs cannot be run here", "use an environment variable or a file");
  let output: string;
  try {
    output = await deps.run(input.command, input.args ?? [], { timeoutMs: input.timeoutMs ?? EXEC_TIMEOUT_MS, maxBytes: MAX_SECRET_BYTES });
  } catch (error) {
    // What the program wrote may hold the secret: only an error of ours is known to be safe to repeat.
    throw unresolved(at, `${input.command} failed${error instanceof AppError ? ` (${error.code})` : ""}`, "run it manually to see the error");
  }
  if (Buffer.byteLength(output) > MAX_SECRET_BYTES)
    throw unresolved(at, `${input.command} wrote more than ${MAX_SECRET_BYTES} bytes`, "make it print only the secret");
  return output;
}
