import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { createRootedFiles } from "../../base/rooted-files.ts";
import type { ImageContent } from "../../protocol/index.ts";

const MOST_BYTES = 25 * 1024 * 1024;
const FOLDER = ".openclaw/nodes";
const IMAGES: Readonly<Record<string, string>> = { jpg: "image/jpeg", jpeg: "image/jpeg", png: "image/png" };
const CLIPS = new Set(["mp4", "mov", "webm"]);

function dataOf(payload: unknown): { readonly format: string; readonly data: string; readonly facts: Readonly<Record<string, unknown>> } {
  const { format, base64, ...facts } = isRecord(payload) ? payload : {};
  if (typeof base64 !== "string" || base64 === "" || typeof format !== "string")
    throw new AppError("UNAVAILABLE", "the node answered without a picture or recording");
  if (base64.length > (MOST_BYTES * 4) / 3) throw new AppError("UNAVAILABLE", `the node answered with more than ${MOST_BYTES / 1024 / 1024} MB`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new AppError("UNAVAILABLE", "the node answered with something that is not base64");
  return { format: format.toLowerCase(), data: base64, facts };
}

/** A picture that a node sent. */
export function pictureOf(payload: unknown): { readonly image: ImageContent; readonly text: string } {
  const { format, data, facts } = dataOf(payload);
  const mimeType = IMAGES[format];
  if (mimeType === undefined) throw new AppError("UNAVAILABLE", "the node answered with a picture that is neither JPEG nor PNG");
  const size = typeof facts["width"] === "number" && typeof facts["height"] === "number" ? ` ${facts["width"]}×${facts["height"]}` : "";
  return { image: { type: "image", data, mimeType }, text: `Picture${size}` };
}

/** Writes a recording of a node into the workspace. */
export async function clipOf(payload: unknown, workspaceDir: string, name: string): Promise<{ readonly path: string; readonly bytes: number }> {
  const { format, data } = dataOf(payload);
  if (!CLIPS.has(format)) throw new AppError("UNAVAILABLE", "the node answered with a recording of an unknown format");
  const content = Buffer.from(data, "base64");
  const path = `${FOLDER}/${name}.${format}`;
  await createRootedFiles({ root: workspaceDir, unique: () => name }).write(join(workspaceDir, path), content);
  return { path, bytes: content.length };
}
