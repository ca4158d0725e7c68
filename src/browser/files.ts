/** Files that leave a page and files that go into one. */
import { readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Download, Page } from "playwright-core";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import { createRootedFiles } from "../base/rooted-files.ts";
import { formatBytes } from "../base/text.ts";
import { loadImages, loadSaving, mimeForExtension, getFileExtension, type SavedMedia } from "../media/index.ts";
import type { Tab } from "./tab.ts";

export interface FilesDeps {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "uuid" | "hex">;
  readonly stateDir: string;
  /** Where the browser writes downloads before they are stored. */
  readonly downloadsDir: string;
  /** Largest download. */
  readonly maxDownloadBytes?: number | undefined;
}

/** Where recordings grow. What is left of them goes when one ends, and with the next start of the browser. */
export const tracesFolder = ({ downloadsDir }: Pick<FilesDeps, "downloadsDir">): string => join(dirname(downloadsDir), "traces");

/** Folder below the stored media. */
const FOLDER = "browser";
const MAX_DOWNLOAD_BYTES = 100 * 1024 * 1024;
const MAX_UPLOAD_BYTES = 45 * 1024 * 1024;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_SIDE = 2000;
/** A picture of a whole page ends here. */
const MAX_PAGE_HEIGHT = 8000;
const POLL_MS = 100;

/** Where files that agents upload have to be. */
export const uploadsFolder = (): string => join(tmpdir(), "openclaw", "uploads");

/** The driver does not say how much has arrived; the file on the disk does. */
async function largestIn(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return Math.max(0, ...sizes);
}

/** Ends a download that gets too large while it runs: no site says beforehand how much it sends. */
async function finished(download: Download, { clock, downloadsDir }: FilesDeps, most: number): Promise<string> {
  const done = download.path();
  done.catch(() => undefined);
  const tooLarge = Promise.withResolvers<never>();
  tooLarge.promise.catch(() => undefined);
  let timer: Disposable | undefined;
  const poll = (): void => {
    timer = clock.after(POLL_MS, () => void largestIn(downloadsDir).then((bytes) => (bytes > most ? tooLarge.reject(limitError(most)) : poll())));
  };
  poll();
  try {
    return await Promise.race([done, tooLarge.promise]);
  } finally {
    timer?.[Symbol.dispose]();
  }
}

const limitError = (most: number): AppError => new AppError("OVERLOADED", `the file is larger than ${formatBytes(most)} and was not stored`);

export interface StoredDownload {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
}

/** Moves a finished download to the stored media. */
export async function storeDownload(download: Download, deps: FilesDeps): Promise<StoredDownload> {
  const most = deps.maxDownloadBytes ?? MAX_DOWNLOAD_BYTES;
  try {
    const from = await finished(download, deps, most);
    const { size } = await stat(from);
    if (size > most) throw limitError(most);
    const { adoptMedia } = await loadSaving();
    const saved = await adoptMedia({ from, subdir: FOLDER, originalFilename: download.suggestedFilename() }, deps);
    return { path: saved.path, name: download.suggestedFilename(), bytes: size };
  } catch (error) {
    await download.cancel().catch(() => undefined);
    await download.delete().catch(() => undefined);
    throw error;
  }
}

/** Files as a page gets them: only from the folder for uploads and from what the browser downloaded. */
export async function filesToUpload(
  paths: readonly string[],
  deps: FilesDeps,
): Promise<{ readonly name: string; readonly mimeType: string; readonly buffer: Buffer }[]> {
  if (paths.length === 0) throw new AppError("INVALID_INPUT", "paths required");
  const roots = [uploadsFolder(), join(deps.stateDir, "media", FOLDER)];
  const files = [];
  let total = 0;
  for (const path of paths) {
    const buffer = await readUpload(path, roots, deps);
    total += buffer.length;
    if (total > MAX_UPLOAD_BYTES) throw new AppError("INVALID_INPUT", `the files have more than ${formatBytes(MAX_UPLOAD_BYTES)} together, which is the limit`);
    files.push({ name: basename(path), mimeType: mimeForExtension(getFileExtension(path)) ?? "application/octet-stream", buffer });
  }
  return files;
}

