import { isRecord } from "../../../base/records.ts";
import type { AskedCommandView, ChatEntry } from "../../../protocol/index.ts";
import type { ApprovalRow, Store } from "../../../store/index.ts";

/** Commands that run after a user approved them. */
export interface RunningPort {
  /** The end of what a command has written so far; undefined when it does not run. */
  output(id: string): string | undefined;
  onOutput(listener: (sessionKey: string) => void): Disposable;
}

/** The approval that a result says is waited for. */
export function askedId({ kind, details }: Pick<ChatEntry, "kind" | "details">): string | undefined {
  if (kind !== "tool" || !isRecord(details)) return undefined;
  const { status, approvalId } = details;
  return status === "approval-pending" && typeof approvalId === "string" ? approvalId : undefined;
}

const isAllowed = (decision: string | null): boolean => decision === "allow-once" || decision === "allow-always";

function stateOf({ state, decision, outcome }: ApprovalRow): AskedCommandView["state"] {
  if (outcome?.state === "denied") return outcome.why?.startsWith("approval-timeout") === true ? "expired" : "denied";
  if (outcome) return outcome.state;
  if (state === "pending") return "asked";
  if (state === "decided" && isAllowed(decision)) return "running";
  return state === "expired" ? "expired" : "denied";
}

function viewOf(row: ApprovalRow, running: RunningPort | undefined): AskedCommandView {
  const { startedAt, endedAt, exitCode, signal, timedOut, why, output } = row.outcome ?? {};
  const written = running?.output(row.id) ?? output;
  return {
    id: row.id,
    state: stateOf(row),
    ...(row.decidedBy === null ? {} : { by: row.decidedBy }),
    ...(why === undefined ? {} : { why }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    ...(timedOut === undefined ? {} : { timedOut }),
    ...(written === undefined ? {} : { output: written }),
  };
}

/** How the commands are that entries ask about, and those that a page named. Only those of the session. */
export async function askedCommands(
  store: Pick<Store, "read">,
  asked: { readonly sessionKey: string; readonly entries: readonly ChatEntry[]; readonly named: readonly string[] },
  running: RunningPort | undefined,
): Promise<AskedCommandView[]> {
  const ids = new Set([...asked.named, ...asked.entries.flatMap((entry) => askedId(entry) ?? [])]);
  if (ids.size === 0) return [];
  const rows = await store.read("approvals.some", { ids: [...ids] });
  return rows.filter(({ sessionKey }) => sessionKey === asked.sessionKey).map((row) => viewOf(row, running));
}
