import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { ImageContent } from "../../protocol/index.ts";
import type { AgentFiles } from "./deps.ts";

const MOST_BYTES = 25 * 1024 * 1024;
/** Where files of nodes go in a workspace. */
export const NODES_FOLDER = ".openclaw/nodes";
const IMAGES: Readonly<Record<string, string>> = { jpg: "image/jpeg", jpeg: "image/jpeg", png: "image/png" };
const CLIPS = new Set(["mp4", "mov", "webm"]);

function dataOf(payload: unknown): { readonly format: string; readonly data: string; readonly facts: Readonly<Record<string, unknown>> } {
  const { format, base64, ...facts } = isRecord(payload) ? payload : {};
  if (typeof base64 !== "string" || base64 === "" || typeof format !== "string") throw new AppError("UNAVAILABLE", "the node returned no image or recording");
  if (base64.length > (MOST_BYTES * 4) / 3) throw new AppError("UNAVAILABLE", `the node returned more than ${MOST_BYTES / 1024 / 1024} MB`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new AppError("UNAVAILABLE", "the node returned data that is not base64");
  return { format: format.toLowerCase(), data: base64, facts };
}

/** A picture that a node sent. */
export function pictureOf(payload: unknown): { readonly image: ImageContent; readonly text: string } {
  const { format, data, facts } = dataOf(payload);
  const mimeType = IMAGES[format];
  if (mimeType === undefined) throw new AppError("UNAVAILABLE", "the node returned an image that is neither JPEG nor PNG");
  const size = typeof facts["width"] === "number" && typeof facts["height"] === "number" ? ` ${facts["width"]}×${facts["height"]}` : "";
  return { image: { type: "image", data, mimeType }, text: `Picture${size}` };
}

/** Writes a recording of a node to the path that the agent chose, or into a folder of the workspace. */
export async function clipOf(
  payload: unknown,
  files: Pick<AgentFiles, "resolve" | "write">,
  { outPath, name }: { readonly outPath: string | undefined; readonly name: string },
): Promise<{ readonly path: string; readonly bytes: number }> {
  const { format, data } = dataOf(payload);
  if (!CLIPS.has(format)) throw new AppError("UNAVAILABLE", "the node returned a recording in an unknown format");
  const content = Buffer.from(data, "base64");
  const path = outPath ?? `${NODES_FOLDER}/${name}.${format}`;
  await files.write(files.resolve(path), content);
  return { path, bytes: content.length };
}
