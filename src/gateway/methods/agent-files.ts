import { join } from "node:path";
import { AppError, systemCode } from "../../base/errors.ts";
import { ensureFolder } from "../../base/files.ts";
import { createRootedFiles, type RootedFiles } from "../../base/rooted-files.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import { hashOfText } from "../../memory/index.ts";
import type { AgentPort } from "../ports.ts";
import { bestFiles, createFileFinder } from "./agents/find-files.ts";
import type { MethodDeps } from "./deps.ts";
import type { HandlersOf } from "./handler.ts";
import { knownAgent } from "./sessions/keys.ts";

/** Files that shape an agent, as they are listed. */
const NAMES = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"] as const;
/** More than any of them should have; what is larger was not written for an agent. */
const MAX_BYTES = 2_097_152;

export interface AgentFilesDeps extends Pick<MethodDeps, "config" | "ids" | "clock"> {
  readonly agent: Pick<AgentPort, "workspace" | "versions">;
}

type File = MethodResult<"agents.files.get">["file"];

function checkName(name: string): void {
  if (!NAMES.some((known) => known === name)) throw new AppError("INVALID_INPUT", `unsupported file "${name.slice(0, 80)}"`);
}

/** Looks at a file of a workspace. Links that lead out of it, and what is no regular file, are errors; what is not there is missing. */
async function look(files: RootedFiles, workspace: string, name: string, withContent: boolean): Promise<File> {
  const path = join(workspace, name);
  let handle;
  try {
    handle = await files.open(path);
  } catch (error) {
    const cause = error instanceof AppError ? error.cause : error;
    if (systemCode(error) === "ENOENT" || systemCode(cause) === "ENOENT") return { name, path, missing: true };
    throw error;
  }
  await using file = handle;
  const { size, mtimeMs } = await file.stat();
  const facts = { name, path, missing: false, size, updatedAtMs: Math.floor(mtimeMs) };
  if (!withContent) return facts;
  if (size > MAX_BYTES) throw new AppError("INVALID_INPUT", `${name} has ${size} bytes; the limit is ${MAX_BYTES}`);
  const content = await file.readFile("utf8");
  return { ...facts, content, hash: hashOfText(content) };
}

const conflict = (name: string): AppError =>
  new AppError("CONFLICT", `${name} was changed in the meantime; read it again and repeat the change`, { details: { path: name, reason: "CONFLICT" } });

async function place(agentId: string, deps: AgentFilesDeps): Promise<{ readonly agentId: string; readonly workspace: string; readonly files: RootedFiles }> {
  const id = knownAgent(agentId, deps.config.current);
  const workspace = await deps.agent.workspace(id);
  return { agentId: id, workspace, files: createRootedFiles({ root: workspace, unique: () => deps.ids.hex(8) }) };
}

async function list(params: MethodParams<"agents.files.list">, deps: AgentFilesDeps): Promise<MethodResult<"agents.files.list">> {
  const { agentId, workspace, files } = await place(params.agentId, deps);
  // One that cannot be looked at does not hide the others.
  const lookAt = (name: string): Promise<File> => look(files, workspace, name, false).catch(() => ({ name, path: join(workspace, name), missing: true }));
  return { agentId, workspace, files: await Promise.all(NAMES.map(lookAt)) };
}

async function get(params: MethodParams<"agents.files.get">, deps: AgentFilesDeps): Promise<MethodResult<"agents.files.get">> {
  checkName(params.name);
  const { agentId, workspace, files } = await place(params.agentId, deps);
  const file = await look(files, workspace, params.name, true);
  await noteSeen({ agentId, name: params.name }, file, deps);
  return { agentId, workspace, file };
}

type Ref = Parameters<AgentPort["versions"]["note"]>[0];

/** What someone else wrote becomes a version before anything replaces it. */
async function noteSeen(ref: Ref, { content }: File, { agent }: AgentFilesDeps): Promise<void> {
  if (content !== undefined) await agent.versions.note(ref, content, { by: "outside" });
}

