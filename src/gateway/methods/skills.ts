import { isObject, redactConfig, type OpenClawConfig } from "../../config/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { AgentPort } from "../ports.ts";
import { changeFile } from "./config/change.ts";
import { currentSnapshot } from "./config/shown.ts";
import type { MethodDeps } from "./deps.ts";
import { unavailable, type HandlersOf } from "./handler.ts";
import { agentList, knownAgent } from "./sessions/keys.ts";

/** A way to get what a skill lacks. */
type InstallOption = { readonly id: string; readonly kind: string; readonly label: string; readonly bins: string[] };

const KINDS = ["brew", "node", "go", "uv", "download"] as const;
type Kind = (typeof KINDS)[number];
type Fields = Readonly<Record<string, unknown>>;

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter((text) => typeof text === "string") : []);

function labelOf(kind: Kind, option: Fields, bins: readonly string[]): string {
  if (typeof option["label"] === "string" && option["label"].trim() !== "") return option["label"].trim();
  const named = (field: string): string => (typeof option[field] === "string" ? option[field] : bins.join(", ") || "it");
  if (kind === "brew") return `Install ${named("formula")} (brew)`;
  if (kind === "node") return `Install ${named("package")} (npm)`;
  if (kind === "go") return `Install ${named("module")} (go)`;
  if (kind === "uv") return `Install ${named("package")} (uv)`;
  return `Download ${named("url")}`;
}

/** The kinds in the order in which one is chosen. Brew is at home on macOS only. */
function order(platform: string, preferBrew: boolean): readonly Kind[] {
  const last: readonly Kind[] = ["uv", "node", "go", "download", "brew"];
  if (platform !== "darwin") return last;
  return preferBrew ? ["brew", "uv", "node", "go", "download"] : ["uv", "node", "brew", "go", "download"];
}

/** What is offered of a skill's `install` list: the best way for this machine, or every download when there is nothing else. */
export function installOptions(written: readonly unknown[], host: { readonly platform: string; readonly preferBrew: boolean }): InstallOption[] {
  const options = written.flatMap((option, index) => {
    const kind = isObject(option) ? KINDS.find((known) => known === option["kind"]) : undefined;
    if (!isObject(option) || kind === undefined) return [];
    const systems = textsOf(option["os"]);
    if (systems.length > 0 && !systems.includes(host.platform)) return [];
    const bins = textsOf(option["bins"]);
    const id = typeof option["id"] === "string" && option["id"].trim() !== "" ? option["id"].trim() : `${kind}-${index}`;
    return [{ id, kind, label: labelOf(kind, option, bins), bins }];
  });
  if (options.every(({ kind }) => kind === "download")) return options;
  const best = order(host.platform, host.preferBrew)
    .map((kind) => options.find((option) => option.kind === kind))
    .find((option) => option !== undefined);
  return best ? [best] : [];
}

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
export function skillsHandlers(deps: SkillsDeps): HandlersOf<"skills"> {
  return {
    "skills.status": (params) => status(params, deps),
    "skills.bins": () => bins(deps),
    ...unavailable("skills.install"),
    "skills.update": (params, { caller }) => update(params, deps, `skills.update (${caller.client.id})`),
  };
}
