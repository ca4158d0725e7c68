/** The commands of the gateway, and recognizing them in text. */
import { knownChannel } from "../../config/index.ts";
import type { HostConfig } from "../../protocol/index.ts";

export type CommandGroup = "session" | "options" | "status" | "management" | "media" | "tools";

export interface CommandFacts {
  /** The canonical name first. */
  readonly names: readonly [string, ...string[]];
  /** Whether arguments may follow. */
  readonly args: boolean;
  readonly group: CommandGroup;
  readonly description: string;
  /** Syntax of the arguments. */
  readonly usage?: string;
  /** Possible arguments. */
  readonly choices?: readonly string[];
  /** Key of `commands` that has to be true. */
  readonly gate?: "config" | "debug" | "bash";
  /** Also recognized inside of other text, as a setting. */
  readonly directive?: true;
  /** Also answered inside of other text. */
  readonly inline?: true;
  /** The following lines belong to it. */
  readonly lines?: true;
  /** It only shows something, or decides something outside the session: it need not wait for a long-running command. */
  readonly quick?: true;
  /**
   * Every allowed sender may give it, as far as it stops or narrows something: the access rules let it through, and its arguments are checked later.
   */
  readonly anyone?: true;
  /** Not in platforms' menus. */
  readonly textOnly?: true;
}

const session = { group: "session" } as const;
const options = { group: "options" } as const;
const status = { group: "status" } as const;
const management = { group: "management" } as const;

/** The only list: parsing, menus and execution use it. */
export const COMMANDS: readonly CommandFacts[] = [
  { names: ["help"], args: false, inline: true, quick: true, ...status, description: "Show the most useful commands" },
  { names: ["commands"], args: false, inline: true, quick: true, ...status, description: "List all commands" },
  { names: ["status"], args: false, inline: true, quick: true, ...status, description: "Show model, tokens and settings of this session" },
  { names: ["whoami", "id"], args: false, inline: true, quick: true, ...status, description: "Show your ids on this channel" },
  {
    names: ["context"],
    args: true,
    usage: "[list|detail|json]",
    choices: ["list", "detail", "json"],
    quick: true,
    ...status,
    description: "Show what uses the context window",
  },
  { names: ["export-session", "export"], args: true, usage: "[path]", ...status, description: "Export this session as an HTML file" },
  { names: ["trace"], args: true, quick: true, ...status, description: "Show how the last message was handled" },
  { names: ["stop"], args: false, anyone: true, ...session, description: "Stop the current run" },
  { names: ["new"], args: true, usage: "[model] [text]", lines: true, ...session, description: "Start a new session" },
  { names: ["reset"], args: true, usage: "[model] [text]", lines: true, ...session, description: "Start a new session" },
  { names: ["compact"], args: true, usage: "[instructions]", lines: true, ...session, description: "Compact the conversation" },
  {
    names: ["usage"],
    args: true,
    usage: "[off|tokens|full|cost]",
    choices: ["off", "tokens", "full", "cost"],
    ...options,
    description: "Show usage below replies, or costs",
  },
  { names: ["model"], args: true, usage: "[name|list|status]", directive: true, ...options, description: "Show or change the model" },
  { names: ["models"], args: true, quick: true, usage: "[provider] [page]", ...options, description: "List models" },
  {
    names: ["think", "thinking", "t"],
    args: true,
    usage: "[level]",
    choices: ["off", "minimal", "low", "medium", "high", "xhigh"],
    directive: true,
    ...options,
    description: "Set the thinking level",
  },
  {
    names: ["verbose", "v"],
    args: true,
    usage: "[on|full|off]",
    choices: ["on", "full", "off"],
    directive: true,
    ...options,
    description: "Show tool activity",
  },
  {
    names: ["reasoning", "reason"],
    args: true,
    usage: "[on|off|stream]",
    choices: ["on", "off", "stream"],
    directive: true,
    ...options,
    description: "Show the model's reasoning",
  },
  {
    names: ["elevated", "elev"],
    args: true,
    usage: "[on|off|ask|full]",
    choices: ["on", "off", "ask", "full"],
    directive: true,
    anyone: true,
    ...options,
    description: "Let commands run outside the sandbox",
  },
  {
    names: ["exec"],
    args: true,
    usage: "[host= security= ask= node=]",
    directive: true,
    anyone: true,
    ...options,
    description: "Set where and how commands run",
  },
  {
    names: ["queue"],
    args: true,
    usage: "[mode] [debounce: cap: drop:]",
    choices: ["steer", "followup", "collect", "steer-backlog", "interrupt", "default"],
    directive: true,
    ...options,
    description: "Set how messages during a run are handled",
  },
  { names: ["send"], args: true, usage: "[on|off|inherit]", choices: ["on", "off", "inherit"], ...management, description: "Turn replies on or off" },
  {
    names: ["activation"],
    args: true,
    usage: "[mention|always]",
    choices: ["mention", "always"],
    ...management,
    description: "Set when the agent answers in this group",
  },
  { names: ["config"], args: true, usage: "[show|set|unset]", gate: "config", ...management, description: "Show or change the configuration" },
  { names: ["debug"], args: true, usage: "[show|set|unset|reset]", gate: "debug", ...management, description: "Override settings until the next restart" },
  { names: ["allowlist"], args: true, usage: "[list|add|remove]", textOnly: true, ...management, description: "Manage who may write to the agent" },
  {
    names: ["approve"],
    args: true,
    quick: true,
    usage: "<id> <allow-once|allow-always|deny>",
    ...management,
    description: "Approve or deny a pending command",
  },
  {
    names: ["subagents"],
    args: true,
    quick: true,
    usage: "[list|kill|log|info|send|steer|spawn]",
    lines: true,
    ...management,
    description: "Manage sub-agents",
  },
  { names: ["kill"], args: true, quick: true, usage: "<target>", ...management, description: "Stop a sub-agent" },
  { names: ["steer", "tell"], args: true, quick: true, usage: "<target> <text>", lines: true, ...management, description: "Send a message to a sub-agent" },
  { names: ["remember"], args: true, usage: "[--always] <text>", lines: true, ...management, description: "Save a note" },
  {
    names: ["forget"],
    args: true,
    usage: "<text>|confirm [numbers]|cancel",
    lines: true,
    ...management,
    description: "Permanently remove text from notes and conversations",
  },
  { names: ["restart"], args: false, ...management, description: "Restart the gateway" },
  { names: ["tts"], args: true, usage: "status|provider [name]|audio <text>", group: "media", description: "Control spoken replies" },
  { names: ["skill"], args: true, usage: "<name> [input]", lines: true, group: "tools", description: "Use a skill" },
  { names: ["bash"], args: true, usage: "<command>", gate: "bash", textOnly: true, group: "tools", description: "Run a command on the host" },
];

