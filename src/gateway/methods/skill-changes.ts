import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { createRootedFiles } from "../../base/rooted-files.ts";
import { hashOfText } from "../../memory/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { SkillsDeps } from "./skills.ts";
import { unavailable, type CallContext, type HandlersOf } from "./handler.ts";
import { knownAgent } from "./sessions/keys.ts";

type Changing = "skills.review" | "skills.add" | "skills.remove" | "skills.create" | "skills.file";

/** Where a skill comes from and goes to. */
export interface SkillSourceRequest {
  readonly spec: string;
  readonly sha256?: string | undefined;
  readonly skillsDir: string;
  readonly signal: AbortSignal;
}

/** Brings skills onto this machine, writes and deletes them. Nothing of them runs. */
export interface SkillAdminPort {
  review(request: SkillSourceRequest): Promise<MethodResult<"skills.review">>;
  /** Rejects with `CONFLICT` when the files are not those of the digest. */
  install(request: SkillSourceRequest & { readonly digest: string; readonly force: boolean }): Promise<Omit<MethodResult<"skills.add">, "ok">>;
  remove(request: { readonly name: string; readonly skillsDir: string; readonly force: boolean }): Promise<Omit<MethodResult<"skills.remove">, "ok">>;
  create(request: {
    readonly name: string;
    readonly description?: string | undefined;
    readonly skillsDir: string;
    readonly force: boolean;
  }): Promise<Omit<MethodResult<"skills.create">, "ok">>;
  /** How a skill was installed; undefined when it was not. */
  installed(baseDir: string): Promise<MethodResult<"skills.file.get">["installed"]>;
}

/** What comes with the program or a plugin is replaced with it. */
const OWN = new Set(["openclaw-managed", "openclaw-workspace", "agents-skills-personal", "agents-skills-project"]);
const FILE = "SKILL.md";

async function folderOf(agentId: string | undefined, { agent, config }: SkillsDeps): Promise<string> {
  return agentId === undefined ? agent.skills.managedFolder : join(await agent.workspace(knownAgent(agentId, config.current)), "skills");
}

async function findSkill({ name, agentId }: { readonly name: string; readonly agentId?: string | undefined }, { agent, config }: SkillsDeps) {
  const { skills } = await agent.skills.status(await agent.workspace(knownAgent(agentId, config.current)));
  const skill = skills.find((one) => one.name === name);
  if (!skill) throw new AppError("NOT_FOUND", `skill ${JSON.stringify(name)} not found: it was removed, or its SKILL.md is being changed. Try again`);
  return { skill, editable: OWN.has(skill.source) };
}

async function readFile(baseDir: string, { ids }: SkillsDeps): Promise<string> {
  await using file = await createRootedFiles({ root: baseDir, unique: () => ids.hex(8) }).open(join(baseDir, FILE));
  return file.readFile("utf8");
}

async function getFile(params: MethodParams<"skills.file.get">, admin: SkillAdminPort, deps: SkillsDeps): Promise<MethodResult<"skills.file.get">> {
  const { skill, editable } = await findSkill(params, deps);
  const [content, installed] = await Promise.all([readFile(skill.baseDir, deps), editable ? admin.installed(skill.baseDir) : undefined]);
  const { name, filePath: path } = skill;
  return { name, path, content, hash: hashOfText(content), editable, ...(installed === undefined ? {} : { installed }) };
}

async function setFile(params: MethodParams<"skills.file.set">, deps: SkillsDeps): Promise<MethodResult<"skills.file.set">> {
  const { skill, editable } = await findSkill(params, deps);
  const { baseDir, filePath, source, name } = skill;
  if (!editable)
    throw new AppError("INVALID_INPUT", `${name} comes with OpenClaw or a plugin; copy its folder into your workspace's skills folder and edit the copy`);
  const { checkSkill, parseSkill } = await import("../../agent/index.ts");
  const content = params.content.toWellFormed();
  const { skill: parsed, problems } = parseSkill(content, { filePath, baseDir, folderName: name, source });
  if (!parsed) throw new AppError("INVALID_INPUT", `this is not a skill: ${problems.join("; ")}`);
  if (hashOfText(await readFile(baseDir, deps)) !== params.hash)
    throw new AppError("CONFLICT", `${filePath} was changed in the meantime; read it again and repeat the change`, {
      details: { path: filePath, reason: "CONFLICT" },
    });
  await createRootedFiles({ root: baseDir, unique: () => deps.ids.hex(8) }).write(join(baseDir, FILE), content);
  deps.agent.skills.changed();
  return { ok: true, name: parsed.name, hash: hashOfText(content), remarks: checkSkill(baseDir).remarks.map((remark) => ({ ...remark })) };
}

/** Brings skills in, writes and removes them. */
export function skillChangesHandlers(deps: SkillsDeps): HandlersOf<Changing> {
  const { agent } = deps;
  const admin = agent.skills.admin;
  if (!admin) return unavailable("skills.review", "skills.add", "skills.remove", "skills.create", "skills.file");
  const sourceOf = async ({ source, sha256, agentId }: MethodParams<"skills.review">, { signal }: CallContext): Promise<SkillSourceRequest> => ({
    spec: source,
    sha256,
    skillsDir: await folderOf(agentId, deps),
    signal,
  });
  const changed = <T>(result: T): T => {
    agent.skills.changed();
    return result;
  };
  return {
    "skills.review": async (params, context) => admin.review(await sourceOf(params, context)),
    "skills.add": async ({ digest, force = false, ...params }, context) =>
      changed({ ok: true, ...(await admin.install({ ...(await sourceOf(params, context)), digest, force })) }),
    "skills.remove": async ({ name, agentId, force = false }) =>
      changed({ ok: true, ...(await admin.remove({ name, skillsDir: await folderOf(agentId, deps), force })) }),
    "skills.create": async ({ name, description, agentId, force = false }) =>
      changed({ ok: true, ...(await admin.create({ name, description, skillsDir: await folderOf(agentId, deps), force })) }),
    "skills.file.get": (params) => getFile(params, admin, deps),
    "skills.file.set": (params) => setFile(params, deps),
  };
}
