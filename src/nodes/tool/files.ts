/** Files between a node and this side: by the rules of both, and nothing of their content is shown to the model. */
import { createHash } from "node:crypto";
import { posix, win32 } from "node:path";
import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { ToolCall } from "../../tools/index.ts";
import type { NodeEntry } from "../registry.ts";
import type { AgentFiles, NodeActionDeps } from "./deps.ts";
import { NODES_FOLDER } from "./media.ts";
import { numberIn, required, textIn } from "./params.ts";
import { moveFile } from "./run.ts";

export interface MovedFile {
  readonly ok: true;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

const MOST_BYTES = 8 * 1024 * 1024;
const MOVE_MS = 60_000;

const hashOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** The last part of a path of any platform, safe as a name here. */
function nameOf(path: string): string {
  const name = win32.basename(posix.basename(path)).replaceAll(/[^\p{L}\p{N}._ -]/gu, "_");
  return name.replace(/^\.+/, "") || "file";
}

/** Copies a file of a node to this side. */
export async function getFile(deps: NodeActionDeps, call: ToolCall, node: NodeEntry): Promise<MovedFile> {
  const { params } = call;
  const path = required(params, "path");
  const to = textIn(params, "outPath") ?? `${NODES_FOLDER}/${nameOf(path)}`;
  const files = await deps.files(call);
  await files.permit([files.resolve(to)]);
  const timeoutMs = numberIn(params, "invokeTimeoutMs") ?? MOVE_MS;
  const answer = await moveFile(deps, call, node, { command: "file.read", params: { path }, timeoutMs });
  const { base64, sha256 } = isRecord(answer) ? answer : {};
  if (typeof base64 !== "string" || base64.length > (MOST_BYTES * 4) / 3 + 4)
    throw new AppError("UNAVAILABLE", "the node returned no file, or one that is too large");
  const content = Buffer.from(base64, "base64");
  const hash = hashOf(content);
  if (typeof sha256 === "string" && sha256 !== hash) throw new AppError("UNAVAILABLE", "the file did not arrive as the node sent it: its SHA-256 differs");
  await files.write(files.resolve(to), content);
  return { ok: true, path: to, bytes: content.length, sha256: hash };
}

async function readWhole(files: AgentFiles, written: string): Promise<Buffer> {
  await using file = await files.open(files.resolve(written));
  const { size } = await file.stat();
  if (size > MOST_BYTES) throw new AppError("INVALID_INPUT", `${written} has ${size} bytes; the limit per transfer is ${MOST_BYTES}`);
  return file.readFile();
}

/** Copies a file of this side to a node. */
export async function putFile(deps: NodeActionDeps, call: ToolCall, node: NodeEntry): Promise<MovedFile> {
  const { params } = call;
  const [file, path] = [required(params, "file"), required(params, "path")];
  const content = await readWhole(await deps.files(call), file);
  const written = { path, base64: content.toString("base64"), overwrite: params["overwrite"] === true };
  await moveFile(deps, call, node, { command: "file.write", params: written, timeoutMs: numberIn(params, "invokeTimeoutMs") ?? MOVE_MS });
  return { ok: true, path, bytes: content.length, sha256: hashOf(content) };
}
