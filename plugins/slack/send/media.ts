/** Files: those to send, in Slack's three steps, and those that came with messages. */
import type { OutboundDeliveryResult } from "openclaw/plugin-sdk";
import {
  fieldsOf,
  listOf,
  loadOutgoingFiles,
  type MediaRules,
  type OutgoingContext,
  type OutgoingFile,
  safeFileName,
  textOf,
  unfit,
  unseen,
} from "openclaw/plugin-sdk/channel-kit";
import type { Workspace } from "../workspace.ts";
import { channelOf } from "./target.ts";
import { receipt, sendText, type TextContext, threadOf } from "./text.ts";

export type MediaContext = TextContext & OutgoingContext;

const MB = 1024 * 1024;

const RULES: MediaRules = {
  channel: "slack",
  platform: "Slack",
  image: { maxBytes: 1024 * MB },
  document: { maxBytes: 1024 * MB },
  defaultMb: 20,
};

/** Gives Slack the bytes of a file, which nobody sees until it is shared. */
async function upload({ api }: Workspace, { data, fileName }: OutgoingFile, signal: AbortSignal | undefined): Promise<{ id: string; title: string }> {
  const title = safeFileName(fileName);
  const announced = await unseen(api.call("files.getUploadURLExternal", { filename: title, length: data.length }, { signal }));
  const [url, id] = [textOf(announced["upload_url"]), textOf(announced["file_id"])];
  if (url === undefined || id === undefined) throw unfit("files.getUploadURLExternal", "Slack returned no upload URL");
  await unseen(api.post(url, { body: Buffer.from(data.buffer, data.byteOffset, data.length) }, "the upload of a file", signal));
  return { id, title };
}

export async function sendMedia(
  workspace: Workspace,
  ctx: MediaContext,
  blocksFor?: (mrkdwn: string) => readonly unknown[] | undefined,
): Promise<OutboundDeliveryResult> {
  const { api } = workspace;
  const { signal } = ctx;
  const { files, text, rich } = await loadOutgoingFiles(ctx, RULES);
  const channel = await channelOf(workspace, ctx.to, signal);
  const uploaded = [];
  for (const file of files) uploaded.push(await upload(workspace, file, signal));
  // With buttons the text is a message of its own: a file's comment has none.
  const isSplit = blocksFor?.("") !== undefined;
  const comment = text.trim() === "" || isSplit ? undefined : await workspace.render(text, rich);
  const done = await api.call(
    "files.completeUploadExternal",
    { files: uploaded, channel_id: channel, initial_comment: comment, thread_ts: threadOf(ctx) },
    { signal, lane: channel },
  );
  if (isSplit) return sendText(workspace, { ...ctx, text, rich }, blocksFor);
  const shares = fieldsOf(fieldsOf(listOf(done["files"])[0])?.["shares"]);
  const share = ["public", "private"].map((kind) => fieldsOf(listOf(fieldsOf(shares?.[kind])?.[channel])[0])).find(Boolean);
  // Where it is shown is known later: until then the file's id names it.
  const ts = textOf(share?.["ts"]);
  return ts === undefined ? { channel: "slack", messageId: uploaded[0]?.id ?? "", channelId: channel, chatId: channel } : receipt(channel, ts);
}

/** Downloads a file of a message. */
export async function fetchFile({ api }: Workspace, ref: unknown, maxBytes: number, signal: AbortSignal) {
  const { url, mimeType, fileName, bytes } = fieldsOf(ref) ?? {};
  const address = textOf(url);
  if (address === undefined) throw unfit("download", "a Slack file needs a URL, this one has none");
  if (typeof bytes === "number" && bytes > maxBytes)
    throw unfit("download", `the file has ${bytes} bytes, the limit is ${maxBytes}; raise channels.slack.mediaMaxMb`);
  const { data, mimeType: served } = await api.download(address, maxBytes, signal);
  const known = textOf(mimeType);
  // Without the right to read files Slack serves its page to sign in.
  if (served?.startsWith("text/html") && known !== "text/html")
    throw unfit("download", "Slack returned a web page instead of the file; give the app the scope files:read");
  return { data, ...(known === undefined ? {} : { mimeType: known }), ...(textOf(fileName) === undefined ? {} : { fileName: textOf(fileName)! }) };
}
