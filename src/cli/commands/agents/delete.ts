import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { lockHolder } from "../../../base/instance-lock.ts";
import { escapeLine } from "../../../base/printable.ts";
import { isRecord } from "../../../base/records.ts";
import { agentFolder, agentWorkspace, stateLockPath } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { callGateway } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { agentKey, agentNamed, oneAgent, openAgents, type Agent, type AgentsView } from "./source.ts";

/** Turns that run are stopped first, which may take a while. */
const PATIENCE_MS = "60000";

interface Removed {
  readonly removedBindings: number;
  readonly removedAllow: number;
  readonly disabledJobs: readonly Job[];
}

interface Job {
  readonly id: string;
  readonly name: string;
}

const count = (many: number, one: string): string => `${many} ${one}${many === 1 ? "" : "s"}`;

/** By the gateway where one runs, since it has to stop the agent's turns; else in the file. */
async function takeOut(io: Io, view: AgentsView, agentId: string): Promise<Removed> {
  if (lockHolder(stateLockPath(view.stateDir)) === undefined) {
    const removed = await view.roster.remove(agentId, "cli agents delete");
    return { ...removed, disabledJobs: await disableJobs(view.stateDir, agentId) };
  }
  const allowed = view.config.tools?.agentToAgent?.allow ?? [];
  const { removedBindings, disabledJobs = [] } = await callGateway(io, "agents.delete", { agentId, deleteFiles: false }, { timeout: PATIENCE_MS });
  view.reload();
  return { removedBindings, removedAllow: allowed.filter((one) => agentKey(one) === agentId).length, disabledJobs };
}

/** Switches off the scheduled jobs of an agent that is gone, as the gateway does where one runs. Gives those that were on. */
async function disableJobs(stateDir: string, agentId: string): Promise<readonly Job[]> {
  if (!existsSync(join(stateDir, "openclaw.db"))) return [];
  const { openStore } = await import("../../../store/index.ts");
  await using store = await openStore({ stateDir, clock: systemClock });
  const rows = (await store.read("cron.job.list", { enabled: true })).filter((row) => row.enabled && row.agentId !== null && agentKey(row.agentId) === agentId);
  for (const { id, job, version } of rows) {
    await store.write("cron.job.put", { id, agentId, version, enabled: false, nextRunAt: null, job: { ...(isRecord(job) ? job : {}), enabled: false } });
  }
  return rows.map(({ id, job }) => ({ id, name: isRecord(job) && typeof job["name"] === "string" ? job["name"] : id }));
}

function placesOf(agent: Agent, { config, context, stateDir }: AgentsView) {
  const id = agentKey(agent.id);
  return { workspace: agentWorkspace(config, context, id), agentDir: agentFolder(context, agent), sessionsDir: join(stateDir, "agents", id, "sessions") };
}

async function confirmed(io: Io, agentId: string, { workspace, agentDir }: ReturnType<typeof placesOf>, force: boolean): Promise<boolean> {
  if (force) return true;
  if (!io.interactive) throw new AppError("INVALID_INPUT", `deleting an agent needs confirmation: add --force, or run this in a terminal`);
  io.err(`This removes agent ${agentId} and the bindings to it, and moves to the trash:\n  ${workspace}\n  ${agentDir}\n`);
  return io.confirm(`Delete ${agentId}?`);
}

export const remove = defineCommand({
  positionals: "<id>",
  options: {
    force: { type: "boolean", help: "Don't ask for confirmation" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw agents delete work --force", does: "Move its files to the trash in the state folder" }],
  async run({ io, values, positionals }) {
    using view = await openAgents(io);
    const agent = agentNamed(view.config, oneAgent(positionals, undefined, "openclaw agents delete work"));
    const agentId = agentKey(agent.id);
    const places = placesOf(agent, view);
    const folders = view.roster.foldersOf(agentId);
    if (!(await confirmed(io, agentId, places, values.force ?? false))) return io.err("No changes made\n");
    const { removedBindings, removedAllow, disabledJobs } = await takeOut(io, view, agentId);
    const files = await view.roster.putAway(agentId, folders);
    if (values.json) return printJson(io, { agentId, ...places, removedBindings, removedAllow, disabledJobs, files });
    const style = createStyle(io.color);
    io.out(`Deleted agent ${style.bold(agentId)}; ${count(removedBindings, "binding")} removed\n`);
    for (const file of files) {
      if (file.state === "moved") io.out(`  ${file.path} → ${file.to}\n`);
      if (file.state === "kept") io.out(`  ${file.path} stays: ${file.why}\n`);
    }
    for (const { id, name } of disabledJobs)
      io.out(io.runnable(`  scheduled job ${escapeLine(name)} is now disabled. Remove it with: openclaw cron rm ${id}\n`));
    io.out(io.runnable(`Its conversations stay in the database: openclaw sessions --agent ${agentId}\n`));
  },
});
