import { shellQuote } from "../../base/text.ts";
import { createHash } from "node:crypto";
import { basename, delimiter } from "node:path";
import { AppError } from "../../base/errors.ts";
import { parseCommandLine, type CommandSegment } from "./command-line.ts";
import { callEnvironment, type ExecHost } from "./environment.ts";
import { resolveExecutable } from "../executables.ts";

/** A segment with the file that will run; null when the shell does it itself or it was not found. */
export interface PlannedSegment extends CommandSegment {
  readonly executable: string | null;
}

/** A file that a plan depends on, as it was when the plan was made. */
export interface PinnedFile {
  readonly path: string;
  /** `sha256:` over its content, `stat:` with its size and times when it is large, `none` when it was not there. */
  readonly digest: string;
}

/**
 * What is shown, approved, stored and executed. It is made once from a call and never changed; its hash covers everything in it, so that
 * an approval of one plan is good for no other.
 */
export interface ExecPlan {
  readonly version: 1;
  /** As the caller wrote it. */
  readonly command: string;
  /** False when the meaning is only known to the shell: `segments` is empty, and no allowlist covers it. */
  readonly analysable: boolean;
  readonly segments: readonly PlannedSegment[];
  /** Program and arguments in front of `script`. */
  readonly shell: readonly string[];
  /** What the shell is given: for an analysable plan each word in single quotes, otherwise the command itself. */
  readonly script: string;
  readonly cwd: string;
  /** Variables that this call sets, by name. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of those variables that plugins added. */
  readonly fromPlugins?: readonly string[];
  readonly path: string;
  readonly host: ExecHost;
  readonly node: string | null;
  /** Name of the sandbox that it runs in; absent when it runs on the host itself. Paths are those inside then. */
  readonly sandbox?: string;
  /** It runs in a terminal: what is typed into it later is in no plan. */
  readonly pty?: true;
  /** Programs and scripts that could be rewritten before it runs: it runs with these contents only. */
  readonly files?: readonly PinnedFile[];
  /** SHA-256 over everything above, in hexadecimal. */
  readonly hash: string;
}

export interface PlanInput {
  readonly command: string;
  readonly cwd: string;
  readonly host: ExecHost;
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that the operator's plugins add; the call's own go first. */
  readonly pluginEnv?: Readonly<Record<string, string>>;
  /** PATH of the host. */
  readonly path: string;
  readonly pathPrepend?: readonly string[];
  /** The user's shell (`$SHELL`). */
  readonly shell?: string | undefined;
  readonly node?: string;
  /** Runs inside: programs are looked for there, by its own shell. */
  readonly sandbox?: { readonly name: string; readonly shell: readonly string[] } | undefined;
  readonly pty?: boolean;
}

/** Reads, resolves and fixes a command. Refuses variables that are not allowed. */
export function planCommand(input: PlanInput): ExecPlan {
  const command = input.command.toWellFormed();
  if (command.trim() === "") throw new AppError("INVALID_INPUT", "command is empty; enter a command line");
  if (command.includes("\0")) throw new AppError("INVALID_INPUT", "command has a null character; remove it");
  const { PATH: ownPath, ...own } = callEnvironment(input.env ?? {}, input.host);
  const added = Object.entries(input.pluginEnv ?? {}).filter(([name]) => !Object.hasOwn(own, name));
  const env = added.length === 0 ? own : callEnvironment({ ...Object.fromEntries(added), ...own }, input.host);
  const path = ownPath ?? [...(input.pathPrepend ?? []), input.path].filter((part) => part !== "").join(delimiter);
  const parsed = parseCommandLine(command) ?? [];
  const writable = parsed.every(({ input: text }) => text === undefined || delimiterFor(text) !== undefined);
  const segments = (writable ? parsed : []).map((segment) => ({
    ...segment,
    executable: input.sandbox ? null : (resolveExecutable(segment.argv[0], input.cwd, path) ?? null),
  }));
  const plan = {
    version: 1 as const,
    command,
    analysable: segments.length > 0,
    segments,
    shell: input.sandbox?.shell ?? shellFor(input.shell, input.path),
    script: scriptOf(command, segments),
    cwd: input.cwd,
    env,
    ...(added.length === 0 ? {} : { fromPlugins: added.map(([name]) => name).sort() }),
    path,
    host: input.host,
    node: input.node ?? null,
    ...(input.sandbox ? { sandbox: input.sandbox.name } : {}),
    ...(input.pty === true ? { pty: true as const } : {}),
  };
  return Object.freeze({ ...plan, hash: hashOf(plan) });
}

