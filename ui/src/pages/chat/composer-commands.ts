import type { MethodResult } from "openclaw/client";
import type { IconName } from "../../look/icons.ts";

export type Command = MethodResult<"commands.list">["commands"][number];

/** One way to go on with what is typed. */
export interface Completion {
  /** The whole text of the box, with it. */
  readonly text: string;
  readonly label: string;
  readonly detail: string;
  /** Nothing has to follow: Enter may send it. */
  readonly whole: boolean;
  /** What it is, where it is no command. */
  readonly icon?: IconName;
  /** What is selected in the box then; without it the caret is at the end. */
  readonly select?: readonly [from: number, to: number];
  /** It is a prompt: Tab goes to the next placeholder in it. */
  readonly prompt?: true;
  /** It does something else and leaves the box empty. */
  readonly run?: () => void;
}

const usage = ({ args }: Command): string => args.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(" ");

function commandNames(typed: string, commands: readonly Command[]): readonly Completion[] {
  const word = typed.toLowerCase();
  const rank = ({ name, aliases }: Command): number => {
    if (name === word) return 0;
    if (name.startsWith(word)) return 1;
    if (aliases.some((alias) => alias.startsWith(word))) return 2;
    return name.includes(word) ? 3 : 4;
  };
  return commands
    .map((command) => ({ command, at: rank(command) }))
    .filter(({ at }) => at < 4)
    .toSorted((a, b) => a.at - b.at)
    .map(({ command }) => ({
      text: `/${command.name}${command.args.length > 0 ? " " : ""}`,
      label: `/${command.name}${command.args.length > 0 ? ` ${usage(command)}` : ""}`,
      detail: command.description,
      whole: !command.args.some(({ required }) => required),
    }));
}

/** What can be typed next when the text is the beginning of a command: its name, or one of the choices of its argument. */
export function completions(text: string, commands: readonly Command[]): readonly Completion[] {
  const name = /^\/([^\s/]*)$/.exec(text);
  if (name) return commandNames(name[1]!, commands);
  const inside = /^\/(\S+) +((?:\S+ +)*)(\S*)$/.exec(text);
  if (!inside) return [];
  const [, called = "", before = "", word = ""] = inside;
  const command = commands.find((one) => one.name === called.toLowerCase() || one.aliases.includes(called.toLowerCase()));
  const at = before.split(/\s+/).filter(Boolean).length;
  const arg = command?.args[at];
  const last = at === (command?.args.length ?? 0) - 1;
  return (arg?.choices ?? [])
    .filter((choice) => choice.startsWith(word.toLowerCase()) && choice !== word.toLowerCase())
    .map((choice) => ({
      text: `${text.slice(0, text.length - word.length)}${choice}${last ? "" : " "}`,
      label: choice,
      detail: arg?.description ?? `${arg?.name ?? ""} of /${command!.name}`,
      whole: last,
    }));
}

/** What a command that is typed is for, while its argument is written. */
export function commandHelp(text: string, commands: readonly Command[]): string | undefined {
  const called = /^\/(\S+)\s/.exec(text)?.[1]?.toLowerCase();
  const command = commands.find(({ name, aliases }) => name === called || aliases.includes(called ?? ""));
  return command && `/${command.name} ${usage(command)}: ${command.description}`;
}

/** As many as are seen at once, around the one that is marked. */
export function windowOf<T>(choices: readonly T[], at: number, size: number): { readonly from: number; readonly seen: readonly T[] } {
  const from = Math.max(0, Math.min(at - Math.floor(size / 2), choices.length - size));
  return { from, seen: choices.slice(from, from + size) };
}
