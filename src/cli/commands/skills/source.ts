import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createSkills, skillRow, skillsOfAgent, type SkillProblem, type SkillRow, type SkillStatus } from "../../../agent/index.ts";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { lockHolder } from "../../../base/instance-lock.ts";
import { bundledSkillsFolder } from "../../../base/program-folders.ts";
import { agentWorkspace, defaultAgentId, stateLockPath, type OpenClawConfig } from "../../../config/index.ts";
import { loadSkillInstall } from "../../../plugins/index.ts";
import { loadFor } from "../../config-source.ts";
import { tryGateway } from "../../gateway-call.ts";
import { findTarget, type Target } from "../../gateway-target.ts";
import type { Io } from "../../io.ts";

const PATIENCE_MS = 5000;

/** Skills as a command sees them. */
export interface SkillsView {
  readonly config: OpenClawConfig;
  readonly stateDir: string;
  readonly agentId: string;
  readonly workspaceDir: string;
  readonly managedSkillsDir: string;
  /** As the running gateway says, else as this command finds them. */
  readonly rows: readonly ListedSkill[];
  /** As this command finds them. */
  readonly found: readonly SkillStatus[];
  readonly problems: readonly SkillProblem[];
  /** The gateway of this state folder, when it answers. */
  readonly gateway?: Target | undefined;
}

export interface ListedSkill extends SkillRow {
  /** The agent has a list of skills, and this one is not on it. */
  readonly blockedByAgent: boolean;
}

/** The folders that skills are installed into. */
export function skillPlaces(io: Io, agent?: string) {
  const { snapshot, paths, env } = loadFor(io);
  const { config } = snapshot;
  const agentId = agent?.trim().toLowerCase() || defaultAgentId(config);
  const ids = [defaultAgentId(config), ...(config.agents?.list ?? []).map(({ id }) => id.toLowerCase())];
  if (!ids.includes(agentId)) throw new AppError("NOT_FOUND", `there is no agent ${JSON.stringify(agent)}; there are: ${[...new Set(ids)].join(", ")}`);
  const workspaceDir = agentWorkspace(config, { env, exists: existsSync, osHome: homedir(), cwd: paths.home }, agentId);
  return { config, env, home: paths.home, stateDir: paths.state, agentId, workspaceDir, managedSkillsDir: join(paths.state, "skills") };
}

/** Every skill of an agent. Asks the gateway where one runs, because its environment decides what a skill lacks. */
export async function loadSkillsFor(io: Io, agent?: string): Promise<SkillsView> {
  const places = skillPlaces(io, agent);
  const { config, env, stateDir, agentId, workspaceDir, managedSkillsDir } = places;
  const { recoverSkills, installHost } = await loadSkillInstall();
  for (const folder of [managedSkillsDir, join(workspaceDir, "skills")]) for (const done of recoverSkills(folder)) io.err(`${done}\n`);
  const { loadPlugins } = await import("../../plugin-source.ts");
  const { entries } = (await loadPlugins(io)).inventory;
  const plugins = entries.flatMap(({ enabled, error, skillDirs = [] }) => (enabled && error === undefined ? skillDirs : []));
  const { platform } = process;
  const where = () => ({ home: places.home, stateFolder: stateDir, bundled: bundledSkillsFolder(io.env), plugins });
  using skills = createSkills({ config: () => config, places: where, env, platform, clock: systemClock });
  const [{ skills: found, problems }, host, running] = await Promise.all([
    skills.status(workspaceDir),
    installHost(config, { env, platform }),
    askGateway(io, stateDir, agentId),
  ]);
  const filter = skillsOfAgent(config, agentId);
  const rows = running?.rows ?? found.map((skill) => skillRow(skill, host));
  return {
    config,
    stateDir,
    agentId,
    workspaceDir,
    managedSkillsDir,
    rows: rows.map((row) => ({ ...row, blockedByAgent: filter !== undefined && !filter.includes(row.name) })),
    found,
    problems,
    gateway: running?.target,
  };
}

async function askGateway(io: Io, stateDir: string, agentId: string): Promise<{ readonly target: Target; readonly rows: readonly SkillRow[] } | undefined> {
  if (lockHolder(stateLockPath(stateDir)) === undefined) return undefined;
  const target = await findTarget(io, {});
  if (target.kind !== "local") return undefined;
  const answer = await tryGateway(io, target, PATIENCE_MS, (client) => client.request("skills.status", { agentId }));
  return answer.value && { target, rows: answer.value.skills };
}

/** A skill by its name or key. */
export function namedSkill({ rows }: SkillsView, name: string | undefined): ListedSkill {
  if (name === undefined) throw new AppError("INVALID_INPUT", "expected a skill name; list them with: openclaw skills list");
  const found = rows.find((row) => row.name === name) ?? rows.find((row) => row.skillKey === name);
  if (found) return found;
  throw new AppError("NOT_FOUND", `skill ${JSON.stringify(name)} not found; list them with: openclaw skills list`);
}

/** Everything that a skill lacks, in words. */
export function lacksOf({ missing }: Pick<ListedSkill, "missing">): readonly string[] {
  return [
    ...missing.bins,
    ...(missing.anyBins.length === 0 ? [] : [`one of ${missing.anyBins.join(", ")}`]),
    ...missing.env.map((name) => `$${name}`),
    ...missing.config.map((path) => `${path} in the configuration`),
    ...(missing.os.length === 0 ? [] : [`${missing.os.join(" or ")} as its system`]),
  ];
}
