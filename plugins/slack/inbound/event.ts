/** One event of the Events API → the events for the host. */
import { defined, type Fields, fieldsOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { ChannelInboundEvent } from "../types.ts";
import { chatRefOf, isOurs, MalformedEvent, type ReadingFacts, senderOf, timeOf } from "./chat.ts";
import { changeEvent, messageEvent } from "./message.ts";

export interface MappedEvent {
  readonly events: readonly ChannelInboundEvent[];
  /** A conversation has another id. */
  readonly moved?: { readonly from: string; readonly to: string };
  /** The app is not there any more. */
  readonly isGone?: string;
}

const only = (event: ChannelInboundEvent | undefined): MappedEvent => ({ events: event ? [event] : [] });

/** Whether this reaction is to be reported. */
function isReported({ user, itemUser }: { readonly user: string; readonly itemUser: string | undefined }, { workspace, self }: ReadingFacts): boolean {
  const { reactionNotices, reactionAllowlist } = workspace.account;
  if (user === self.userId) return false;
  if (reactionNotices === "own") return itemUser === self.userId;
  return reactionNotices === "all" || (reactionNotices === "allowlist" && reactionAllowlist.includes(user));
}

async function reactionEvent(event: Fields, facts: ReadingFacts): Promise<ChannelInboundEvent | undefined> {
  const item = fieldsOf(event["item"]);
  const [user, name, ts] = [textOf(event["user"]), textOf(event["reaction"]), textOf(item?.["ts"])];
  if (user === undefined || name === undefined) throw new MalformedEvent("its reaction has no name or nobody made it");
  if (item?.["type"] !== "message" || ts === undefined || !isReported({ user, itemUser: textOf(event["item_user"]) }, facts)) return undefined;
  const ref = await chatRefOf(facts, textOf(item["channel"]), user);
  const stamp = textOf(event["event_ts"]) ?? "";
  const isRemoved = event["type"] === "reaction_removed";
  return defined({
    kind: "reaction" as const,
    id: `${ts}:reaction:${user}:${name}:${stamp}`,
    chat: ref.chat,
    sender: await senderOf(facts, user),
    text: isRemoved ? `:${name}: (taken back)` : `:${name}:`,
    to: ref.to,
    at: timeOf(stamp),
    replyTo: { id: ts },
    context: { ...ref.context, ReplyToId: ts },
  });
}

interface Note {
  readonly kind: "member" | "notice";
  readonly channel: string | undefined;
  readonly user: string | undefined;
  readonly text: string;
}

/** Things that happen to a conversation. */
function noteOf(event: Fields, self: ReadingFacts["self"]): Note | undefined {
  const [user, channel] = [textOf(event["user"]), textOf(event["channel"])];
  const info = fieldsOf(event["channel"]);
  const item = fieldsOf(event["item"]);
  const who = user === self.userId ? "the bot" : `<@${user ?? "?"}>`;
  switch (event["type"]) {
    case "member_joined_channel":
      return { kind: "member", channel, user, text: `${who} joined` };
    case "member_left_channel":
      return { kind: "member", channel, user, text: `${who} left` };
    case "pin_added":
    case "pin_removed": {
      const ts = textOf(fieldsOf(item?.["message"])?.["ts"]) ?? textOf(item?.["created"]) ?? "";
      return {
        kind: "notice",
        channel: textOf(event["channel_id"]),
        user,
        text: `${who} ${event["type"] === "pin_added" ? "pinned" : "unpinned"} message ${ts}`.trim(),
      };
    }
    case "channel_rename":
    case "group_rename":
      return { kind: "notice", channel: textOf(info?.["id"]), user: self.userId, text: `the channel is now called #${textOf(info?.["name"]) ?? ""}` };
    case "channel_created":
      return { kind: "notice", channel: textOf(info?.["id"]), user: textOf(info?.["creator"]), text: `#${textOf(info?.["name"]) ?? ""} was created` };
    case "channel_archive":
    case "channel_unarchive":
      return { kind: "notice", channel, user, text: event["type"] === "channel_archive" ? "the channel was archived" : "the channel is open again" };
    default:
      return undefined;
  }
}

async function noteEvent(event: Fields, facts: ReadingFacts): Promise<ChannelInboundEvent | undefined> {
  const note = noteOf(event, facts.self);
  if (note?.user === undefined || note.channel === undefined) return undefined;
  if (String(event["type"]).endsWith("_rename")) facts.workspace.forgetConversation(note.channel);
  const ref = await chatRefOf(facts, note.channel, note.user);
  const stamp = textOf(event["event_ts"]) ?? "";
  return defined({
    kind: note.kind,
    id: `${String(event["type"])}:${note.user}:${stamp}`,
    chat: ref.chat,
    sender: await senderOf(facts, note.user),
    text: note.text,
    to: ref.to,
    at: timeOf(stamp),
    context: { ...ref.context },
  });
}

/** The conversation of an event: what happens in one is offered in order. */
export function laneOf(payload: Fields): string {
  const event = fieldsOf(payload["event"]) ?? {};
  const channel = event["channel"] ?? event["channel_id"] ?? fieldsOf(event["item"])?.["channel"] ?? payload["channel_id"] ?? payload["channel"];
  return textOf(channel) ?? textOf(fieldsOf(channel)?.["id"]) ?? textOf(payload["user_id"]) ?? "";
}

/** Whether it is for this app in this workspace. */
export function isForUs(payload: Fields, self: ReadingFacts["self"], appId: string | undefined): boolean {
  const [app, team] = [textOf(payload["api_app_id"]), textOf(payload["team_id"]) ?? textOf(fieldsOf(payload["team"])?.["id"])];
  if (appId !== undefined && app !== undefined && app !== appId) return false;
  if (team === undefined || self.teamId === "" || team === self.teamId) return true;
  const authorizations = payload["authorizations"];
  return Array.isArray(authorizations) && authorizations.some((entry) => fieldsOf(entry)?.["team_id"] === self.teamId);
}

/** Throws {@link MalformedEvent} for what Slack would not send. */
export async function mapEvent(payload: Fields, facts: ReadingFacts): Promise<MappedEvent> {
  const event = fieldsOf(payload["event"]);
  if (event === undefined) throw new MalformedEvent("it has no event");
  switch (event["type"]) {
    case "app_mention":
      return only(await messageEvent(event, facts));
    case "message":
      return only(await (event["subtype"] === "message_changed" || event["subtype"] === "message_deleted" ? changeEvent : messageEvent)(event, facts));
    case "reaction_added":
    case "reaction_removed":
      return isOurs(facts.self, event) ? { events: [] } : only(await reactionEvent(event, facts));
    case "pin_added":
    case "pin_removed":
      return isOurs(facts.self, event) ? { events: [] } : only(await noteEvent(event, facts));
    case "channel_id_changed": {
      const [from, to] = [textOf(event["old_channel_id"]), textOf(event["new_channel_id"])];
      return from !== undefined && to !== undefined ? { events: [], moved: { from, to } } : { events: [] };
    }
    case "app_uninstalled":
      return { events: [], isGone: "the app was removed from the workspace" };
    case "tokens_revoked": {
      const bots = fieldsOf(event["tokens"])?.["bot"];
      return Array.isArray(bots) && bots.includes(facts.self.userId) ? { events: [], isGone: "the app's bot token was revoked" } : { events: [] };
    }
    default:
      return only(await noteEvent(event, facts));
  }
}
