/** The REST part of the API. */
import type { Answer, Asked } from "../../../src/plugin-testing/index.ts";
import { attachmentJson, messageJson, reactionJson, spaceJson, userJson } from "./json.ts";
import { denied, invalid, type Message, notFound, Refused, type UploadedFile } from "./objects.ts";
import type { World } from "./world.ts";

interface Call {
  readonly ids: readonly string[];
  readonly asked: Asked;
}
type Handler = (call: Call) => Answer;

export interface Permissions {
  /** Files and reactions, which take the authorization of a user. */
  readonly forUsers: () => boolean;
}

const USER_ONLY = "Request had insufficient authentication scopes.";

const MAX_PAGE = 1000;
const pageToken = (from: number): string => Buffer.from(`from:${from}`).toString("base64url");

function listed(asked: Asked, key: string, all: readonly object[]): Answer {
  const wanted = Number(asked.query.get("pageSize") ?? 0);
  if (!Number.isInteger(wanted) || wanted < 0) throw invalid("Invalid page_size.");
  const token = asked.query.get("pageToken") ?? "";
  const from = token === "" ? 0 : all.findIndex((_, at) => pageToken(at) === token);
  if (from < 0) throw invalid("Invalid page_token.");
  const next = from + Math.min(wanted === 0 ? 100 : wanted, MAX_PAGE);
  return { body: { [key]: all.slice(from, next), ...(next < all.length ? { nextPageToken: pageToken(next) } : {}) } };
}

function spaceRoutes(world: World, { forUsers }: Permissions): [string, Handler][] {
  const ours = () => [...world.spaces.values()].filter(({ members }) => members.has(world.bot.name));
  return [
    ["GET /v1/spaces", ({ asked }) => listed(asked, "spaces", ours().map(spaceJson))],
    [
      "GET /v1/spaces:findDirectMessage",
      ({ asked }) => {
        const wanted = asked.query.get("name") ?? "";
        const user = [...world.users.values()].find(({ name, email }) => name === wanted || (email !== undefined && `users/${email}` === wanted));
        const found = user && ours().find(({ spaceType, members }) => spaceType === "DIRECT_MESSAGE" && members.has(user.name));
        if (!found) throw notFound("Direct message");
        return { body: spaceJson(found) };
      },
    ],
    ["GET /v1/spaces/:id", ({ ids }) => ({ body: spaceJson(world.space(`spaces/${ids[0]}`)) })],
    [
      "GET /v1/spaces/:id/members",
      ({ ids, asked }) => {
        const space = world.space(`spaces/${ids[0]}`);
        const users = [...space.members].map((name) => world.users.get(name)!);
        // An app does not see apps, nor itself.
        const members = users
          .filter(({ type }) => type === "HUMAN" || forUsers())
          .map((user) => ({
            name: `${space.name}/members/${user.name.split("/")[1]}`,
            state: "JOINED",
            role: "ROLE_MEMBER",
            member: userJson(user),
          }));
        return listed(asked, "memberships", members);
      },
    ],
  ];
}

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function messageRoutes(world: World, { forUsers }: Permissions): [string, Handler][] {
  const requests = new Map<string, Message>();
  const shown = (message: Message): Answer => ({ body: messageJson(message, world.spaces.get(message.space)!, world.bot) });
  function attachmentsIn(value: unknown): UploadedFile[] {
    if (!Array.isArray(value)) return [];
    return value.map((raw: { attachmentDataRef?: { attachmentUploadToken?: string } }) => {
      const resourceName = world.uploads.get(raw?.attachmentDataRef?.attachmentUploadToken ?? "");
      const file = world.files.get(resourceName ?? "");
      if (resourceName === undefined || !file) throw invalid("Invalid attachment upload token.");
      return { contentName: file.name, contentType: file.type, resourceName };
    });
  }
  /** Without the option a thread that is named is ignored. */
  function threadIn(asked: Asked): string | undefined {
    const { thread } = asked.fields as { thread?: { name?: unknown } };
    const named = textIn(thread?.name);
    const option = asked.query.get("messageReplyOption") ?? "MESSAGE_REPLY_OPTION_UNSPECIFIED";
    if (named === undefined || option === "MESSAGE_REPLY_OPTION_UNSPECIFIED") return undefined;
    const isThere = world.messages.some((message) => message.thread === named);
    if (!isThere && option === "REPLY_MESSAGE_OR_FAIL") throw notFound("Thread");
    return isThere ? named : undefined;
  }
  const edited: Handler = ({ ids, asked }) => {
    const mask = (asked.query.get("updateMask") ?? "").split(",").filter(Boolean);
    if (mask.length === 0) throw invalid("update_mask is required.");
    const changes = Object.fromEntries(mask.map((key) => [key, asked.fields[key]]));
    return shown(world.edit(`spaces/${ids[0]}/messages/${ids[1]}`, changes));
  };
  return [
    [
      "GET /v1/spaces/:id/messages",
      ({ ids, asked }) => {
        if (!forUsers()) throw denied(USER_ONLY);
        const { name } = world.space(`spaces/${ids[0]}`);
        const space = world.spaces.get(name)!;
        const all = world.messages.filter((message) => message.space === name && !message.isGone);
        const isNewestFirst = /desc/i.test(asked.query.get("orderBy") ?? "");
        return listed(
          asked,
          "messages",
          (isNewestFirst ? all.toReversed() : all).map((message) => messageJson(message, space, world.bot)),
        );
      },
    ],
    [
      "GET /v1/spaces/:id/messages/:message/attachments/:attachment",
      ({ ids }) => {
        const { name, attachment } = world.message(`spaces/${ids[0]}/messages/${ids[1]}`);
        const found = attachment.find((file) => file.name === `${name}/attachments/${ids[2]}`);
        if (!found) throw notFound("Attachment");
        return { body: attachmentJson(found) };
      },
    ],
    [
      "POST /v1/spaces/:id/messages",
      ({ ids, asked }) => {
        const space = world.space(`spaces/${ids[0]}`);
        const { text, cardsV2, attachment } = asked.fields;
        const requestId = asked.query.get("requestId");
        const before = requestId === null ? undefined : requests.get(`${space.name} ${requestId}`);
        if (before) return shown(before);
        const clientId = asked.query.get("messageId") ?? undefined;
        if (clientId !== undefined && world.messages.some((one) => one.space === space.name && one.clientId === clientId))
          throw new Refused(409, "ALREADY_EXISTS", "Requested entity already exists");
        const message = world.create(world.bot, space.name, {
          text: textIn(text),
          cardsV2: Array.isArray(cardsV2) ? (cardsV2 as unknown[]) : undefined,
          attachment: attachmentsIn(attachment),
          thread: threadIn(asked),
          clientId,
        });
        if (requestId !== null) requests.set(`${space.name} ${requestId}`, message);
        return shown(message);
      },
    ],
    ["GET /v1/spaces/:id/messages/:message", ({ ids }) => shown(world.message(`spaces/${ids[0]}/messages/${ids[1]}`))],
    ["PATCH /v1/spaces/:id/messages/:message", edited],
    ["PUT /v1/spaces/:id/messages/:message", edited],
    [
      "DELETE /v1/spaces/:id/messages/:message",
      ({ ids }) => {
        world.remove(`spaces/${ids[0]}/messages/${ids[1]}`);
        return { body: {} };
      },
    ],
  ];
}