/** What the call itself sets: what plugins add was decided by the operator who installed them. */
export function ownEnvironment({ env, fromPlugins = [] }: Pick<ExecPlan, "env" | "fromPlugins">): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !fromPlugins.includes(name)));
}

/** The same plan, bound to the contents of files. */
export function pinPlan(plan: ExecPlan, files: readonly PinnedFile[]): ExecPlan {
  const { hash: _, ...rest } = plan;
  const pinned = { ...rest, ...(files.length === 0 ? {} : { files }) };
  return Object.freeze({ ...pinned, hash: hashOf(pinned) });
}

/** Throws unless the plan is the one its hash was made for, and its script the one its segments say. */
export function assertPlan(plan: ExecPlan): void {
  const { hash, ...rest } = plan;
  const honest = plan.analysable === plan.segments.length > 0 && plan.script === scriptOf(plan.command, plan.segments);
  if (hashOf(rest) !== hash || !honest) throw new AppError("CONFLICT", "the plan was changed after it was made; plan the command again", { details: { hash } });
}

function hashOf(plan: Omit<ExecPlan, "hash">): string {
  return createHash("sha256").update(canonical(plan)).digest("hex");
}

/** JSON with sorted keys: equal values give equal bytes. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`)
    .join(",")}}`;
}

function scriptOf(command: string, segments: readonly PlannedSegment[]): string {
  // A line that begins with a dash would be an option of the shell.
  if (segments.length === 0) return /^[-+]/.test(command) ? ` ${command}` : command;
  let line = "";
  let bodies = "";
  for (const { joint, argv, executable, input } of segments) {
    line += `${joint === null ? "" : ` ${joint} `}${[executable ?? argv[0], ...argv.slice(1)].map(shellQuote).join(" ")}`;
    if (input === undefined) continue;
    const end = delimiterFor(input);
    line += ` <<'${end}'`;
    bodies += `\n${input}${end}`;
  }
  return bodies === "" ? line : `${line}${bodies}\n`;
}

/** First characters of delimiters. */
const INITIALS = Array.from("EABCDFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

/**
 * A delimiter whose first character begins no line: dash loses a byte where a line begins like the delimiter and goes on outside of
 * ASCII. Undefined when every character is taken.
 */
function delimiterFor(input: string): string | undefined {
  const taken = new Set(input.split("\n").map((line) => line[0]));
  const initial = INITIALS.find((char) => !taken.has(char));
  return initial === undefined ? undefined : `${initial}ND`;
}

/** Shells that read single quotes as POSIX says; for others (fish, csh, …) bash or sh. */
const POSIX_SHELL = /(?:^|\/)(?:ba|da|z|k|mk|a)?sh$/;

function shellFor(shell: string | undefined, path: string): readonly [string, ...string[]] {
  if (shell?.startsWith("/") && POSIX_SHELL.test(shell)) return [shell, "-c"];
  const found = shell ? (resolveExecutable("bash", "/", path) ?? resolveExecutable("sh", "/", path)) : undefined;
  return [found ?? "/bin/sh", "-c"];
}

/** The name of the shell that runs commands on this machine. */
export const shellName = (shell: string | undefined, path = ""): string => basename(shellFor(shell, path)[0]);

/** A command as a person is shown it. */
export const shownCommand = ({ command }: Pick<ExecPlan, "command">): string => shownText(command);

/** The variables that a command is started with, for the operator who is asked. Values of plugins may be secrets: their names are shown. */
export function shownEnvironment({ env, fromPlugins = [] }: Pick<ExecPlan, "env" | "fromPlugins">): string | null {
  const shown = Object.entries(env).map(([name, value]) => (fromPlugins.includes(name) ? `${name} (set by plugins)` : `${name}=${value}`));
  return shown.length === 0 ? null : shownText(shown.join(", "));
}

/** Text of a command for people: what would not be seen, or would turn the text around, is written as an escape. */
export function shownText(text: string): string {
  return text.replace(/[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]--[\n\t]]/gv, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`);
}
