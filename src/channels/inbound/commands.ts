/** Recognising commands in text, before anything is done with them. */
import type { HostConfig } from "../../protocol/index.ts";

/** Canonical names with their other spellings. `args`: whether text may follow. `gate`: key of `commands` that has to be true. */
const COMMANDS: readonly { readonly names: readonly string[]; readonly args: boolean; readonly gate?: string }[] = [
  { names: ["help"], args: false },
  { names: ["commands"], args: false },
  { names: ["status"], args: false },
  { names: ["whoami", "id"], args: false },
  { names: ["stop"], args: false },
  { names: ["restart"], args: false },
  { names: ["context"], args: true },
  { names: ["export-session", "export"], args: true },
  { names: ["usage"], args: true },
  { names: ["new"], args: true },
  { names: ["reset"], args: true },
  { names: ["compact"], args: true },
  { names: ["model"], args: true },
  { names: ["models"], args: true },
  { names: ["send"], args: true },
  { names: ["activation"], args: true },
  { names: ["config"], args: true, gate: "config" },
  { names: ["debug"], args: true, gate: "debug" },
  { names: ["bash"], args: true, gate: "bash" },
  { names: ["allowlist"], args: true },
  { names: ["approve"], args: true },
  { names: ["subagents"], args: true },
  { names: ["kill"], args: true },
  { names: ["steer", "tell"], args: true },
  { names: ["skill"], args: true },
  { names: ["tts"], args: true },
  { names: ["think", "thinking", "t"], args: true },
  { names: ["verbose", "v"], args: true },
  { names: ["reasoning", "reason"], args: true },
  { names: ["elevated", "elev"], args: true },
  { names: ["exec"], args: true },
  { names: ["queue"], args: true },
];

const BY_NAME: ReadonlyMap<string, (typeof COMMANDS)[number]> = new Map(COMMANDS.flatMap((command) => command.names.map((name) => [name, command])));
const ABORT_WORDS: ReadonlySet<string> = new Set(["stop", "esc", "abort", "wait", "exit", "interrupt"]);
/** Surfaces whose own menus offer commands. */
const NATIVE_SURFACES: ReadonlySet<string> = new Set(["discord", "telegram", "slack"]);

export interface CommandTextOptions {
  /** Our own name: `/status@name` is meant for us only with it. */
  readonly botUsername?: string | undefined;
}

/** Whether the text is a command of the gateway: its name first, and nothing behind one that takes nothing. */
export function hasControlCommand(text?: string, cfg?: HostConfig, options: CommandTextOptions = {}): boolean {
  const [, name = "", bot, rest = ""] = /^\/([\w-]+)(?:@(\w+))?(?:\s*:)?(?:\s+([\s\S]*))?$/.exec((text ?? "").trim()) ?? [];
  if (bot !== undefined && bot.toLowerCase() !== options.botUsername?.trim().replace(/^@/, "").toLowerCase()) return false;
  const command = BY_NAME.get(name.toLowerCase());
  if (!command || (command.gate !== undefined && cfg?.commands?.[command.gate] !== true)) return false;
  return command.args || rest.split("\n")[0]!.trim() === "";
}

/** A command, or a single word that stops what runs. */
export function isControlCommandMessage(text?: string, cfg?: HostConfig, options?: CommandTextOptions): boolean {
  return hasControlCommand(text, cfg, options) || ABORT_WORDS.has((text ?? "").trim().toLowerCase());
}

/** Whether it matters if the sender may give commands: one is there, or something inside of the text looks like one. */
export function shouldComputeCommandAuthorized(text?: string, cfg?: HostConfig, options?: CommandTextOptions): boolean {
  return isControlCommandMessage(text, cfg, options) || /(?:^|\s)[/!][a-z]/i.test(text ?? "");
}

/** Whether commands in text are read here. Where a surface has no menu of its own they always are. */
export function shouldHandleTextCommands(params: {
  readonly cfg: HostConfig;
  readonly surface: string;
  readonly commandSource?: "text" | "native" | undefined;
}): boolean {
  return params.commandSource === "native" || params.cfg.commands?.text !== false || !NATIVE_SURFACES.has(params.surface.trim().toLowerCase());
}
