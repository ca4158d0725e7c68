/** Messages on their way out. */
import type { ChannelOutboundContext, ReplyPayload } from "openclaw/plugin-sdk";
import { asChannelError, type Fields, fieldsOf, loadOutgoingFiles, type MediaRules, textOf, wholeOf } from "openclaw/plugin-sdk/channel-kit";
import { convertMarkdownTables, resolveMarkdownTableMode } from "openclaw/plugin-sdk/markdown-table-runtime";
import { ID, type MattermostAccount } from "./account.ts";
import { ifThere, type MattermostApi, type PostDraft } from "./api.ts";
import { attachmentsOf } from "./buttons.ts";

export interface Sender {
  readonly account: MattermostAccount;
  readonly api: MattermostApi;
}

export type SendContext = Pick<ChannelOutboundContext, "cfg" | "to" | "text"> & Partial<ChannelOutboundContext>;

const MB = 1024 * 1024;
/** As servers are set up at first. */
const RULES: MediaRules = { channel: "mattermost", platform: "Mattermost", image: { maxBytes: 100 * MB }, document: { maxBytes: 100 * MB } };
const ROOT_REFUSED = /^api\.post\.create_post\.(?:channel_)?root_id\./;

/** Nobody's text notifies everybody: an invisible space takes `@all`, `@channel` and `@here` their meaning. */
export const withoutMassMentions = (text: string): string => text.replaceAll(/@(?=(?:all|channel|here)\b)/gi, "@\u200B");

export function messageText({ cfg, text, accountId }: Pick<SendContext, "cfg" | "text" | "accountId">): string {
  return withoutMassMentions(convertMarkdownTables(text, resolveMarkdownTableMode({ cfg, channel: "mattermost", accountId })));
}

/** The first post of the thread that a message stands in; nothing where it is gone. */
async function threadOf(api: MattermostApi, draft: PostDraft): Promise<string | undefined> {
  const post = await ifThere(api.posts.get(draft.root_id ?? ""));
  const root = textOf(post?.["root_id"]);
  return root === draft.root_id || post?.["channel_id"] !== draft.channel_id ? undefined : root;
}

async function createPost({ api }: Sender, draft: PostDraft, signal: AbortSignal | undefined): Promise<Fields> {
  try {
    return await api.createPost(draft, signal);
  } catch (error) {
    // A message inside of a thread begins none, and one that is gone neither: the chat is still there.
    if (draft.root_id === undefined || !ROOT_REFUSED.test(asChannelError(error)?.reason ?? "")) throw error;
    return api.createPost({ ...draft, root_id: await threadOf(api, draft) }, signal);
  }
}

const receipt = (post: Fields) => ({
  channel: "mattermost",
  messageId: textOf(post["id"]) ?? "",
  channelId: textOf(post["channel_id"]),
  timestamp: wholeOf(post["create_at"]),
});

const idIn = (value: unknown): string | undefined => (typeof value === "string" && ID.test(value) ? value : undefined);

/** Uploads the files of a message. */
async function uploaded({ api }: Sender, channelId: string, ctx: SendContext): Promise<{ readonly fileIds: string[]; readonly text: string }> {
  const { files, text } = await loadOutgoingFiles(ctx, RULES);
  const fileIds: string[] = [];
  for (const file of files) fileIds.push(await api.upload(channelId, file, ctx.signal));
  return { fileIds, text };
}

/** One message, with files where there are some and buttons where the account has them. */
export async function send(sender: Sender, ctx: SendContext, payload?: ReplyPayload) {
  const { api, account } = sender;
  const channelId = await api.channelFor(ctx.to);
  const mediaUrl = ctx.mediaUrl ?? payload?.mediaUrl;
  const { fileIds, text } = mediaUrl === undefined ? { text: ctx.text } : await uploaded(sender, channelId, { ...ctx, mediaUrl });
  const props = attachmentsOf(account, channelId, payload);
  const nonce = ctx.nonce === undefined ? undefined : `${(await api.me()).id}:${ctx.nonce}`;
  const post = await createPost(
    sender,
    {
      channel_id: channelId,
      message: messageText({ ...ctx, text }),
      root_id: idIn(ctx.threadId) ?? idIn(ctx.replyToId),
      file_ids: fileIds,
      props,
      pending_post_id: nonce,
    },
    ctx.signal,
  );
  if (ctx.stalePreviewId) await removeQuietly(sender, ctx.stalePreviewId);
  return receipt(post);
}

/** Puts the answer into the message that showed it. Undefined: it cannot be edited any more. */
export async function editPreview(sender: Sender, ctx: SendContext & { readonly previewId: string; readonly payload: ReplyPayload }) {
  const { api, account } = sender;
  const channelId = await api.channelFor(ctx.to);
  const props = attachmentsOf(account, channelId, ctx.payload);
  const edited = await ifThere(patch(sender, ctx.previewId, { message: messageText(ctx), ...(props ? { props } : {}) }, ctx.signal));
  return edited && receipt(edited);
}

export async function patch({ api }: Sender, postId: string, changes: Fields, signal?: AbortSignal): Promise<Fields> {
  return fieldsOf(await api.call("PUT", `/posts/${encodeURIComponent(postId)}/patch`, { json: changes, signal, lane: "posts", action: "edit" })) ?? {};
}

export async function removeQuietly({ api }: Sender, postId: string): Promise<void> {
  await api.call("DELETE", `/posts/${encodeURIComponent(postId)}`).catch(() => undefined);
}
