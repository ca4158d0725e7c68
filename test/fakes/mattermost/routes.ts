/** The REST part of the API. */
import type { Answer, Asked } from "../../../src/plugin-testing/index.ts";
import { forbidden, forClients, invalidParam, isId, newId, notFound, type Post, Refused, type User } from "./objects.ts";
import type { World } from "./world.ts";

type Handler = (call: { readonly me: User; readonly ids: readonly string[]; readonly asked: Asked }) => Answer;

const MAX_FILE_BYTES = 100 * 1024 * 1024;

const listed = (posts: readonly Post[]): Answer => {
  const sorted = posts.toSorted((a, b) => b.create_at - a.create_at);
  return { body: { order: sorted.map(({ id }) => id), posts: Object.fromEntries(sorted.map((post) => [post.id, post])), next_post_id: "", prev_post_id: "" } };
};

function bodyList({ body }: Asked): unknown[] {
  const value: unknown = JSON.parse(body.toString("utf8") || "null");
  if (!Array.isArray(value)) throw invalidParam("user_ids");
  return value;
}

const meOr = (id: string | undefined, me: User): string => (id === "me" || id === undefined ? me.id : id);

function userRoutes(world: World, typed: (line: { readonly channelId: string; readonly parentId: string }) => void): [string, Handler][] {
  const user = (id: string): User => {
    const found = world.users.get(id);
    if (!found) throw notFound("user");
    return found;
  };
  const teams = [world.team];
  const allUsers = (): User[] => [...world.users.values()];
  return [
    ["GET /users/:id", ({ me, ids }) => ({ body: user(meOr(ids[0], me)) })],
    [
      "GET /users/username/:name",
      ({ ids }) => {
        const found = allUsers().find(({ username }) => username === ids[0]);
        if (!found) throw notFound("user");
        return { body: found };
      },
    ],
    ["GET /users", ({ asked }) => ({ body: allUsers().slice(0, Number(asked.query.get("per_page") ?? 60)) })],
    ["POST /users/ids", ({ asked }) => ({ body: bodyList(asked).flatMap((id) => world.users.get(String(id)) ?? []) })],
    [
      "POST /users/search",
      ({ asked }) => ({ body: allUsers().filter(({ username }) => username.includes(typeof asked.fields["term"] === "string" ? asked.fields["term"] : "")) }),
    ],
    ["GET /users/:id/teams", () => ({ body: teams })],
    [
      "GET /users/:id/channels",
      ({ me }) => ({ body: [...world.channels.values()].filter(({ id, delete_at: gone }) => gone === 0 && world.isMember(id, me.id)) }),
    ],
    [
      "POST /users/:id/typing",
      ({ asked }) => {
        const { channel_id: channelId, parent_id: parentId = "" } = asked.fields;
        if (!isId(channelId)) throw invalidParam("channel_id");
        typed({ channelId, parentId: String(parentId) });
        return { body: { status: "OK" } };
      },
    ],
  ];
}

function channelRoutes(world: World): [string, Handler][] {
  const channel = (id: string | undefined, me: User) => {
    const found = world.channels.get(id ?? "");
    if (!found) throw notFound("channel");
    if (!world.isMember(found.id, me.id)) throw forbidden();
    return found;
  };
  return [
    ["GET /channels/:id", ({ me, ids }) => ({ body: channel(ids[0], me) })],
    [
      "POST /channels/direct",
      ({ me, asked }) => {
        const pair = bodyList(asked);
        if (pair.length !== 2 || !pair.every(isId)) throw invalidParam("user_ids");
        if (!pair.includes(me.id)) throw forbidden();
        if (!pair.every((id) => world.users.has(id))) throw notFound("user");
        return { status: 201, body: world.direct(pair[0]!, pair[1]!) };
      },
    ],
    [
      "GET /channels/:id/members",
      ({ me, ids }) => ({ body: [...world.members.get(channel(ids[0], me).id)!].map((id) => ({ channel_id: ids[0], user_id: id })) }),
    ],
    [
      "GET /teams/:id/channels/name/:name",
      ({ me, ids }) => {
        const found = [...world.channels.values()].find(({ name, team_id: teamId }) => name === ids[1] && teamId === ids[0]);
        return { body: channel(found?.id, me) };
      },
    ],
    [
      "GET /channels/:id/posts",
      ({ me, ids, asked }) => {
        const { id } = channel(ids[0], me);
        const since = asked.query.get("since");
        if (since !== null) return listed(world.since(id, Number(since)));
        const [page, size] = [Number(asked.query.get("page") ?? 0), Math.min(200, Number(asked.query.get("per_page") ?? 60))];
        const visible = world
          .rows(id)
          .filter((post) => post.delete_at === 0)
          .toSorted((a, b) => b.create_at - a.create_at);
        return listed(visible.slice(page * size, (page + 1) * size).map(forClients));
      },
    ],
  ];
}

