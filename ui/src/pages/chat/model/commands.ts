import type { PageAnswer } from "./entries.ts";
import { fieldsOf, textOf } from "./said.ts";
import type { ChatEntry } from "./state.ts";

/** A command that needed approval. */
export type AskedCommand = NonNullable<PageAnswer["commands"]>[number];
export type AskedCommands = ReadonlyMap<string, AskedCommand>;

/** The approval that a call's result says is waited for. */
export function askedId(result: Pick<ChatEntry, "details"> | undefined): string | undefined {
  const { status, approvalId } = fieldsOf(result?.details);
  return status === "approval-pending" && textOf(approvalId) !== "" ? textOf(approvalId) : undefined;
}

const isOver = (command: AskedCommand | undefined): boolean => command !== undefined && command.state !== "asked" && command.state !== "running";

/** Most that are asked after at once. */
const MOST = 100;

/** Approvals whose commands may still change. */
export function unsettled(entries: readonly ChatEntry[], known: AskedCommands): readonly string[] {
  const ids = entries.flatMap((entry) => (entry.kind === "tool" ? (askedId(entry) ?? []) : []));
  return ids.filter((id) => !isOver(known.get(id))).slice(-MOST);
}

/** What is known with what a page tells. The same when that is nothing new. */
export function withReported(known: AskedCommands, reported: readonly AskedCommand[] = []): AskedCommands {
  const news = reported.filter((command) => JSON.stringify(known.get(command.id)) !== JSON.stringify(command));
  return news.length === 0 ? known : new Map([...known, ...news.map((command) => [command.id, command] as const)]);
}
