import { isObject, redactConfig, type OpenClawConfig } from "../../config/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { AgentPort } from "../ports.ts";
import { changeFile } from "./config/change.ts";
import { currentSnapshot } from "./config/shown.ts";
import type { MethodDeps } from "./deps.ts";
import type { Handlers } from "./handler.ts";
import { agentList, knownAgent } from "./sessions/keys.ts";
import { installOptions } from "./skills/install-options.ts";

type SkillsPort = NonNullable<AgentPort["skills"]>;
type FoundSkill = Awaited<ReturnType<SkillsPort["status"]>>["skills"][number];
type SkillRow = MethodResult<"skills.status">["skills"][number];

export interface SkillsDeps extends Pick<MethodDeps, "config"> {
  readonly agent: AgentPort & { readonly skills: SkillsPort };
}

function rowOf(skill: FoundSkill, config: OpenClawConfig, platform: string): SkillRow {
  const { name, description, source, filePath, baseDir, key, primaryEnv, emoji, homepage, always, os, requires, install, ...verdict } = skill;
  const { missing, disabled, blockedByAllowlist, eligible } = verdict;
  return {
    name,
    description,
    source,
    bundled: source === "openclaw-bundled",
    filePath,
    baseDir,
    skillKey: key,
    ...(primaryEnv === undefined ? {} : { primaryEnv }),
    ...(emoji === undefined ? {} : { emoji }),
    ...(homepage === undefined ? {} : { homepage }),
    always,
    disabled,
    blockedByAllowlist,
    eligible,
    requirements: { ...requires, os },
    missing,
    configChecks: requires.config.map((path) => ({ path, satisfied: !missing.config.includes(path) })),
    install: installOptions(install, { platform, preferBrew: config.skills?.install?.preferBrew ?? true }),
  };
}

async function status(params: MethodParams<"skills.status">, deps: SkillsDeps): Promise<MethodResult<"skills.status">> {
  const { agent, config } = deps;
  const workspaceDir = await agent.workspace(knownAgent(params.agentId, config.current));
  const { skills } = await agent.skills.status(workspaceDir);
  const rows = skills.map((skill) => rowOf(skill, config.current, agent.skills.platform));
  return { workspaceDir, managedSkillsDir: agent.skills.managedFolder, skills: rows };
}

/** Programs that any skill of any agent asks for or brings. */
async function bins({ agent, config }: SkillsDeps): Promise<MethodResult<"skills.bins">> {
  const workspaces = new Set(await Promise.all(agentList(config.current).map(async ({ id }) => agent.workspace(id.toLowerCase()))));
  const found = await Promise.all([...workspaces].map((workspace) => agent.skills.status(workspace)));
  const brought = (install: readonly unknown[]): readonly string[] =>
    install.flatMap((option) => (isObject(option) && Array.isArray(option["bins"]) ? option["bins"].filter((bin) => typeof bin === "string") : []));
  const all = found.flatMap(({ skills }) => skills.flatMap(({ requires, install }) => [...requires.bins, ...requires.anyBins, ...brought(install)]));
  return { bins: [...new Set(all.map((bin) => bin.trim()).filter(Boolean))].sort() };
}

/** An empty text takes a variable or the key away. */
const orNull = (text: string): string | null => (text.trim() === "" ? null : text.trim());

async function update(params: MethodParams<"skills.update">, deps: SkillsDeps, by: string): Promise<MethodResult<"skills.update">> {
  const { config, agent } = deps;
  const { skillKey, enabled, apiKey, env } = params;
  const variables = env && Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (name.trim() === "" ? [] : [[name.trim(), orNull(value)]])));
  const entry = {
    ...(enabled === undefined ? {} : { enabled }),
    ...(apiKey === undefined ? {} : { apiKey: orNull(apiKey) }),
    ...(variables === undefined ? {} : { env: variables }),
  };
  const { hash, exists } = currentSnapshot(config);
  await changeFile(config, { kind: "patch", value: { skills: { entries: { [skillKey]: entry } } } }, { ...(exists ? { baseHash: hash } : {}), by });
  agent.skills.changed();
  const shown = redactConfig(config.current).skills?.entries?.[skillKey] ?? {};
  return { ok: true, skillKey, config: { ...shown } };
}

/** Skills: what there is, and what is turned on. */
export function skillsHandlers(deps: SkillsDeps): Handlers {
  return {
    "skills.status": (params) => status(params, deps),
    "skills.bins": () => bins(deps),
    "skills.update": (params, { caller }) => update(params, deps, `skills.update (${caller.client.id})`),
  };
}
