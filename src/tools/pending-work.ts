import { clip } from "../base/text.ts";
import type { OpenApproval } from "./approvals/approvals.ts";
import type { Processes } from "./process/processes.ts";

const SHOWN_CHARS = 500;

type Running = Pick<ReturnType<Processes["list"]>[number], "id" | "command" | "end">;

/** What a session waits for, one line each: commands in the background, and questions that are still open. */
export function pendingWork(processes: readonly Running[], approvals: readonly OpenApproval[]): readonly string[] {
  return [
    ...processes.flatMap(({ id, command, end }) => (end ? [] : [`background process ${id}: ${command}`])),
    ...approvals.map(({ id, request }) => `approval ${id} is waited for: ${subjectOf(request)}`),
  ];
}

function subjectOf({ command, title, toolName }: OpenApproval["request"]): string {
  const text = [command, title, toolName].find((part): part is string => typeof part === "string" && part !== "");
  return clip((text ?? "(not told)").replace(/\s+/g, " "), SHOWN_CHARS);
}
