import { AppError } from "../../../base/errors.ts";
import { printableName } from "../../../base/printable.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import type { AgentPort } from "../../ports.ts";
import { shownIssues } from "../config/change.ts";
import type { CronPort } from "../cron.ts";
import type { CallContext } from "../handler.ts";
import { settle, type EndingDeps } from "../sessions/endings.ts";

export interface RosterChangesDeps extends Pick<EndingDeps, "clock" | "log" | "relay" | "responder" | "store"> {
  readonly roster: NonNullable<AgentPort["roster"]>;
  readonly cron?: Pick<CronPort, "list" | "update"> | undefined;
}

/** What the file must not say becomes the caller's mistake, in the words of the check. */
async function checked<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "CONFIG_INVALID") throw error;
    throw new AppError("INVALID_INPUT", error.message, { cause: error, details: { issues: shownIssues(error.details) } });
  }
}

const writer = (method: string, { caller }: CallContext): string => `${method} (${caller.client.id})`;

export async function createAgent(
  params: MethodParams<"agents.create">,
  deps: RosterChangesDeps,
  context: CallContext,
): Promise<MethodResult<"agents.create">> {
  const { name: written, workspace: folder, emoji, avatar, template } = params;
  const roster = await deps.roster();
  const added = await checked(roster.add({ name: written, workspace: folder, emoji, avatar, template }, writer("agents.create", context)));
  const { agentId, name, workspace } = added;
  return { ok: true, agentId, name, workspace };
}

/** Changes what is given of an agent. */
export async function updateAgent(
  params: MethodParams<"agents.update">,
  deps: RosterChangesDeps,
  context: CallContext,
): Promise<MethodResult<"agents.update">> {
  const { workspace, avatar } = params;
  const fields = { name: params.name === undefined ? undefined : printableName(params.name), workspace, model: params.model?.trim(), avatar };
  const roster = await deps.roster();
  return { ok: true, agentId: await checked(roster.change(params.agentId, fields, writer("agents.update", context))) };
}

/** Sessions that are read at a time. */
const PAGE = 200;

/** Stops what runs in any session of an agent, and waits for it. */
async function stopTurns(agentId: string, deps: RosterChangesDeps): Promise<void> {
  let after: { readonly updatedAt: number; readonly key: string } | undefined;
  for (let full = true; full;) {
    const { rows } = await deps.store.read("sessions.list", { agentId, limit: PAGE, after });
    // One that does not end in time goes on without its files.
    const stopped = rows.map(({ key }) =>
      settle(key, key, deps).catch((error: unknown) => deps.log.warn("a turn of a deleted agent could not be stopped", { key, error })),
    );
    await Promise.all(stopped);
    const last = rows.at(-1);
    after = last && { updatedAt: Math.trunc(last.entry.updatedAt), key: last.key };
    full = rows.length === PAGE;
  }
}

/** Switches off the scheduled jobs of an agent that is gone: they would fail at each of their times. */
async function disableJobs(agentId: string, { cron, log }: RosterChangesDeps): Promise<readonly { readonly id: string; readonly name: string }[]> {
  const disabled: { readonly id: string; readonly name: string }[] = [];
  for (const { id, name, agentId: owner } of (await cron?.list({})) ?? []) {
    if (owner?.trim().toLowerCase() !== agentId) continue;
    try {
      await cron?.update(id, { enabled: false });
      disabled.push({ id, name });
    } catch (error) {
      log.warn("a scheduled job of a deleted agent could not be switched off", { job: id, error });
    }
  }
  return disabled;
}

/** Removes an agent and what routes to it, switches off its jobs, stops its turns, then puts its files away. What was said to it stays in its sessions. */
export async function deleteAgent(
  params: MethodParams<"agents.delete">,
  deps: RosterChangesDeps,
  context: CallContext,
): Promise<MethodResult<"agents.delete">> {
  const roster = await deps.roster();
  const { agentId, removedBindings, folders } = await checked(roster.remove(params.agentId, writer("agents.delete", context)));
  const disabledJobs = await disableJobs(agentId, deps);
  await stopTurns(agentId, deps);
  if (params.deleteFiles ?? true) await roster.putAway(agentId, folders);
  return { ok: true, agentId, removedBindings, ...(disabledJobs.length === 0 ? {} : { disabledJobs: [...disabledJobs] }) };
}
