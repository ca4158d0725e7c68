import { join } from "node:path";
import { AppError, systemCode } from "../../base/errors.ts";
import { ensureFolder } from "../../base/files.ts";
import { createRootedFiles, type RootedFiles } from "../../base/rooted-files.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { AgentPort } from "../ports.ts";
import type { MethodDeps } from "./deps.ts";
import type { HandlersOf } from "./handler.ts";
import { knownAgent } from "./sessions/keys.ts";

/** Files that shape an agent, as they are listed. */
const NAMES = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"] as const;
/** More than any of them should have; what is larger was not written for an agent. */
const MAX_BYTES = 2_097_152;

export interface AgentFilesDeps extends Pick<MethodDeps, "config" | "ids"> {
  readonly agent: Pick<AgentPort, "workspace">;
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
  if (size > MAX_BYTES) throw new AppError("INVALID_INPUT", `${name} has ${size} bytes, more than the ${MAX_BYTES} that are shown`);
  return { ...facts, content: await file.readFile("utf8") };
}

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
  return { agentId, workspace, file: await look(files, workspace, params.name, true) };
}

async function set(params: MethodParams<"agents.files.set">, deps: AgentFilesDeps): Promise<MethodResult<"agents.files.set">> {
  const { name, content } = params;
  checkName(name);
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_BYTES) throw new AppError("INVALID_INPUT", `${name} may have ${MAX_BYTES} bytes, not ${bytes}`);
  const { agentId, workspace, files } = await place(params.agentId, deps);
  ensureFolder(workspace);
  await files.write(join(workspace, name), content);
  return { ok: true, agentId, workspace, file: { ...(await look(files, workspace, name, false)), content } };
}

/** The files of a workspace that shape its agent. */
export function agentFilesHandlers(deps: AgentFilesDeps): HandlersOf<"agents.files"> {
  return {
    "agents.files.list": (params) => list(params, deps),
    "agents.files.get": (params) => get(params, deps),
    "agents.files.set": (params) => set(params, deps),
  };
}
