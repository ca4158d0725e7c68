/** Reactions. Google lets an app react only where its service account acts for a user. */
import { asChannelError, type Fields, fieldsOf, textOf, unfit } from "openclaw/plugin-sdk/channel-kit";
import { isMessage } from "./api.ts";
import type { Sender } from "./send.ts";

const MOST = 200;

async function permitted<T>(asked: Promise<T>): Promise<T> {
  return asked.catch((error: unknown) => {
    if (asChannelError(error)?.status !== 403) throw error;
    throw unfit("react", "Google lets Chat apps react only with user authorization, which a service account does not have", "NOT_PERMITTED");
  });
}

function needMessage(name: string): void {
  if (!isMessage(name)) throw unfit("react", `"${name}" is not a Google Chat message; use its name, such as spaces/AAAA/messages/BBBB`);
}

export interface Reaction {
  /** `spaces/…/messages/…/reactions/…`. */
  readonly name: string;
  readonly emoji: string;
  readonly user: string;
}

const reactionOf = (raw: Fields): Reaction => ({
  name: textOf(raw["name"]) ?? "",
  emoji: textOf(fieldsOf(raw["emoji"])?.["unicode"]) ?? textOf(fieldsOf(fieldsOf(raw["emoji"])?.["customEmoji"])?.["uid"]) ?? "",
  user: textOf(fieldsOf(raw["user"])?.["name"]) ?? "",
});

export async function addReaction({ api }: Sender, message: string, emoji: string): Promise<Reaction> {
  needMessage(message);
  if (emoji === "" || /^[\w:+-]+$/.test(emoji)) throw unfit("react", `Google Chat expects the emoji itself, such as 👍, not "${emoji}"`);
  return reactionOf(await permitted(api.call("POST", `/v1/${message}/reactions`, { json: { emoji: { unicode: emoji } }, action: "react" })));
}

export async function listReactions({ api }: Sender, message: string): Promise<Reaction[]> {
  needMessage(message);
  return (await permitted(api.pages(`/v1/${message}/reactions`, "reactions", MOST))).map(reactionOf);
}

/** Ours, with this emoji or all of them. Without a known user of ours nothing is taken away: it could be another app's. */
export async function removeOwnReactions(sender: Sender, message: string, self: string | undefined, emoji?: string): Promise<number> {
  if (self === undefined) throw unfit("react", "the app's own reactions are unknown; set channels.googlechat.botUser to the app's user (users/…)");
  const ours = (await listReactions(sender, message)).filter(({ user, emoji: its }) => user === self && (emoji === undefined || its === emoji));
  for (const { name } of ours) await permitted(sender.api.call("DELETE", `/v1/${name}`, { action: "react" }));
  return ours.length;
}

/** The reactions of a message as the agent sees them. */
export function summaryOf(all: readonly Reaction[]): Record<string, unknown>[] {
  const emojis = [...new Set(all.map(({ emoji }) => emoji))];
  return emojis.map((emoji) => {
    const users = all.filter((one) => one.emoji === emoji).map(({ user }) => user);
    return { emoji, count: users.length, users };
  });
}
