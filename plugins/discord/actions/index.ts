/** What the `message` tool can do here, each behind its switch in `channels.discord.actions`. */
import { type ChannelMessageActionContext, type ChannelPlugin, extractToolSend, jsonResult } from "openclaw/plugin-sdk";
import { unfit } from "openclaw/plugin-sdk/channel-kit";
import { type DiscordAccount, presenceOf } from "../account.ts";
import type { Accounts } from "../accounts.ts";
import { GUILD_ACTIONS } from "./guild.ts";
import { MESSAGE_ACTIONS } from "./messages.ts";
import { type Context, type Handler, number, text } from "./params.ts";

type ActionAdapter = NonNullable<ChannelPlugin["actions"]>;
type ActionName = keyof typeof MESSAGE_ACTIONS | keyof typeof GUILD_ACTIONS | "set-presence";

const OFF_BY_DEFAULT: ReadonlySet<string> = new Set(["roles", "moderation", "presence"]);

/** The switch of each action. `send` has none. */
const GATES: Readonly<Record<ActionName, string | undefined>> = {
  send: undefined,
  poll: "polls",
  react: "reactions",
  reactions: "reactions",
  "emoji-list": "reactions",
  read: "messages",
  edit: "messages",
  delete: "messages",
  pin: "pins",
  unpin: "pins",
  "list-pins": "pins",
  permissions: "permissions",
  "thread-create": "threads",
  "thread-list": "threads",
  "thread-reply": "threads",
  search: "search",
  sticker: "stickers",
  "member-info": "memberInfo",
  "role-info": "roleInfo",
  "role-add": "roles",
  "role-remove": "roles",
  "emoji-upload": "emojiUploads",
  "sticker-upload": "stickerUploads",
  "channel-info": "channelInfo",
  "channel-list": "channelInfo",
  "channel-create": "channels",
  "channel-edit": "channels",
  "channel-delete": "channels",
  "channel-move": "channels",
  "category-create": "channels",
  "category-edit": "channels",
  "category-delete": "channels",
  "voice-status": "voiceStatus",
  "event-list": "events",
  "event-create": "events",
  timeout: "moderation",
  kick: "moderation",
  ban: "moderation",
  "set-presence": "presence",
};

const NAMES = Object.keys(GATES) as ActionName[];
const isKnown = (action: string): action is ActionName => Object.hasOwn(GATES, action);

function isOn({ actions }: DiscordAccount, action: ActionName): boolean {
  const gate = GATES[action];
  return gate === undefined || (actions[gate] ?? !OFF_BY_DEFAULT.has(gate));
}

const ACTIVITIES: Readonly<Record<string, number>> = { playing: 0, streaming: 1, listening: 2, watching: 3, custom: 4, competing: 5 };

/** Over the gateway: only a running account has a presence. */
async function setPresence(accounts: Accounts, ctx: Context, accountId: string): Promise<Record<string, unknown>> {
  const { line } = accounts.of(accountId);
  if (!line) throw unfit("set-presence", `Discord account "${accountId}" is not connected`);
  const type = ACTIVITIES[text(ctx, "activityType")?.toLowerCase() ?? ""] ?? number(ctx, "activityType");
  const presence = presenceOf({
    activity: text(ctx, "activityName", "activityState"),
    status: text(ctx, "status") ?? "online",
    ...(type === undefined ? {} : { activityType: type }),
    activityUrl: text(ctx, "activityUrl"),
  });
  await line.setPresence(presence!);
  return { ok: true, presence };
}

export function createActions(accounts: Accounts): ActionAdapter {
  const handlers: Readonly<Partial<Record<ActionName, Handler>>> = { ...MESSAGE_ACTIONS, ...GUILD_ACTIONS };
  return {
    listActions({ cfg }) {
      const usable = accounts.list(cfg).filter(({ enabled, token }) => enabled && token !== "");
      return NAMES.filter((action) => usable.some((account) => isOn(account, action)));
    },
    supportsAction: ({ action }) => isKnown(action),
    supportsButtons: () => true,
    extractToolSend: ({ args }) => extractToolSend(args),
    async handleAction(ctx: ChannelMessageActionContext) {
      const { action } = ctx;
      if (!isKnown(action)) throw unfit(action, `Discord has no action "${action}"; available: ${NAMES.join(", ")}`);
      const sender = accounts.sender(ctx.cfg, ctx.accountId);
      if (!isOn(sender.account, action)) throw unfit(action, `"${action}" is off; set channels.discord.actions.${GATES[action]} to true`);
      if (ctx.dryRun) return jsonResult({ ok: true, dryRun: true, action });
      if (action === "set-presence") return jsonResult(await setPresence(accounts, ctx, sender.account.accountId));
      return jsonResult(await handlers[action]!(sender, ctx));
    },
  };
}
