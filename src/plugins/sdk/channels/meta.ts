/** Facts about the channels that everybody knows. */
import { AppError } from "../../../base/errors.ts";
import type { ChannelMessageActionName, ChannelMeta } from "../../../protocol/index.ts";

type Row = readonly [id: string, label: string, way: string, detail: string, image: string, blurb: string];

/** In the order in which they are offered. */
const ROWS: readonly Row[] = [
  ["telegram", "Telegram", "Bot API", "Telegram Bot", "paperplane", "A bot made with @BotFather: the quickest start."],
  ["whatsapp", "WhatsApp", "QR link", "WhatsApp Web", "message", "Your own number, linked by QR code; a separate one is better."],
  ["discord", "Discord", "Bot API", "Discord Bot", "bubble.left.and.bubble.right", "A bot in your servers and direct messages."],
  ["irc", "IRC", "Server + Nick", "IRC", "network", "Classic networks: channels and private messages."],
  ["googlechat", "Google Chat", "Chat API", "Google Chat", "message.badge", "A Workspace Chat app that calls a webhook."],
  ["slack", "Slack", "Socket Mode", "Slack Bot", "number", "An app in your workspace, without a public address."],
  ["signal", "Signal", "signal-cli", "Signal REST", "antenna.radiowaves.left.and.right", "A device linked through signal-cli."],
  ["imessage", "iMessage", "imsg", "iMessage", "message.fill", "Messages on a Mac."],
];

/** How one of them presents itself. */
export function getChatChannelMeta(id: string): ChannelMeta {
  const row = ROWS.find(([name]) => name === id);
  if (!row) throw new AppError("NOT_FOUND", `no such channel: ${id}; known are ${ROWS.map(([name]) => name).join(", ")}`);
  const [, label, way, detailLabel, systemImage, blurb] = row;
  const order = ROWS.indexOf(row);
  return { id, label, selectionLabel: `${label} (${way})`, detailLabel, docsPath: `/channels/${id}`, docsLabel: id, blurb, systemImage, order };
}

export const CHANNEL_MESSAGE_ACTION_NAMES = [
  ...(["send", "broadcast", "poll", "react", "reactions", "read", "edit", "unsend", "reply", "sendWithEffect", "renameGroup", "setGroupIcon"] as const),
  ...(["addParticipant", "removeParticipant", "leaveGroup", "sendAttachment", "delete", "pin", "unpin", "list-pins", "permissions"] as const),
  ...(["thread-create", "thread-list", "thread-reply", "search", "sticker", "sticker-search", "member-info", "role-info", "emoji-list"] as const),
  ...(["emoji-upload", "sticker-upload", "role-add", "role-remove", "channel-info", "channel-list", "channel-create", "channel-edit"] as const),
  ...(["channel-delete", "channel-move", "category-create", "category-edit", "category-delete", "topic-create", "voice-status"] as const),
  ...(["event-list", "event-create", "timeout", "kick", "ban", "set-presence"] as const),
] as const satisfies readonly ChannelMessageActionName[];

interface BlueBubblesAction {
  /** Its switch in `channels.bluebubbles.actions`. */
  readonly gate: string;
  readonly groupOnly?: boolean;
  readonly unsupportedOnMacOS26?: boolean;
}

export const BLUEBUBBLES_ACTIONS = {
  react: { gate: "reactions" },
  edit: { gate: "edit", unsupportedOnMacOS26: true },
  unsend: { gate: "unsend" },
  reply: { gate: "reply" },
  sendWithEffect: { gate: "sendWithEffect" },
  renameGroup: { gate: "renameGroup", groupOnly: true },
  setGroupIcon: { gate: "setGroupIcon", groupOnly: true },
  addParticipant: { gate: "addParticipant", groupOnly: true },
  removeParticipant: { gate: "removeParticipant", groupOnly: true },
  leaveGroup: { gate: "leaveGroup", groupOnly: true },
  sendAttachment: { gate: "sendAttachment" },
} as const satisfies Partial<Record<ChannelMessageActionName, BlueBubblesAction>>;

export const BLUEBUBBLES_ACTION_NAMES = Object.keys(BLUEBUBBLES_ACTIONS) as (keyof typeof BLUEBUBBLES_ACTIONS)[];

export const BLUEBUBBLES_GROUP_ACTIONS: ReadonlySet<ChannelMessageActionName> = new Set(
  BLUEBUBBLES_ACTION_NAMES.filter((name) => (BLUEBUBBLES_ACTIONS[name] as BlueBubblesAction).groupOnly),
);
