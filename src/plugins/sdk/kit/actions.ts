/** What the `message` tool can do on a channel, each behind its switch in `channels.<id>.actions`. */
import type { ChannelMessageActionAdapter, ChannelMessageActionContext, ChannelMessageActionName, HostConfig } from "../../../protocol/index.ts";
import { jsonResult, readReactionParams, readStringParam } from "../params.ts";
import type { AccountReader, ChannelAccount } from "./accounts.ts";
import { unfit } from "./failure.ts";
import { fieldsOf, flagOf } from "./fields.ts";

export interface ActionSpec<A extends ChannelAccount> {
  /** Its switch in `channels.<id>.actions`. */
  readonly gate: string;
  /** Where the configuration does not mention the switch. Default true. */
  readonly isOn?: boolean | undefined;
  run(account: A, ctx: ChannelMessageActionContext): Promise<Record<string, unknown>>;
}

export interface ActionsSpec<A extends ChannelAccount> {
  readonly channel: string;
  /** For people: "Mattermost". */
  readonly label: string;
  readonly accounts: AccountReader<A>;
  readonly actions: Partial<Readonly<Record<ChannelMessageActionName, ActionSpec<A>>>>;
  /** Whether messages of the account can have buttons. Without it the channel has none. */
  supportsButtons?(account: A): boolean;
}

/** The chat that is named, else the one that the agent is in. */
export function chatParam({ params, toolContext }: ChannelMessageActionContext, example: string): string {
  const named = ["to", "chatId", "channelId", "target"].map((key) => readStringParam(params, key)).find(Boolean) ?? toolContext?.currentChannelId;
  if (!named) throw unfit("message", `no chat: set to, such as ${example}`);
  return named;
}

export function messageParam({ params }: ChannelMessageActionContext): string {
  const id = ["messageId", "message_id", "postId"].map((key) => readStringParam(params, key)).find(Boolean);
  if (!id) throw unfit("message", "no message: set messageId, as in message_id of the conversation");
  return id;
}

/** The emoji of a reaction: empty takes all of ours away, with `remove` the one that is named. */
export function reactionParam({ params }: Pick<ChannelMessageActionContext, "params">): ReturnType<typeof readReactionParams> {
  return readReactionParams(params, { removeErrorMessage: "set the emoji to remove, or an empty one to remove all of the app's own" });
}

/** The new text of an edited message. */
export function editedText({ params }: Pick<ChannelMessageActionContext, "params">): string {
  const text = readStringParam(params, "message") ?? readStringParam(params, "text") ?? "";
  if (text.trim() === "") throw unfit("edit", "the new text is missing: set message");
  return text;
}

/** Names of emoji, for platforms whose reactions are named: `👍` is `thumbsup`. */

const NAMES =
  "👍 thumbsup 👎 thumbsdown ❤ heart 🔥 fire 👏 clap 🎉 tada 👀 eyes ✅ white_check_mark ❌ x 🙏 pray 😂 joy 😄 smile 😊 blush 😢 cry 😭 sob 😡 rage 😱 scream 🤔 thinking " +
  "🤯 exploding_head 🥰 smiling_face_with_hearts 😍 heart_eyes 😎 sunglasses 🙌 raised_hands 👌 ok_hand 💯 100 ⚡ zap 🏆 trophy 🤝 handshake 🫡 saluting_face 🤖 robot_face " +
  "🧠 brain 🛠 hammer_and_wrench 💻 computer 🌐 globe_with_meridians ⏳ hourglass_flowing_sand ⚠ warning 🚀 rocket ⭐ star ✨ sparkles 👋 wave 💪 muscle 🤷 shrug 🙈 see_no_evil " +
  "☕ coffee 🍺 beer 📎 paperclip 📝 memo 🔔 bell 🔒 lock ❓ question ❗ exclamation ➕ heavy_plus_sign ☑ ballot_box_with_check 🟢 large_green_circle 🔴 red_circle 🦞 lobster";

const BY_EMOJI: ReadonlyMap<string, string> = (() => {
  const words = NAMES.split(" ");
  return new Map(words.flatMap((word, index): [string, string][] => (index % 2 === 0 ? [[word, words[index + 1] ?? ""]] : [])));
})();

/** The name of an emoji or of `:name:`; undefined where it is not known. */
export function emojiName(emoji: string): string | undefined {
  const bare = emoji.trim().replace(/^:(.+):$/, "$1");
  if (/^[\w+-]{1,64}$/.test(bare)) return bare.toLowerCase();
  return BY_EMOJI.get(bare.replaceAll("\uFE0F", ""));
}

export function createActions<A extends ChannelAccount>(spec: ActionsSpec<A>): ChannelMessageActionAdapter {
  const { channel, label, accounts, actions, supportsButtons } = spec;
  const names = Object.keys(actions) as ChannelMessageActionName[];
  const isOn = (account: A, { gate, isOn: otherwise = true }: ActionSpec<A>): boolean => flagOf(fieldsOf(account.config["actions"])?.[gate]) ?? otherwise;
  const usable = (cfg: HostConfig): A[] =>
    accounts
      .listAccountIds(cfg)
      .map((id) => accounts.read(cfg, id))
      .filter(({ enabled, problems }) => enabled && problems.length === 0);
  return {
    listActions({ cfg }) {
      const usedBy = usable(cfg);
      return names.filter((name) => usedBy.some((account) => isOn(account, actions[name]!)));
    },
    supportsAction: ({ action }) => actions[action] !== undefined,
    ...(supportsButtons
      ? {
          supportsButtons: ({ cfg, accountId }) =>
            (accountId ? [accounts.read(cfg, accountId)] : usable(cfg)).some((account) => supportsButtons.call(spec, account)),
        }
      : {}),
    async handleAction(ctx) {
      const { action, cfg, accountId, params } = ctx;
      const found = actions[action];
      if (!found) throw unfit("message", `${label} has no action "${action}"; available: ${["send", ...names].join(", ")}`);
      const account = accounts.read(cfg, accountId);
      if (!isOn(account, found)) throw unfit("message", `the action "${action}" is off; set channels.${channel}.actions.${found.gate} to true`);
      if (ctx.dryRun === true) return jsonResult({ ok: true, dryRun: true, action, to: params["to"] });
      return jsonResult({ ok: true, ...(await found.run(account, ctx)) });
    },
  };
}
