import type { CommandFate } from "../../store/index.ts";

const TAIL_CHARS = 400;

/** What a session is told of a command that was asked about. Undefined as long as there is nothing to tell. */
export function fateText({ id, command }: { readonly id: string; readonly command: string }, fate: CommandFate): string | undefined {
  const session = fate.session === undefined ? "" : `, session=${fate.session}`;
  if (fate.state === "denied") return `Exec denied (gateway id=${id}, ${fate.why ?? "user-denied"}): ${command}`;
  if (fate.state === "lost") return `Exec interrupted (gateway id=${id}${session}, outcome-unknown: the gateway ended while it ran): ${command}`;
  if (fate.state === "running") return undefined;
  const tail = (fate.output ?? "").slice(-TAIL_CHARS).trim();
  return `Exec finished (gateway id=${id}${session}, ${howOf(fate)})${tail === "" ? "" : `\n${tail}`}`;
}

function howOf({ timedOut, exitCode, signal }: CommandFate): string {
  if (timedOut === true) return "timeout";
  return typeof exitCode === "number" ? `code ${exitCode}` : `signal ${signal ?? "unknown"}`;
}
