/** Servers: members, roles, emoji, events, and who is let out. */
import type { Answer } from "../../../src/plugin-testing/index.ts";
import { bodyOf, formError } from "./posting.ts";
import { lookups, type Route, type RouteDeps, shown } from "./routes.ts";

const NO_CONTENT: Answer = { status: 204 };

export function guildRoutes(deps: RouteDeps): Route[] {
  const { world } = deps;
  const { guild, member } = lookups(deps);
  return [
    ["GET", /^\/guilds\/(\d+)$/, ({ ids: [id = ""] }) => plain(id)],
    ["GET", /^\/guilds\/(\d+)\/roles$/, ({ ids: [id = ""] }) => guild(id).roles],
    [
      "GET",
      /^\/guilds\/(\d+)\/members$/,
      ({ asked, ids: [id = ""] }) => {
        const limit = Number(asked.query.get("limit") ?? 1);
        if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw formError("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 1000.");
        return [...guild(id).members.values()].slice(0, limit);
      },
    ],
    ["GET", /^\/guilds\/(\d+)\/members\/(\d+)$/, ({ ids: [id = "", user = ""] }) => member(id, user)],
    [
      "GET",
      /^\/guilds\/(\d+)\/members\/search$/,
      ({ asked, ids: [id = ""] }) => {
        const query = asked.query.get("query");
        if (!query) throw formError("query", "BASE_TYPE_REQUIRED", "This field is required");
        const fits = (name: string | null): boolean => name?.toLowerCase().startsWith(query.toLowerCase()) === true;
        return [...guild(id).members.values()].filter(({ user, nick }) => fits(user.username) || fits(user.global_name) || fits(nick));
      },
    ],
    [
      "PATCH",
      /^\/guilds\/(\d+)\/members\/(\d+)$/,
      ({ asked, ids: [id = "", user = ""] }) => {
        const found = member(id, user);
        const until = bodyOf(asked)["communication_disabled_until"];
        if (typeof until === "string" && Number.isNaN(Date.parse(until)))
          throw formError("communication_disabled_until", "DATE_TIME_TYPE_PARSE", "Could not parse");
        return Object.assign(found, bodyOf(asked));
      },
    ],
    [
      "PUT",
      /^\/guilds\/(\d+)\/members\/(\d+)\/roles\/(\d+)$/,
      ({ ids: [id = "", user = "", role = ""] }) => {
        const found = member(id, user);
        found.roles = [...new Set([...found.roles, role])];
        return NO_CONTENT;
      },
    ],
    [
      "DELETE",
      /^\/guilds\/(\d+)\/members\/(\d+)\/roles\/(\d+)$/,
      ({ ids: [id = "", user = "", role = ""] }) => {
        const found = member(id, user);
        found.roles = found.roles.filter((one) => one !== role);
        return NO_CONTENT;
      },
    ],
    [
      "DELETE",
      /^\/guilds\/(\d+)\/members\/(\d+)$/,
      ({ ids: [id = "", user = ""] }) => {
        member(id, user);
        guild(id).members.delete(user);
        return NO_CONTENT;
      },
    ],
    [
      "PUT",
      /^\/guilds\/(\d+)\/bans\/(\d+)$/,
      ({ ids: [id = "", user = ""] }) => {
        guild(id).bans.add(user);
        guild(id).members.delete(user);
        return NO_CONTENT;
      },
    ],
    ["GET", /^\/guilds\/(\d+)\/emojis$/, ({ ids: [id = ""] }) => guild(id).emojis],
    [
      "POST",
      /^\/guilds\/(\d+)\/emojis$/,
      ({ asked, ids: [id = ""] }) => {
        const { name, image } = bodyOf(asked);
        if (typeof name !== "string" || !/^\w{2,32}$/.test(name)) throw formError("name", "STRING_TYPE_REGEX", "String value did not match validation regex.");
        if (typeof image !== "string" || !image.startsWith("data:image/")) throw formError("image", "IMAGE_INVALID", "Invalid image data");
        const emoji = { id: world.id(), name, animated: false };
        guild(id).emojis.push(emoji);
        return { status: 201, body: emoji } satisfies Answer;
      },
    ],
    [
      "POST",
      /^\/guilds\/(\d+)\/stickers$/,
      ({ asked, ids: [id = ""] }) => {
        const field = (name: string): string => asked.parts.find((part) => part.name === name)?.data.toString("utf8") ?? "";
        for (const name of ["name", "tags"]) if (field(name) === "") throw formError(name, "BASE_TYPE_REQUIRED", "This field is required");
        const file = asked.parts.find((part) => part.name === "file");
        if (!file || file.data.length > 512 * 1024) throw formError("file", "BASE_TYPE_REQUIRED", "This field is required");
        const sticker = { id: world.id(), name: field("name"), tags: field("tags"), description: field("description") };
        guild(id).stickers.push(sticker);
        return { status: 201, body: sticker } satisfies Answer;
      },
    ],
    ["GET", /^\/guilds\/(\d+)\/scheduled-events$/, ({ ids: [id = ""] }) => guild(id).events],
    [
      "POST",
      /^\/guilds\/(\d+)\/scheduled-events$/,
      ({ asked, ids: [id = ""] }) => {
        const body = bodyOf(asked);
        for (const key of ["name", "privacy_level", "scheduled_start_time", "entity_type"])
          if (body[key] === undefined) throw formError(key, "BASE_TYPE_REQUIRED", "This field is required");
        if (body["entity_type"] === 3 && body["scheduled_end_time"] === undefined) throw formError("scheduled_end_time", "BASE_TYPE_REQUIRED", "required");
        const event = { id: world.id(), ...body };
        guild(id).events.push(event);
        return event;
      },
    ],
    [
      "GET",
      /^\/guilds\/(\d+)\/voice-states\/(\d+)$/,
      ({ ids: [id = "", user = ""] }) => ({ guild_id: guild(id).id, user_id: user, channel_id: null, mute: false }),
    ],
    [
      "GET",
      /^\/guilds\/(\d+)\/messages\/search$/,
      ({ asked, ids: [id = ""] }) => {
        const text = asked.query.get("content") ?? "";
        const inside = [...world.channels.values()].filter((channel) => channel.guild_id === guild(id).id);
        const found = inside.flatMap((channel) => world.messages.get(channel.id) ?? []).filter(({ content }) => content.includes(text));
        return { total_results: found.length, messages: found.map((message) => [shown(world, message)]) };
      },
    ],
  ];

  function plain(id: string): unknown {
    const { members: _members, bans: _bans, events: _events, ...rest } = guild(id);
    return rest;
  }
}