function postRoutes(world: World): [string, Handler][] {
  const visible = (id: string | undefined, me: User): Post => {
    const post = world.post(id ?? "");
    if (!world.isMember(post.channel_id, me.id)) throw forbidden();
    return forClients(post);
  };
  return [
    ["POST /posts", ({ me, asked }) => ({ status: 201, body: world.create(me.id, asked.fields) })],
    ["GET /posts/:id", ({ me, ids }) => ({ body: visible(ids[0], me) })],
    ["PUT /posts/:id/patch", ({ me, ids, asked }) => ({ body: world.edit(me.id, ids[0]!, asked.fields) })],
    [
      "DELETE /posts/:id",
      ({ me, ids }) => {
        world.remove(me.id, ids[0]!);
        return { body: { status: "OK" } };
      },
    ],
    [
      "POST /reactions",
      ({ me, asked }) => {
        const { user_id: userId, post_id: postId, emoji_name: emoji } = asked.fields;
        if (userId !== me.id) throw forbidden();
        return { body: world.react(me.id, String(postId), String(emoji), true) };
      },
    ],
    [
      "DELETE /users/:id/posts/:post/reactions/:emoji",
      ({ me, ids }) => {
        if (meOr(ids[0], me) !== me.id) throw forbidden();
        world.react(me.id, ids[1]!, ids[2]!, false);
        return { body: { status: "OK" } };
      },
    ],
    ["GET /posts/:id/reactions", ({ ids }) => ({ body: world.reactions.filter(({ post_id: id }) => id === ids[0]) })],
  ];
}

function fileRoutes(world: World): [string, Handler][] {
  return [
    [
      "POST /files",
      ({ me, asked }) => {
        const channelId = asked.parts.find(({ name }) => name === "channel_id")?.data.toString("utf8") ?? asked.query.get("channel_id");
        if (!isId(channelId)) throw new Refused(400, "api.file.upload_file.incorrect_channelId.app_error", "Incorrect channel id.");
        if (!world.isMember(channelId, me.id)) throw forbidden();
        const sent = asked.parts.filter(({ name, fileName }) => name === "files" && fileName !== undefined);
        if (sent.length === 0) throw new Refused(400, "api.file.upload_file.no_files.app_error", "No files.");
        if (sent.some(({ data }) => data.length > MAX_FILE_BYTES)) throw new Refused(413, "api.file.upload_file.too_large_detailed.app_error", "Too large.");
        const infos = sent.map(({ fileName, mimeType, data }) => world.addFile(me.id, { name: fileName!, mime: mimeType ?? "", data }));
        return { status: 201, body: { file_infos: infos, client_ids: [] } };
      },
    ],
    [
      "GET /files/:id",
      ({ ids }) => {
        const file = world.files.get(ids[0]!);
        if (!file) throw notFound("file_info");
        return { body: file.data, headers: { "content-type": file.info.mime_type } };
      },
    ],
  ];
}

/** Answers requests below `/api/v4`. */
/** A custom slash command of a team. The server makes its token. */
export interface SlashCommand {
  readonly id: string;
  readonly token: string;
  readonly creator_id: string;
  readonly team_id: string;
  readonly trigger: string;
  readonly url: string;
}

