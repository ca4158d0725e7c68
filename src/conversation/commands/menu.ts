import { commandNamed } from "../../channels/index.ts";
import type { CommandCall, CommandVerdict } from "./commands.ts";
import { buttonsFor } from "../reply/buttons.ts";

const PER_ROW = 2;

/** Adds the choices of a command that was picked from a menu without saying which, as buttons. */
export function withMenu(
  verdict: CommandVerdict,
  { source, isGroup }: CommandCall,
  { name, args }: { readonly name: string; readonly args: string },
): CommandVerdict {
  const choices = source === "native" && args === "" ? commandNamed(name)?.choices : undefined;
  if (!choices || verdict.kind !== "answered" || verdict.reply.length !== 1 || (name === "activation" && !isGroup)) return verdict;
  const [reply] = verdict.reply;
  if (!reply || reply.isError || reply.channelData !== undefined) return verdict;
  const buttons = choices.map((choice) => ({ text: choice, command: `/${name} ${choice}` }));
  const rows = Array.from({ length: Math.ceil(buttons.length / PER_ROW) }, (_, row) => buttons.slice(row * PER_ROW, (row + 1) * PER_ROW));
  return { ...verdict, reply: [{ ...reply, ...buttonsFor(reply.text ?? "", rows) }] };
}
