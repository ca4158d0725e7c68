/** The parts of Mattermost's REST API that the channel uses. */
import {
  asChannelError,
  createCache,
  createHttpClient,
  type Fields,
  fieldsOf,
  type FilePart,
  type HttpRequest,
  listOf,
  recordsOf,
  type Refusal,
  textOf,
  unfit,
  unseen,
  wholeOf,
} from "openclaw/plugin-sdk/channel-kit";
import { ID, type MattermostAccount } from "./account.ts";

export interface Person {
  readonly id: string;
  readonly username: string;
  readonly name: string;
}

export interface Place {
  readonly id: string;
  /** Direct, group, open, private. */
  readonly type: string;
  readonly name: string;
  readonly title: string;
  readonly teamId: string;
  readonly lastPostAt: number;
}

export interface PostDraft {
  readonly channel_id: string;
  readonly message: string;
  readonly root_id?: string | undefined;
  readonly file_ids?: readonly string[] | undefined;
  readonly props?: Fields | undefined;
  readonly pending_post_id?: string | undefined;
}

const AUTH_FIX = "set a valid channels.mattermost.botToken, then run `openclaw channels status --probe` to check";
const PAGE = 200;
/** `since` gives this many posts at most, in no order. */
const MAX_SINCE = 1000;

function refusalOf(status: number, body: unknown): Refusal | undefined {
  if (status < 400) return undefined;
  const fields = fieldsOf(body) ?? {};
  const isOut = status === 401;
  return { reason: textOf(fields["id"]), description: textOf(fields["message"]), permanent: isOut, ...(isOut ? { fix: AUTH_FIX } : {}) };
}

function personOf(raw: unknown): Person {
  const user = fieldsOf(raw) ?? {};
  const full = [textOf(user["first_name"]), textOf(user["last_name"])].filter(Boolean).join(" ");
  const username = textOf(user["username"]) ?? "";
  return { id: textOf(user["id"]) ?? "", username, name: textOf(user["nickname"]) ?? (full || username) };
}

export function readChannel(raw: unknown): Place {
  const channel = fieldsOf(raw) ?? {};
  return {
    id: textOf(channel["id"]) ?? "",
    type: textOf(channel["type"]) ?? "",
    name: textOf(channel["name"]) ?? "",
    title: textOf(channel["display_name"]) ?? "",
    teamId: textOf(channel["team_id"]) ?? "",
    lastPostAt: wholeOf(channel["last_post_at"]) ?? 0,
  };
}

export type MattermostApi = ReturnType<typeof createApi>;

/** What the answer says of a target that is not there; other failures are thrown. */
export const ifThere = <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error: unknown) => {
    if (asChannelError(error)?.delivery.state === "failed" && asChannelError(error)?.permanent !== true) return undefined;
    throw error;
  });

