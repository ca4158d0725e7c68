import { createHash } from "node:crypto";
import { isAbsolute, resolve } from "node:path";
import { AppError, messageOf } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import { isRecord } from "../../base/records.ts";
import { createRootedFiles, type CheckAccess, type RootedFiles } from "../../base/rooted-files.ts";
import { expandHome } from "../../config/index.ts";
import { execSettings } from "../../tools/index.ts";
import { HostError } from "./host-error.ts";
import { agentOf, type HostCall, type RunCommandDeps } from "./run-command.ts";

export interface HostFilesDeps extends RunCommandDeps {
  /** Throws for a real path that nobody may reach. */
  readonly checkFile: CheckAccess;
  readonly unique: () => string;
}

/** Bytes of one file: as base64 it fits into a message. */
export const MOST_FILE_BYTES = 8 * 1024 * 1024;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const invalid = (message: string): HostError => new HostError("INVALID_REQUEST", message);
const tooLarge = (bytes: number): HostError => invalid(`the file has ${bytes} bytes; the limit per transfer is ${MOST_FILE_BYTES}`);
const hashOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** `nodeHost.files.folders`: nothing is offered without one. */
export function fileFolders({ config, home }: Pick<HostFilesDeps, "config" | "home">): readonly string[] {
  return (config().nodeHost?.files?.folders ?? []).flatMap((folder) => {
    const path = expandHome(folder.trim(), home);
    return isAbsolute(path) ? [resolve(path)] : [];
  });
}

interface Target {
  readonly path: string;
  readonly files: RootedFiles;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The file that is meant, with access to its folder and no other. A relative path counts from the first folder. */
function targetOf({ params }: HostCall, deps: HostFilesDeps): Target {
  const fields = isRecord(params) ? params : {};
  const written = fields["path"];
  const folders = fileFolders(deps);
  const [first] = folders;
  if (typeof written !== "string" || written.trim() === "" || written.includes("\0")) throw invalid("path is missing");
  if (first === undefined) throw new HostError("FILES_DISABLED", "this node offers no folders; set nodeHost.files.folders in its configuration");
  const path = resolve(first, expandHome(written, deps.home));
  const root = folders.find((folder) => isInside(folder, path));
  if (root === undefined) throw new HostError("FILE_DENIED", `${path} is outside of the folders that this node offers (nodeHost.files.folders)`);
  return { path, fields, files: createRootedFiles({ root, check: deps.checkFile, unique: deps.unique }) };
}

/** Files are moved under the rules of commands: `full` without questions moves them, everything between that and `deny` needs an approval. */
function checkRules({ fields }: Target, { config, rules }: HostFilesDeps): void {
  const agentId = agentOf(fields["agentId"]);
  const settings = execSettings(config(), agentId, { host: "node" });
  const { security, ask } = rules.effective(agentId, settings);
  if (security === "deny") throw new HostError("FILES_DISABLED", "FILES_DISABLED: security=deny");
  if (fields["approved"] === true || (security === "full" && ask === "off")) return;
  throw new HostError("FILE_DENIED", ask === "off" ? "FILE_DENIED: only security=full moves files without questions" : "FILE_DENIED: approval required");
}

const explained = (error: unknown): HostError =>
  error instanceof HostError
    ? error
    : new HostError(error instanceof AppError && error.code === "PERMISSION_DENIED" ? "FILE_DENIED" : "UNAVAILABLE", messageOf(error));

export async function readHostFile(call: HostCall, deps: HostFilesDeps): Promise<unknown> {
  const target = targetOf(call, deps);
  checkRules(target, deps);
  try {
    await using file = await target.files.open(target.path);
    const { size } = await file.stat();
    if (size > MOST_FILE_BYTES) throw tooLarge(size);
    // A file that grows while it is read is cut at the limit.
    const content = Buffer.alloc(MOST_FILE_BYTES);
    let length = 0;
    for (let got = -1; got !== 0 && length < content.length; length += got) got = (await file.read(content, length, content.length - length)).bytesRead;
    const bytes = content.subarray(0, length);
    return { path: target.path, size: length, sha256: hashOf(bytes), base64: bytes.toString("base64") };
  } catch (error) {
    throw explained(error);
  }
}

export async function writeHostFile(call: HostCall, deps: HostFilesDeps): Promise<unknown> {
  const target = targetOf(call, deps);
  const { path, fields, files } = target;
  const { base64, overwrite } = fields;
  if (typeof base64 !== "string" || !BASE64.test(base64)) throw invalid("base64 is missing, or is not base64");
  const content = Buffer.from(base64, "base64");
  if (content.length > MOST_FILE_BYTES) throw tooLarge(content.length);
  checkRules(target, deps);
  try {
    if (overwrite !== true && (await isThere(files, path))) throw new HostError("FILE_EXISTS", `${path} exists; send overwrite: true to replace it`);
    call.begin();
    await files.write(path, content);
    return { path, size: content.length, sha256: hashOf(content) };
  } catch (error) {
    throw explained(error);
  }
}

async function isThere(files: RootedFiles, path: string): Promise<boolean> {
  try {
    await using _ = await files.open(path);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") return false;
    throw error;
  }
}
