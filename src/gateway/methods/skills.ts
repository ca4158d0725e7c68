import { AppError } from "../../base/errors.ts";
import { isObject, redactConfig } from "../../config/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { AgentPort } from "../ports.ts";
import { changeFile } from "./config/change.ts";
import { currentSnapshot } from "./config/shown.ts";
import type { MethodDeps, SendTo } from "./deps.ts";
import type { CallContext, HandlersOf } from "./handler.ts";
import { agentList, knownAgent } from "./sessions/keys.ts";
import { skillChangesHandlers } from "./skill-changes.ts";

type SkillsPort = NonNullable<AgentPort["skills"]>;

export interface SkillsDeps extends Pick<MethodDeps, "config" | "ids"> {
  readonly agent: AgentPort & { readonly skills: SkillsPort };
  readonly send: SendTo;
}

async function status(params: MethodParams<"skills.status">, deps: SkillsDeps): Promise<MethodResult<"skills.status">> {
  const { agent, config } = deps;
  const workspaceDir = await agent.workspace(knownAgent(params.agentId, config.current));
  // Loaded with the agent's code, which the status needs anyway.
  const [{ skillRow }, { skills }, host] = await Promise.all([import("../../agent/index.ts"), agent.skills.status(workspaceDir), agent.skills.installHost()]);
  return { workspaceDir, managedSkillsDir: agent.skills.managedFolder, skills: skills.map((skill) => skillRow(skill, host)) };
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

/** Installs what a skill of the default agent lacks. The caller's connection gets each step; a failure carries the output. */
async function install(
  params: MethodParams<"skills.install">,
  { agent, config, send }: SkillsDeps,
  context: CallContext,
): Promise<MethodResult<"skills.install">> {
  const { name, installId, timeoutMs } = params;
  const { caller, signal } = context;
  const workspaceDir = await agent.workspace(knownAgent(undefined, config.current));
  const { warnings, ...outcome } = await agent.skills.install({
    workspaceDir,
    name,
    installId,
    timeoutMs,
    signal,
    onProgress: (progress) => void send(caller.connId, "skills.install.progress", { name, installId, ...progress }),
  });
  agent.skills.changed();
  const result = { ...outcome, ...(warnings.length === 0 ? {} : { warnings: [...warnings] }) };
  if (!outcome.ok) throw new AppError("UNAVAILABLE", outcome.message, { details: { payload: result } });
  return result;
}

/** Skills: what there is, and what is turned on. */
export function skillsHandlers(deps: SkillsDeps): HandlersOf<"skills"> {
  return {
    ...skillChangesHandlers(deps),
    "skills.status": (params) => status(params, deps),
    "skills.bins": () => bins(deps),
    "skills.install": (params, context) => install(params, deps, context),
    "skills.update": (params, { caller }) => update(params, deps, `skills.update (${caller.client.id})`),
  };
}
