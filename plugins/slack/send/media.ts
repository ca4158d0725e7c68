/** Files: those to send, in Slack's three steps, and those that came with messages. */
import type { ChannelOutboundContext, OutboundDeliveryResult } from "openclaw/plugin-sdk";
import { asChannelError, ChannelError, fieldsOf, listOf, messageOf, safeFileName, textOf, unfit } from "openclaw/plugin-sdk/channel-kit";
import type { Workspace } from "../workspace.ts";
import { channelOf } from "./target.ts";
import { receipt, sendText, type TextContext, threadOf } from "./text.ts";

export type MediaContext = TextContext & Pick<ChannelOutboundContext, "mediaUrl" | "mediaLocalRoots">;

/** Until the last step nobody sees anything: what broke before may be done again. */
async function unseen<T>(step: Promise<T>): Promise<T> {
  return step.catch((error: unknown) => {
    const failure = asChannelError(error);
    if (failure?.delivery.state !== "unknown") throw error;
    const { action, status, description, code, message, reason } = failure;
    throw new ChannelError(message, { action, status, description, code, reason, delivery: { state: "retry" } });
  });
}

async function load({ mediaUrl, mediaLocalRoots }: MediaContext, maxBytes: number) {
  const { loadWebMedia } = await import("openclaw/plugin-sdk/web-media");
  try {
    return await loadWebMedia(mediaUrl!, { maxBytes, ...(mediaLocalRoots ? { localRoots: mediaLocalRoots } : {}) });
  } catch (error) {
    throw unfit("send", `the file to send could not be read: ${messageOf(error)}`);
  }
}

export async function sendMedia(
  workspace: Workspace,
  ctx: MediaContext,
  blocksFor?: (mrkdwn: string) => readonly unknown[] | undefined,
): Promise<OutboundDeliveryResult> {
  const { api, account } = workspace;
  const { signal } = ctx;
  const file = await load(ctx, account.maxBytes);
  const channel = await channelOf(workspace, ctx.to, signal);
  const name = safeFileName(file.fileName);
  const announced = await unseen(api.call("files.getUploadURLExternal", { filename: name, length: file.buffer.length }, { signal }));
  const [url, id] = [textOf(announced["upload_url"]), textOf(announced["file_id"])];
  if (url === undefined || id === undefined) throw unfit("files.getUploadURLExternal", "Slack named no address to upload to");
  await unseen(api.post(url, { body: file.buffer }, "the upload of a file", signal));
  // With buttons the text is a message of its own: a file's comment has none.
  const isSplit = blocksFor?.("") !== undefined;
  const comment = ctx.text.trim() === "" || isSplit ? undefined : await workspace.render(ctx.text, ctx.rich);
  const done = await api.call(
    "files.completeUploadExternal",
    { files: [{ id, title: name }], channel_id: channel, initial_comment: comment, thread_ts: threadOf(ctx) },
    { signal, lane: channel },
  );
  if (isSplit) return sendText(workspace, ctx, blocksFor);
  const shares = fieldsOf(fieldsOf(listOf(done["files"])[0])?.["shares"]);
  const share = ["public", "private"].map((kind) => fieldsOf(listOf(fieldsOf(shares?.[kind])?.[channel])[0])).find(Boolean);
  // Where it is shown is known later: until then the file's id names it.
  const ts = textOf(share?.["ts"]);
  return ts === undefined ? { channel: "slack", messageId: id, channelId: channel, chatId: channel } : receipt(channel, ts);
}

/** Downloads a file of a message. */
export async function fetchFile({ api }: Workspace, ref: unknown, maxBytes: number, signal: AbortSignal) {
  const { url, mimeType, fileName, bytes } = fieldsOf(ref) ?? {};
  const address = textOf(url);
  if (address === undefined) throw unfit("download", "a file of Slack is named by its address, and this one has none");
  if (typeof bytes === "number" && bytes > maxBytes)
    throw unfit("download", `the file has ${bytes} bytes, and at most ${maxBytes} are taken; raise channels.slack.mediaMaxMb`);
  const { data, mimeType: served } = await api.download(address, maxBytes, signal);
  const known = textOf(mimeType);
  // Without the right to read files Slack serves its page to sign in.
  if (served?.startsWith("text/html") && known !== "text/html")
    throw unfit("download", "Slack served a page instead of the file; give the app the scope files:read");
  return { data, ...(known === undefined ? {} : { mimeType: known }), ...(textOf(fileName) === undefined ? {} : { fileName: textOf(fileName)! }) };
}