type Written = Awaited<ReturnType<typeof place>> & { readonly name: string; readonly content: string; readonly hash?: string | undefined };

/** Writes a file, unless it is another than the caller has seen. Before and after are versions. */
async function write({ agentId, workspace, files, name, content, hash }: Written, deps: AgentFilesDeps): Promise<File> {
  // One that is too large to be shown can be replaced all the same, and is no version.
  const before = await look(files, workspace, name, true).catch(() => undefined);
  if (hash !== undefined && (before?.hash ?? "") !== hash) throw conflict(name);
  if (before) await noteSeen({ agentId, name }, before, deps);
  ensureFolder(workspace);
  await files.write(join(workspace, name), content);
  await deps.agent.versions.note({ agentId, name }, content, { by: "page" });
  return { ...(await look(files, workspace, name, false)), content, hash: hashOfText(content) };
}

async function set(params: MethodParams<"agents.files.set">, deps: AgentFilesDeps): Promise<MethodResult<"agents.files.set">> {
  const { name, hash } = params;
  const content = params.content.toWellFormed();
  checkName(name);
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_BYTES) throw new AppError("INVALID_INPUT", `${name} has ${bytes} bytes; the limit is ${MAX_BYTES}`);
  const where = await place(params.agentId, deps);
  const file = await write({ ...where, name, content, hash }, deps);
  return { ok: true, agentId: where.agentId, workspace: where.workspace, file };
}

async function versions({ agentId: named, name }: MethodParams<"agents.files.versions">, deps: AgentFilesDeps): Promise<MethodResult<"agents.files.versions">> {
  checkName(name);
  const { agentId, workspace, files } = await place(named, deps);
  const file = await look(files, workspace, name, true);
  await noteSeen({ agentId, name }, file, deps);
  const listed = await deps.agent.versions.list({ agentId, name });
  const current = listed.findIndex(({ hash }) => hash === file.hash);
  return { agentId, name, versions: listed.map((version, at) => ({ ...version, current: at === current })) };
}

async function version(
  { agentId: named, name, id }: MethodParams<"agents.files.version">,
  deps: AgentFilesDeps,
): Promise<MethodResult<"agents.files.version">> {
  checkName(name);
  const { agentId } = await place(named, deps);
  const listed = await deps.agent.versions.list({ agentId, name });
  const at = listed.findIndex((one) => one.id === id);
  const content = await deps.agent.versions.read({ agentId, name }, id);
  const earlier = at < 0 ? undefined : listed[at + 1];
  const before = earlier && (await deps.agent.versions.read({ agentId, name }, earlier.id).catch(() => undefined));
  return { agentId, name, id, content, ...(before === undefined ? {} : { before }) };
}

async function restore(params: MethodParams<"agents.files.restore">, deps: AgentFilesDeps): Promise<MethodResult<"agents.files.restore">> {
  const { name, id, hash } = params;
  checkName(name);
  const where = await place(params.agentId, deps);
  const content = await deps.agent.versions.read({ agentId: where.agentId, name }, id);
  const file = await write({ ...where, name, content, hash }, deps);
  return { ok: true, agentId: where.agentId, workspace: where.workspace, file };
}

/** The files of a workspace that shape its agent, and a search over the names of all. */
export function agentFilesHandlers(deps: AgentFilesDeps): HandlersOf<"agents.files"> {
  const look = createFileFinder(deps.clock);
  return {
    "agents.files.find": async ({ agentId, query = "", limit = 30 }, { signal }) => {
      const found = await look(await place(agentId, deps), signal);
      return { agentId: found.agentId, files: [...(await bestFiles(found.files, { query, limit, clock: deps.clock }))], incomplete: found.incomplete };
    },
    "agents.files.list": (params) => list(params, deps),
    "agents.files.get": (params) => get(params, deps),
    "agents.files.set": (params) => set(params, deps),
    "agents.files.versions": (params) => versions(params, deps),
    "agents.files.version": (params) => version(params, deps),
    "agents.files.restore": (params) => restore(params, deps),
  };
}
