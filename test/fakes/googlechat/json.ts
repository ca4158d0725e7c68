/** Things of the world as the API writes them down. */
import type { Attachment, Message, Reaction, Space, User } from "./objects.ts";

export const userJson = ({ name, displayName, type, email }: User): object => ({ name, displayName, type, ...(email === undefined ? {} : { email }) });

/** Direct messages have the older name of their type as well. */
export const spaceJson = ({ name, displayName, spaceType }: Space): object => ({
  name,
  ...(displayName === "" ? {} : { displayName }),
  spaceType,
  ...(spaceType === "DIRECT_MESSAGE" ? { type: "DM", singleUserBotDm: true } : {}),
  spaceThreadingState: "THREADED_MESSAGES",
});

export const attachmentJson = ({ name, contentName, contentType, resourceName }: Attachment): object => ({
  name,
  contentName,
  contentType,
  source: "UPLOADED_CONTENT",
  attachmentDataRef: { resourceName },
});

export function messageJson(message: Message, space: Space, bot: User): object {
  const { name, clientId, sender, thread, threadReply, createTime, text, cardsV2, attachment, quoted, mentions, lastUpdateTime } = message;
  let from = 0;
  const annotations = mentions.map((user) => {
    const startIndex = text.indexOf(`@${user.displayName}`, from);
    from = startIndex + 1;
    return { type: "USER_MENTION", startIndex, length: user.displayName.length + 1, userMention: { user: userJson(user), type: "MENTION" } };
  });
  return {
    name,
    ...(clientId === undefined ? {} : { clientAssignedMessageId: clientId }),
    sender: userJson(sender),
    createTime,
    ...(lastUpdateTime === undefined ? {} : { lastUpdateTime }),
    ...(text === "" ? {} : { text, formattedText: text, argumentText: text.replace(`@${bot.displayName}`, "") }),
    ...(cardsV2.length === 0 ? {} : { cardsV2 }),
    ...(annotations.length === 0 ? {} : { annotations }),
    thread: { name: thread },
    space: spaceJson(space),
    ...(threadReply ? { threadReply: true } : {}),
    ...(attachment.length === 0
      ? {}
      : {
          attachment: attachment.map(attachmentJson),
        }),
    ...(quoted === undefined ? {} : { quotedMessageMetadata: { name: quoted, lastUpdateTime: createTime } }),
  };
}

export const reactionJson = ({ name, user, emoji }: Reaction): object => ({ name, user: userJson(user), emoji: { unicode: emoji } });
