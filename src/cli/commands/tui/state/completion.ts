import type { CommandInfo, State } from "./state.ts";

export interface Completion {
  /** What the input becomes. */
  readonly text: string;
  readonly label: string;
  readonly detail: string;
}

const MOST = 50;

function names(commands: readonly CommandInfo[], typed: string): Completion[] {
  const wanted = typed.toLowerCase();
  const rank = ({ name }: CommandInfo): number => (name.startsWith(wanted) ? 0 : 1);
  return commands
    .filter(({ name }) => name.startsWith(wanted) || (wanted.length > 1 && name.includes(wanted)))
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MOST)
    .map(({ name, description }) => ({ text: `/${name} `, label: `/${name}`, detail: description }));
}

/** What the input may become: commands, or what a command takes. */
export function completions({ editor, commands, picker }: Pick<State, "editor" | "commands" | "picker">): readonly Completion[] {
  const { text, cursor } = editor;
  if (picker || cursor !== text.length || text.includes("\n")) return [];
  const command = /^\/(\S*)$/.exec(text)?.[1];
  if (command !== undefined) return names(commands, command);
  const [, typed = "", argument = ""] = /^\/(\S+)\s+(\S*)$/.exec(text) ?? [];
  const found = commands.find(({ name }) => name === typed.toLowerCase());
  if (!found) return [];
  const wanted = argument.toLowerCase();
  return found.choices
    .filter((choice) => choice.startsWith(wanted) && choice !== wanted)
    .map((choice) => ({ text: `/${found.name} ${choice}`, label: choice, detail: "" }));
}