const BY_NAME: ReadonlyMap<string, CommandFacts> = new Map(COMMANDS.flatMap((command) => command.names.map((name) => [name, command])));

/** Messages that stop a run when they contain nothing else. */
const ABORT_WORDS: ReadonlySet<string> = new Set(["stop", "esc", "abort", "wait", "exit", "interrupt"]);
const HINT = new RegExp(`[/!]|(?<!\\w)(?:${[...ABORT_WORDS].join("|")})(?!\\w)`, "i");

/** False for a text in which no command or stop word can be found, whatever mentions of us are taken out of it: the usual case. */
export const mayHoldCommand = (text: string): boolean => HINT.test(text);

/** Finds a command by any of its names, case-insensitive. Some platforms' menus do not allow `-`: `_` stands for it. */
export function commandNamed(name: string): CommandFacts | undefined {
  const written = name.toLowerCase();
  return BY_NAME.get(written) ?? BY_NAME.get(written.replaceAll("_", "-"));
}

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
  return text !== undefined && mayHoldCommand(text) && (hasControlCommand(text, cfg, options) || isAbortWord(text));
}

/** A stop word, or the stop command. */
export const isStopMessage = (text: string, options?: CommandTextOptions): boolean =>
  mayHoldCommand(text) && (isAbortWord(text) || (text.length <= MOST_STOP && readCommand(text, options)?.facts.names[0] === "stop"));

/** Longest text that can be a stop word. */
const MOST_STOP = 200;

/** Whether a text is nothing but a stop word. */
export function isAbortWord(text: string): boolean {
  // Recognisers of speech put a full stop behind it.
  const word = text.trim().replace(/[.!。！]{1,3}$/, "");
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