export function createApi({ baseUrl, token }: MattermostAccount) {
  const http = createHttpClient({
    platform: "Mattermost",
    baseUrl: `${baseUrl}/api/v4`,
    headers: { authorization: `Bearer ${token}` },
    secrets: [token],
    readRefusal: ({ status, json }) => refusalOf(status, json),
  });
  const call = async (method: string, path: string, more: Omit<HttpRequest, "path" | "method"> = {}): Promise<unknown> =>
    (await http.request({ method, path, ...more })).json;
  const users = createCache(async (id) => personOf(await call("GET", `/users/${encodeURIComponent(id)}`)));
  const names = createCache(async (name) => personOf(await call("GET", `/users/username/${encodeURIComponent(name)}`)), 200);
  const places = createCache(async (id) => readChannel(await call("GET", `/channels/${encodeURIComponent(id)}`)));
  const directs = createCache(async (id) => readChannel(await unseen(call("POST", "/channels/direct", { json: [(await users.get("me")).id, id] }))).id);
  const posts = createCache(async (id) => fieldsOf(await call("GET", `/posts/${encodeURIComponent(id)}`)) ?? {}, 200);
  const postsIn = (body: unknown): Fields[] => recordsOf(Object.values(fieldsOf(fieldsOf(body)?.["posts"]) ?? {}));

  /** All posts after a time, where `since` left some out: newest first, page by page. */
  async function paged(channelId: string, since: number, signal: AbortSignal): Promise<Fields[]> {
    const found: Fields[] = [];
    for (let page = 0; ; page += 1) {
      const part = postsIn(await call("GET", `/channels/${channelId}/posts`, { query: { page, per_page: PAGE }, signal }));
      found.push(...part);
      if (part.length < PAGE || part.some((post) => (wholeOf(post["create_at"]) ?? 0) <= since)) return found;
    }
  }

  return {
    call,
    users,
    places,
    posts,
    person: personOf,
    close: () => http.close(),
    me: () => users.get("me"),
    /** Asks who the token belongs to, whatever is known. */
    login(signal?: AbortSignal): Promise<Person> {
      users.delete("me");
      return call("GET", "/users/me", { signal, timeoutMs: 15_000 }).then((raw) => {
        users.set("me", personOf(raw));
        return personOf(raw);
      });
    },
    byName: (name: string) => names.get(name.replace(/^@/, "").toLowerCase()),
    channels: async (signal?: AbortSignal): Promise<Place[]> => listOf(await call("GET", "/users/me/channels", { signal })).map(readChannel),
    /** Posts that were written or changed after a time, oldest first. */
    async postsSince(channelId: string, since: number, signal: AbortSignal): Promise<Fields[]> {
      const found = postsIn(await call("GET", `/channels/${channelId}/posts`, { query: { since }, signal }));
      const all = found.length < MAX_SINCE ? found : await paged(channelId, since, signal);
      return all.toSorted((a, b) => (wholeOf(a["create_at"]) ?? 0) - (wholeOf(b["create_at"]) ?? 0));
    },
    /** The channel that a target names: `channel:`, `group:`, `#id` or an id; `user:`, `mattermost:` or `@name` for a person. */
    async channelFor(to: string): Promise<string> {
      const { kind, id } = parseTarget(to);
      if (kind === "channel") return id;
      return directs.get(kind === "user" ? id : (await names.get(id)).id);
    },
    createPost: async (draft: PostDraft, signal?: AbortSignal): Promise<Fields> =>
      fieldsOf(await call("POST", "/posts", { json: draft, signal, lane: "posts", action: "send" })) ?? {},
    async upload(channelId: string, file: FilePart, signal?: AbortSignal): Promise<string> {
      const body = await unseen(call("POST", "/files", { parts: { channel_id: channelId, files: file }, signal, action: "upload" }));
      const id = textOf(fieldsOf(listOf(fieldsOf(body)?.["file_infos"])[0])?.["id"]);
      if (id === undefined) throw unfit("upload", "Mattermost accepted the file but returned no id", "BAD_ANSWER");
      return id;
    },
    download: (fileId: string, maxBytes: number, signal: AbortSignal) => http.download({ path: `/files/${encodeURIComponent(fileId)}`, maxBytes, signal }),
  };
}

export interface Target {
  readonly kind: "channel" | "user" | "name";
  readonly id: string;
}

export function parseTarget(to: string): Target {
  const text = to.trim();
  const named = /^(channel|group|user|mattermost):(.+)$/i.exec(text);
  const isUser = /^(?:user|mattermost)$/i.test(named?.[1] ?? "");
  const bare = (named?.[2] ?? text).trim();
  if (bare.startsWith("@") && !ID.test(bare.slice(1)) && /^@[\w.-]{1,64}$/.test(bare)) return { kind: "name", id: bare.slice(1).toLowerCase() };
  const id = bare.replace(/^[@#]/, "").toLowerCase();
  if (ID.test(id)) return { kind: isUser || bare.startsWith("@") ? "user" : "channel", id };
  throw unfit("send", `"${to}" is not a Mattermost chat; use channel:<id>, user:<id> or @name (ids have 26 letters and digits)`);
}
