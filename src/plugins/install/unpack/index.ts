import { statSync } from "node:fs";
import { AppError, fileError, messageOf } from "../../../base/errors.ts";
import { formatBytes } from "../../../base/text.ts";
import { LIMITS, type InstallLimits } from "../limits.ts";
import { createWriter } from "./writer.ts";

const ARCHIVE = /\.(?:zip|tgz|tar\.gz|tar)$/i;

export const isArchive = (path: string): boolean => ARCHIVE.test(path);

/** Unpacks an archive into an empty folder. Throws at the first entry that is not acceptable; what was written until then is the caller's to remove. `shown`: how messages call it. */
export async function unpack(
  archive: string,
  folder: string,
  { limits = LIMITS, signal, shown = archive }: { readonly limits?: InstallLimits; readonly signal?: AbortSignal | undefined; readonly shown?: string } = {},
): Promise<void> {
  let size: number;
  try {
    size = statSync(archive).size;
  } catch (error) {
    throw fileError(shown, "could not open the archive", error);
  }
  if (size > limits.archiveBytes)
    throw new AppError("INVALID_INPUT", `${shown} has ${formatBytes(size)}, at most ${formatBytes(limits.archiveBytes)} are unpacked`);
  const writer = createWriter(folder, size, limits);
  try {
    if (/\.zip$/i.test(archive)) await (await import("./zip.ts")).unpackZip(archive, writer, signal);
    else await (await import("./tar.ts")).unpackTar(archive, !/\.tar$/i.test(archive), writer, signal);
    await writer.finish();
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (signal?.aborted) throw new AppError("CANCELLED", "the install was cancelled", { cause: error });
    throw new AppError("INVALID_INPUT", `${shown} cannot be unpacked: ${messageOf(error)}; it is damaged or no archive`, { cause: error });
  }
}
