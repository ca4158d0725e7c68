/** What people do in the workspace, and the events that come of it. */
import { randomUUID } from "node:crypto";
import type { Delivered, Delivery } from "./delivery.ts";
import { type Message, messageObject, slackId, type User, type World } from "./world.ts";

export interface SayOptions {
  readonly by: User;
  readonly channel: string;
  readonly thread?: string | undefined;
  readonly file?: { readonly name: string; readonly mime: string; readonly data: Buffer } | undefined;
  /** A message of another app's bot. */
  readonly botId?: string | undefined;
  readonly broadcast?: boolean | undefined;
}

export interface Said {
  readonly ts: string;
  readonly channel: string;
  readonly events: readonly Delivered[];
}

export interface People {
  /** A message as an event of its own. */
  shown(message: Message): Record<string, unknown>;
  changed(message: Message, previous: object): Delivered;
  deleted(message: Message): Delivered;
  reacted(message: Message, name: string, by: User, what: "added" | "removed"): Delivered;
  pinned(message: Message, by: User, what: "added" | "removed"): Delivered;
  event(event: Readonly<Record<string, unknown>>, over?: object): Delivered;
  say(text: string, options: SayOptions): Said;
  edit(channel: string, ts: string, text: string): Delivered;
  remove(channel: string, ts: string): Delivered;
  react(channel: string, ts: string, name: string, by: User, what?: "added" | "removed"): Delivered;
  press(channel: string, ts: string, by: User, value?: string): Delivered;
  slash(command: string, text: string, by: User, channel: string): Delivered & { readonly responseUrl: string };
  join(channel: string, user: User): Delivered;
  leave(channel: string, user: User): Delivered;
  pin(channel: string, ts: string, by: User): Delivered;
  /** The conversation has another id from now on. */
  moved(from: string): string;
  submit(by: User, values: object): Delivered;
}

interface Element {
  readonly type: string;
  readonly action_id?: string;
  readonly value?: string;
  readonly options?: readonly { readonly value: string }[];
}

/** The element of a message's blocks that has this value. */
function elementIn(message: Message, value: string): { readonly element: Element; readonly blockId: string } {
  for (const block of message.blocks as readonly { readonly block_id?: string; readonly elements?: readonly Element[] }[]) {
    for (const element of block.elements ?? []) {
      if (element.value === value || element.options?.some((option) => option.value === value)) return { element, blockId: block.block_id ?? "b" };
    }
  }
  throw new Error(`no button with the value ${value}`);
}

