import type { CommandOutcome } from "../../store/index.ts";

const TAIL_CHARS = 400;

/** The notification to a session about a command that needed approval. Undefined as long as there is none. */
export function outcomeText(
  { id, command, node }: { readonly id: string; readonly command: string; readonly node?: string | undefined },
  outcome: CommandOutcome,
): string | undefined {
  const where = node === undefined ? "gateway" : `node=${node}`;
  const session = outcome.session === undefined ? "" : `, session=${outcome.session}`;
  if (outcome.state === "denied") return `Exec denied (${where} id=${id}, ${outcome.why ?? "user-denied"}): ${command}`;
  if (outcome.state === "lost") return `Exec interrupted (${where} id=${id}${session}, outcome-unknown: the gateway ended while it ran): ${command}`;
  if (outcome.state === "running") return undefined;
  const tail = (outcome.output ?? "").slice(-TAIL_CHARS).trim();
  return `Exec finished (${where} id=${id}${session}, ${howOf(outcome)})${tail === "" ? "" : `\n${tail}`}`;
}

function howOf({ timedOut, exitCode, signal }: CommandOutcome): string {
  if (timedOut === true) return "timeout";
  return typeof exitCode === "number" ? `code ${exitCode}` : `signal ${signal ?? "unknown"}`;
}
