/** Reactions of ours. Slack knows emoji by names. */
import { asChannelError, fieldsOf, listOf, textOf, textsOf, unfit } from "openclaw/plugin-sdk/channel-kit";
import type { Workspace } from "../workspace.ts";

/** The ones that people and agents use most; all others are written by name. */
const NAMES: Readonly<Record<string, string>> = {
  "👀": "eyes",
  "✅": "white_check_mark",
  "❌": "x",
  "👍": "+1",
  "👎": "-1",
  "❤": "heart",
  "🎉": "tada",
  "🤔": "thinking_face",
  "😂": "joy",
  "🔥": "fire",
  "🙏": "pray",
  "🧠": "brain",
  "🛠": "hammer_and_wrench",
  "💻": "computer",
  "🌐": "globe_with_meridians",
  "⏳": "hourglass_flowing_sand",
  "⚠": "warning",
  "🚀": "rocket",
  "👏": "clap",
  "💯": "100",
  "🙌": "raised_hands",
  "👋": "wave",
  "😄": "smile",
  "😢": "cry",
  "😮": "open_mouth",
  "🤖": "robot_face",
  "🦞": "lobster",
  "⭐": "star",
  "💡": "bulb",
  "📌": "pushpin",
  "🆗": "ok",
  "👌": "ok_hand",
  "🤷": "shrug",
  "😊": "blush",
  "😉": "wink",
  "🎯": "dart",
  "✍": "writing_hand",
  "🔍": "mag",
  "📝": "memo",
  "⏰": "alarm_clock",
};

/** `:eyes:`, `eyes` or 👀 → `eyes`. */
export function emojiName(written: string): string {
  const bare = written.trim().replaceAll("\u{FE0F}", "");
  const name = NAMES[bare] ?? bare.replace(/^:|:$/g, "").toLowerCase();
  if (/^[a-z0-9_+'-]+(?:::skin-tone-[2-6])?$/.test(name)) return name;
  throw unfit("reactions.add", `Slack identifies emoji by name: use a name instead of "${written}", such as thumbsup or party_parrot`);
}

const isHarmless = (error: unknown): boolean => ["already_reacted", "no_reaction", "message_not_found"].includes(asChannelError(error)?.reason ?? "");

export async function addReaction({ api, ownReactions }: Workspace, channel: string, ts: string, emoji: string, signal?: AbortSignal): Promise<void> {
  const name = emojiName(emoji);
  await api.call("reactions.add", { channel, timestamp: ts, name }, { signal, lane: channel }).catch((error: unknown) => {
    if (asChannelError(error)?.reason !== "already_reacted") throw error;
  });
  ownReactions.set(`${channel}/${ts}`, name);
}

export async function removeReaction({ api, ownReactions }: Workspace, channel: string, ts: string, emoji: string, signal?: AbortSignal): Promise<void> {
  await api.call("reactions.remove", { channel, timestamp: ts, name: emojiName(emoji) }, { signal, lane: channel }).catch((error: unknown) => {
    if (!isHarmless(error)) throw error;
  });
  ownReactions.delete(`${channel}/${ts}`);
}

/** All of our own, set by any process. Gives their names. */
export async function removeOwnReactions(workspace: Workspace, channel: string, ts: string, signal?: AbortSignal): Promise<readonly string[]> {
  const { api } = workspace;
  const { message } = await api.call("reactions.get", { channel, timestamp: ts, full: true }, { signal, lane: channel });
  const { userId } = await workspace.self(signal);
  const ours = listOf(fieldsOf(message)?.["reactions"]).flatMap((raw) => {
    const reaction = fieldsOf(raw);
    return textsOf(reaction?.["users"]).includes(userId) ? (textOf(reaction?.["name"]) ?? []) : [];
  });
  for (const name of ours) await removeReaction(workspace, channel, ts, name, signal);
  return ours;
}