const RESERVED = new Set(["help", "status", "me", "leave", "join", "msg", "search"]);

function commandRoutes(commands: Map<string, SlashCommand>, mayManage: () => boolean): [string, Handler][] {
  const checked = (fields: Readonly<Record<string, unknown>>): Pick<SlashCommand, "team_id" | "trigger" | "url"> => {
    const { team_id: team, trigger, url } = fields;
    if (!isId(team)) throw invalidParam("team_id");
    if (typeof trigger !== "string" || trigger === "" || /[\s/]/.test(trigger) || RESERVED.has(trigger)) throw invalidParam("trigger");
    if (typeof url !== "string" || !/^https?:/.test(url)) throw invalidParam("url");
    return { ...fields, team_id: team, trigger, url };
  };
  const need = (): void => {
    if (!mayManage()) throw forbidden();
  };
  return [
    [
      "GET /commands",
      ({ asked }) => {
        need();
        return { body: [...commands.values()].filter(({ team_id: team }) => team === asked.query.get("team_id")) };
      },
    ],
    [
      "POST /commands",
      ({ me, asked }) => {
        need();
        const fields = checked(asked.fields);
        if ([...commands.values()].some((one) => one.team_id === fields.team_id && one.trigger === fields.trigger)) throw invalidParam("trigger");
        const made = { ...fields, id: newId(), token: newId(), creator_id: me.id };
        commands.set(made.id, made);
        return { status: 201, body: made };
      },
    ],
    [
      "PUT /commands/:id",
      ({ ids, asked }) => {
        need();
        const known = commands.get(ids[0] ?? "");
        if (!known) throw notFound("command");
        const changed = { ...known, ...checked(asked.fields), id: known.id, token: known.token };
        commands.set(known.id, changed);
        return { body: changed };
      },
    ],
    [
      "DELETE /commands/:id",
      ({ ids }) => {
        need();
        if (!commands.delete(ids[0] ?? "")) throw notFound("command");
        return { body: { status: "OK" } };
      },
    ],
  ];
}

export function createRoutes(
  world: World,
  userOf: (token: string) => string | undefined,
  typed: (line: { readonly channelId: string; readonly parentId: string }) => void,
  slash: { readonly commands: Map<string, SlashCommand>; mayManage(): boolean },
): (asked: Asked) => Answer {
  const all = [
    ...userRoutes(world, typed),
    ...channelRoutes(world),
    ...postRoutes(world),
    ...fileRoutes(world),
    ...commandRoutes(slash.commands, slash.mayManage),
  ];
  const table = all.map(([line, handler]) => {
    const [method, path = ""] = line.split(" ");
    const pattern = new RegExp(`^/api/v4${path.replaceAll(/:\w+/g, "([^/]+)")}$`);
    return { method, pattern, handler, fixed: path.split(":").length };
  });
  // A path without names in it comes before one with.
  table.sort((a, b) => a.fixed - b.fixed);
  const refusal = (status: number, id: string, message: string): Answer => ({
    status,
    body: { id, message, detailed_error: "", request_id: "fakerequest", status_code: status },
  });
  return (asked) => {
    const [, token = ""] = /^bearer (.+)$/i.exec(asked.headers.authorization ?? "") ?? [];
    const me = world.users.get(userOf(token) ?? "");
    if (!me) return refusal(401, "api.context.session_expired.app_error", "Invalid or expired session, please login again.");
    const path = decodeURIComponent(asked.path);
    for (const { method, pattern, handler } of table) {
      const match = method === asked.method ? pattern.exec(path) : null;
      if (!match) continue;
      try {
        return handler({ me, ids: match.slice(1), asked });
      } catch (error) {
        if (error instanceof Refused) return refusal(error.status, error.id, error.message);
        throw error;
      }
    }
    return refusal(404, "api.context.404.app_error", "Sorry, we could not find the page.");
  };
}
