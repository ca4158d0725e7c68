/** Recognizes commands in text. */
import { knownChannel } from "../../config/index.ts";
import type { HostConfig } from "../../protocol/index.ts";
import { ABORT_WORDS, commandNamed, type CommandFacts } from "./command-table.ts";

export interface CommandTextOptions {
  /** The bot's name: `/status@name` is for us only with it. */
  readonly botUsername?: string | undefined;
}

/** A command as written. */
export interface WrittenCommand {
  readonly facts: CommandFacts;
  /** The rest of its line. */
  readonly args: string;
  /** The lines after it. */
  readonly more: string;
}

const HEAD = /^\/([\w-]{1,64})(?:@(\w{1,64}))?(?:[ \t]{0,8}:|(?=\s)|$)/;

/** The command at the start of a text. Arguments after a command without arguments make it ordinary text. */
export function readCommand(text: string, { botUsername }: CommandTextOptions = {}): WrittenCommand | undefined {
  const written = text.trim();
  const [head, name = "", bot] = HEAD.exec(written) ?? [];
  if (head === undefined || (bot !== undefined && !isOurName(bot, botUsername))) return undefined;
  const facts = commandNamed(name);
  if (!facts) return undefined;
  const end = written.indexOf("\n", head.length);
  const args = written.slice(head.length, end < 0 ? undefined : end).trim();
  const more = end < 0 ? "" : written.slice(end + 1).trim();
  if (!facts.args && (args !== "" || (facts.inline && more !== ""))) return undefined;
  return { facts, args, more };
}

/** Whether a name after `@` is our own. */
export function isOurName(name: string, botUsername: string | undefined): boolean {
  return botUsername !== undefined && name.toLowerCase() === botUsername.trim().replace(/^@/, "").toLowerCase();
}

/** Whether the text is a gateway command: its name first, and no arguments for one without. */
export function hasControlCommand(text?: string, cfg?: HostConfig, options: CommandTextOptions = {}): boolean {
  const command = readCommand(text ?? "", options)?.facts;
  return command !== undefined && (command.gate === undefined || cfg?.commands?.[command.gate] === true);
}

/** A command, or a single word that stops a run. */
export function isControlCommandMessage(text?: string, cfg?: HostConfig, options?: CommandTextOptions): boolean {
  return hasControlCommand(text, cfg, options) || isAbortWord(text ?? "");
}

/** A stop word, or the stop command. */
export const isStopMessage = (text: string, options?: CommandTextOptions): boolean =>
  isAbortWord(text) || (text.length <= MOST_STOP && readCommand(text, options)?.facts.names[0] === "stop");

/** Longest text that can be a stop word. */
const MOST_STOP = 200;

/** Whether a text is nothing but a stop word. */
export function isAbortWord(text: string): boolean {
  const word = text.trim();
  return word.length < 16 && ABORT_WORDS.has(word.toLowerCase());
}

/** Whether command authorization matters: there is a command, or something in the text looks like one. */
export function shouldComputeCommandAuthorized(text?: string, cfg?: HostConfig, options?: CommandTextOptions): boolean {
  return isControlCommandMessage(text, cfg, options) || /(?:^|\s)[/!][a-z]/i.test(text ?? "");
}

/** Whether commands in text are read here. On a surface without menus they always are. */
export function shouldHandleTextCommands(params: {
  readonly cfg: HostConfig;
  readonly surface: string;
  readonly commandSource?: "text" | "native" | undefined;
}): boolean {
  return (
    params.commandSource === "native" || params.cfg.commands?.text !== false || knownChannel(params.surface.trim().toLowerCase()).nativeCommands === undefined
  );
}
