/** Files that came with messages. */
import type { TelegramClient } from "./api/client.ts";
import { unfit } from "./api/failure.ts";
import { fieldsOf, textOf } from "./fields.ts";

/** The Bot API gives no larger ones. */
const MAX_BYTES = 20 * 1024 * 1024;

export async function fetchFile(client: TelegramClient, ref: unknown, maxBytes: number, signal: AbortSignal) {
  const { fileId, mimeType, fileName } = fieldsOf(ref) ?? {};
  const id = textOf(fileId);
  if (id === undefined) throw unfit("getFile", "a file of Telegram is named by its fileId, and this one has none");
  const limit = Math.min(maxBytes, MAX_BYTES);
  const file = await client.call("getFile", { file_id: id }, { signal });
  const path = textOf(file.file_path);
  if (path === undefined) throw unfit("getFile", "Telegram names no place to download the file from; send it again");
  if ((file.file_size ?? 0) > limit)
    throw unfit("getFile", `the file has ${file.file_size} bytes, and at most ${limit} are taken; raise channels.telegram.mediaMaxMb (up to 20)`);
  const { data, mimeType: served } = await client.download(path, limit, signal);
  const known = textOf(mimeType) ?? (served === "application/octet-stream" ? undefined : served);
  const name = textOf(fileName) ?? path.split("/").at(-1);
  return { data, ...(known === undefined ? {} : { mimeType: known }), ...(name ? { fileName: name } : {}) };
}