export function createPeople(world: World, delivery: Delivery, urls: { files(): string; responses(): string }): People {
  const { team, appId, bot } = world;
  const kindOf = (channel: string): string => world.conversations.get(channel)?.kind ?? "channel";
  const now = (): string => (Date.now() / 1000).toFixed(6);

  function event(inner: Readonly<Record<string, unknown>>, over: object = {}): Delivered {
    return delivery.deliver("events_api", {
      token: "deprecated",
      team_id: team.id,
      api_app_id: appId,
      type: "event_callback",
      event_id: `Ev${randomUUID().slice(0, 8)}`,
      event_time: Math.floor(Date.now() / 1000),
      authorizations: [{ enterprise_id: null, team_id: team.id, user_id: bot.id, is_bot: true }],
      is_ext_shared_channel: false,
      event: inner,
      ...over,
    });
  }

  function interaction(by: User, more: object): Delivered {
    return delivery.deliver("interactive", {
      api_app_id: appId,
      token: "deprecated",
      trigger_id: randomUUID(),
      team: { id: team.id, domain: "acme" },
      user: { id: by.id, username: by.name, name: by.name, team_id: team.id },
      ...more,
    });
  }

  const shown = (message: Message): Record<string, unknown> => {
    const { channel, ts } = message;
    return { ...messageObject(message, world, urls.files()), channel, channel_type: kindOf(channel), event_ts: ts };
  };
  const hidden = (channel: string) => ({ type: "message", hidden: true, channel, channel_type: kindOf(channel), ts: now(), event_ts: now() });
  const changed: People["changed"] = (message, previous) =>
    event({ ...hidden(message.channel), subtype: "message_changed", message: messageObject(message, world, urls.files()), previous_message: previous });
  const deleted: People["deleted"] = (message) =>
    event({
      ...hidden(message.channel),
      subtype: "message_deleted",
      deleted_ts: message.ts,
      previous_message: messageObject(message, world, urls.files()),
    });
  const reacted: People["reacted"] = ({ channel, ts, user }, name, by, what) =>
    event({ type: `reaction_${what}`, user: by.id, reaction: name, item: { type: "message", channel, ts }, item_user: user, event_ts: now() });

  const pinned: People["pinned"] = (message, by, what) => {
    const item = { type: "message", channel: message.channel, message: messageObject(message, world, urls.files()) };
    return event({ type: `pin_${what}`, user: by.id, channel_id: message.channel, item, event_ts: now() });
  };

  return {
    event,
    shown,
    changed,
    deleted,
    reacted,
    pinned,
    say(text, { by, channel, thread, file, botId, broadcast }) {
      const files = file ? [world.file(file.name, file.mime, file.data)] : [];
      const message = world.post({ channel, text, user: by.id, threadTs: thread, files, botId });
      const inner = shown(message);
      const subtype = broadcast === true ? { subtype: "thread_broadcast" } : botId === undefined ? {} : { subtype: "bot_message" };
      const events = [event({ ...inner, client_msg_id: randomUUID(), ...subtype })];
      // A mention in a channel comes a second time, as an event of its own.
      if (kindOf(channel) !== "im" && text.includes(`<@${bot.id}>`)) events.push(event({ ...inner, type: "app_mention" }));
      return { ts: message.ts, channel, events };
    },
    edit(channel, ts, text) {
      const message = world.find(channel, ts)!;
      const previous = messageObject(message, world, urls.files());
      message.text = text;
      message.editedAt = now();
      return changed(message, previous);
    },
    remove(channel, ts) {
      const message = world.find(channel, ts)!;
      world.remove(channel, ts);
      return deleted(message);
    },
    react(channel, ts, name, by, what = "added") {
      const message = world.find(channel, ts)!;
      const people = message.reactions.get(name) ?? new Set();
      message.reactions.set(name, what === "added" ? people.add(by.id) : (people.delete(by.id), people));
      return reacted(message, name, by, what);
    },
    press(channel, ts, by, value = "") {
      const message = world.find(channel, ts)!;
      const { element, blockId } = elementIn(message, value);
      const chosen = element.type === "static_select" ? { selected_option: { value } } : { value };
      return interaction(by, {
        type: "block_actions",
        container: { type: "message", message_ts: ts, channel_id: channel, is_ephemeral: message.ephemeralFor !== undefined },
        channel: { id: channel, name: world.conversations.get(channel)?.name ?? "directmessage" },
        message: { ...messageObject(message, world, urls.files()), bot_id: bot.botId },
        response_url: `${urls.responses()}/actions/${channel}/${by.id}/${randomUUID()}`,
        actions: [{ type: element.type, action_id: element.action_id, block_id: blockId, action_ts: now(), ...chosen }],
      });
    },
    slash(command, text, by, channel) {
      const responseUrl = `${urls.responses()}/commands/${channel}/${by.id}/${randomUUID()}`;
      const delivered = delivery.deliver("slash_commands", {
        token: "deprecated",
        team_id: team.id,
        team_domain: "acme",
        channel_id: channel,
        channel_name: kindOf(channel) === "im" ? "directmessage" : (world.conversations.get(channel)?.name ?? ""),
        user_id: by.id,
        user_name: by.name,
        command,
        text,
        api_app_id: appId,
        is_enterprise_install: "false",
        response_url: responseUrl,
        trigger_id: randomUUID(),
      });
      return Object.assign(delivered, { responseUrl });
    },
    join(channel, user) {
      world.conversations.get(channel)!.members.add(user.id);
      return event({ type: "member_joined_channel", user: user.id, channel, channel_type: "C", team: team.id, event_ts: now() });
    },
    leave(channel, user) {
      world.conversations.get(channel)!.members.delete(user.id);
      return event({ type: "member_left_channel", user: user.id, channel, channel_type: "C", team: team.id, event_ts: now() });
    },
    pin(channel, ts, by) {
      world.conversations.get(channel)!.pins.add(ts);
      return pinned(world.find(channel, ts)!, by, "added");
    },
    moved(from) {
      const to = slackId("C");
      world.rename(from, to);
      event({ type: "channel_id_changed", old_channel_id: from, new_channel_id: to, event_ts: now() });
      return to;
    },
    submit: (by, values) =>
      interaction(by, { type: "view_submission", view: { id: slackId("V"), callback_id: "form", hash: "1.a", state: { values } }, response_urls: [] }),
  };
}