function reactionRoutes(world: World, { forUsers }: Permissions): [string, Handler][] {
  const messageOf = ({ ids }: Call): Message => {
    if (!forUsers()) throw denied(USER_ONLY);
    return world.message(`spaces/${ids[0]}/messages/${ids[1]}`);
  };
  return [
    [
      "POST /v1/spaces/:id/messages/:message/reactions",
      (call) => {
        const { emoji } = call.asked.fields as { emoji?: { unicode?: unknown } };
        const unicode = textIn(emoji?.unicode);
        if (unicode === undefined || /^[\w:]*$/.test(unicode)) throw invalid("Invalid emoji.");
        return { body: reactionJson(world.react(world.bot, messageOf(call).name, unicode)) };
      },
    ],
    [
      "GET /v1/spaces/:id/messages/:message/reactions",
      (call) => listed(call.asked, "reactions", (world.reactions.get(messageOf(call).name) ?? []).map(reactionJson)),
    ],
    [
      "DELETE /v1/spaces/:id/messages/:message/reactions/:reaction",
      (call) => {
        const { name } = messageOf(call);
        const [all, wanted] = [world.reactions.get(name) ?? [], `${name}/reactions/${call.ids[2]}`];
        if (!all.some((one) => one.name === wanted)) throw notFound("Reaction");
        world.reactions.set(
          name,
          all.filter((one) => one.name !== wanted),
        );
        return { body: {} };
      },
    ],
  ];
}

const MAX_FILE_BYTES = 200 * 1024 * 1024;

function fileRoutes(world: World, { forUsers }: Permissions): [string, Handler][] {
  return [
    [
      "POST /upload/v1/spaces/:id/attachments:upload",
      ({ ids, asked }) => {
        if (!forUsers()) throw denied(USER_ONLY);
        const space = world.space(`spaces/${ids[0]}`);
        const [facts, file] = asked.parts;
        if (asked.query.get("uploadType") !== "multipart" || !facts || !file) throw invalid("Expected JSON and a file.");
        const { filename } = JSON.parse(facts.data.toString("utf8")) as { filename?: unknown };
        if (typeof filename !== "string" || file.data.length > MAX_FILE_BYTES) throw invalid("Invalid attachment.");
        const { resourceName } = world.addFile(space.name, filename, file.mimeType ?? "application/octet-stream", Buffer.from(file.data));
        const token = `upload-${world.uploads.size + 1}`;
        world.uploads.set(token, resourceName);
        return { body: { attachmentDataRef: { resourceName, attachmentUploadToken: token } } };
      },
    ],
    [
      "GET /v1/media/:resource+",
      ({ ids, asked }) => {
        const file = world.files.get(ids[0]!);
        if (!file || asked.query.get("alt") !== "media") throw notFound("Attachment");
        return { body: file.data, headers: { "content-type": file.type } };
      },
    ],
  ];
}

/** Answers requests to the API that have a valid token. */
export function createRoutes(world: World, permissions: Permissions): (asked: Asked) => Answer | undefined {
  const lines = [
    ...spaceRoutes(world, permissions),
    ...messageRoutes(world, permissions),
    ...reactionRoutes(world, permissions),
    ...fileRoutes(world, permissions),
  ];
  const table = lines.map(([line, handler]) => {
    const [method, path = ""] = line.split(" ");
    const pattern = path.replaceAll(/\/:\w+\+/g, "/(.+)").replaceAll(/\/:\w+/g, "/([^/]+)");
    return { method, pattern: new RegExp(`^${pattern}$`), handler };
  });
  return (asked) => {
    const path = decodeURIComponent(asked.path);
    for (const { method, pattern, handler } of table) {
      const match = method === asked.method ? pattern.exec(path) : null;
      if (!match) continue;
      try {
        return handler({ ids: match.slice(1), asked });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        const { status, code, message } = error;
        return { status, body: { error: { code: status, message, status: code } } };
      }
    }
    return undefined;
  };
}
