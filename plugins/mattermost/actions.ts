/** What the `message` tool can do with messages: react, and change or delete our own. */
import type { ChannelMessageActionAdapter, ChannelMessageActionContext } from "openclaw/plugin-sdk";
import {
  type AccountReader,
  chatParam,
  createActions,
  editedText,
  emojiName,
  messageParam,
  reactionParam,
  recordsOf,
  unfit,
} from "openclaw/plugin-sdk/channel-kit";
import { ID, type MattermostAccount } from "./account.ts";
import { ifThere } from "./api.ts";
import { messageText, patch, type Sender } from "./send.ts";

/** Ours are taken away where the emoji is empty. */
export async function react({ api }: Sender, postId: string, emoji: string, remove = false): Promise<void> {
  if (!ID.test(postId)) return;
  const me = await api.me();
  const name = emojiName(emoji);
  if (emoji !== "" && name === undefined) throw unfit("react", `Mattermost identifies emoji by name: use one such as thumbsup instead of "${emoji}"`);
  if (emoji !== "" && !remove) return void (await api.call("POST", "/reactions", { json: { user_id: me.id, post_id: postId, emoji_name: name } }));
  const all = recordsOf(await api.call("GET", `/posts/${postId}/reactions`));
  const ours = all.filter((entry) => entry["user_id"] === me.id && (name === undefined || entry["emoji_name"] === name));
  for (const { emoji_name: one } of ours) await api.call("DELETE", `/users/me/posts/${postId}/reactions/${encodeURIComponent(String(one))}`);
}

/** The id of a post of ours in the chat that is meant. Whatever the server lets the bot do, it leaves other people's messages alone. */
async function ownPost({ api }: Sender, ctx: ChannelMessageActionContext): Promise<string> {
  const id = messageParam(ctx);
  const channelId = await api.channelFor(chatParam(ctx, "channel:<id>"));
  const post = ID.test(id) ? await ifThere(api.call("GET", `/posts/${id}`)) : undefined;
  const [found] = recordsOf([post]);
  if (!found || found["channel_id"] !== channelId) throw unfit("message", `there is no message ${id} in this chat`);
  if (found["user_id"] !== (await api.me()).id) throw unfit("message", `message ${id} is not from this bot: only its own messages can be changed`);
  return id;
}

export function createMattermostActions(
  accounts: AccountReader<MattermostAccount>,
  senderOf: (account: MattermostAccount) => Sender,
): ChannelMessageActionAdapter {
  return createActions({
    channel: "mattermost",
    label: "Mattermost",
    accounts,
    actions: {
      react: {
        gate: "reactions",
        async run(account, ctx) {
          const { emoji, remove, isEmpty } = reactionParam(ctx);
          await react(senderOf(account), messageParam(ctx), emoji, remove);
          return remove || isEmpty ? { removed: true } : { added: emoji };
        },
      },
      edit: {
        gate: "messages",
        async run(account, ctx) {
          const sender = senderOf(account);
          const text = editedText(ctx);
          const messageId = await ownPost(sender, ctx);
          await patch(sender, messageId, { message: messageText({ cfg: ctx.cfg, accountId: account.accountId, text }) });
          return { messageId };
        },
      },
      delete: {
        gate: "messages",
        async run(account, ctx) {
          const sender = senderOf(account);
          const messageId = await ownPost(sender, ctx);
          await sender.api.call("DELETE", `/posts/${messageId}`, { action: "delete" });
          return { deleted: messageId };
        },
      },
    },
    supportsButtons: ({ callbackUrl }) => callbackUrl !== undefined,
  });
}