async function readUpload(path: string, roots: readonly string[], { ids }: FilesDeps): Promise<Buffer> {
  if (!isAbsolute(path))
    throw new AppError(
      "PERMISSION_DENIED",
      `${basename(path)} may not be uploaded like this: use its full path, such as ${join(roots[0] ?? "", basename(path))}`,
    );
  const refused = new AppError("PERMISSION_DENIED", `${basename(path)} may not be uploaded from there: move it to ${roots[0]} first`);
  for (const root of roots) {
    try {
      await using file = await createRootedFiles({ root, unique: () => ids.hex(4) }).open(path);
      const { size } = await file.stat();
      if (size > MAX_UPLOAD_BYTES)
        throw new AppError("INVALID_INPUT", `${basename(path)} has ${formatBytes(size)}; at most ${formatBytes(MAX_UPLOAD_BYTES)} can be uploaded`);
      return await file.readFile();
    } catch (error) {
      if (error instanceof AppError && error.code === "INVALID_INPUT") throw error;
      if (error instanceof AppError && error.code === "NOT_FOUND" && path.startsWith(root)) throw error;
    }
  }
  throw refused;
}

export interface Picture {
  readonly path: string;
  readonly data: string;
  readonly mimeType: string;
}

export interface PictureOptions {
  readonly type: "png" | "jpeg";
  readonly fullPage: boolean;
  readonly target?: { screenshot(options: { type: "png" | "jpeg"; timeout: number }): Promise<Buffer> } | undefined;
  readonly timeout: number;
}

async function taken(page: Page, { type, fullPage, target, timeout }: PictureOptions): Promise<Buffer> {
  if (target) return target.screenshot({ type, timeout });
  if (!fullPage) return page.screenshot({ type, timeout, animations: "disabled", caret: "hide" });
  const size = await page.evaluate("({ width: document.documentElement.clientWidth, height: document.documentElement.scrollHeight })");
  const { width, height } = size as { readonly width: number; readonly height: number };
  if (height <= MAX_PAGE_HEIGHT) return page.screenshot({ type, timeout, fullPage, animations: "disabled" });
  return page.screenshot({ type, timeout, fullPage, animations: "disabled", clip: { x: 0, y: 0, width, height: MAX_PAGE_HEIGHT } });
}

/** A picture of a page, small enough for a model, and stored. */
export async function takePicture(tab: Tab, options: PictureOptions, deps: FilesDeps): Promise<Picture> {
  const bytes = await taken(tab.page, options);
  const { imageSize, loadSharp, resizeToJpeg } = await loadImages();
  const size = imageSize(bytes);
  const isLarge = bytes.length > MAX_IMAGE_BYTES || Math.max(size?.width ?? 0, size?.height ?? 0) > MAX_SIDE;
  const sharp = isLarge ? await loadSharp().catch(() => undefined) : undefined;
  const data = sharp ? await resizeToJpeg(sharp, bytes, { maxSide: MAX_SIDE, quality: 80 }) : bytes;
  const mimeType = sharp || options.type === "jpeg" ? "image/jpeg" : "image/png";
  const { path } = await save(data, mimeType, deps);
  return { path, data: data.toString("base64"), mimeType };
}

export async function savePdf(tab: Tab, deps: FilesDeps): Promise<SavedMedia> {
  return save(await tab.page.pdf({ printBackground: true }), "application/pdf", deps);
}

async function save(buffer: Buffer, contentType: string, { stateDir, ids }: FilesDeps): Promise<SavedMedia> {
  const { saveMedia } = await loadSaving();
  return saveMedia({ buffer, contentType, subdir: FOLDER, maxBytes: MAX_DOWNLOAD_BYTES }, { stateDir, ids });
}
