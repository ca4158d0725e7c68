/** People, channels and posts of the fake, and the rules for posts. */
import {
  type Channel,
  type FileInfo,
  forbidden,
  forClients,
  invalidParam,
  isId,
  newId,
  notFound,
  type Post,
  type PostAction,
  type Reaction,
  Refused,
  type User,
} from "./objects.ts";

const MAX_POST_RUNES = 16_383;
const MAX_FILES = 10;
const PENDING_MS = 30_000;
const MAX_SINCE = 1000;

export interface Draft {
  readonly id?: unknown;
  readonly channel_id?: unknown;
  readonly message?: unknown;
  readonly root_id?: unknown;
  readonly file_ids?: unknown;
  readonly props?: unknown;
  readonly pending_post_id?: unknown;
}

/** Tells those who listen on a socket. */
export type Emit = (event: string, data: Readonly<Record<string, unknown>>, to: { readonly channelId?: string; readonly userId?: string }) => void;

export interface World {
  readonly users: Map<string, User>;
  readonly channels: Map<string, Channel>;
  readonly members: Map<string, Set<string>>;
  readonly files: Map<string, { readonly info: FileInfo; readonly data: Buffer }>;
  readonly team: { readonly id: string; readonly name: string; readonly display_name: string };
  readonly reactions: Reaction[];
  now(): number;
  /** Rows as they are in the database, in the order of their creation. */
  rows(channelId: string): Post[];
  post(id: string): Post;
  isMember(channelId: string, userId: string): boolean;
  direct(a: string, b: string): Channel;
  add(user: User): User;
  addChannel(channel: Pick<Channel, "type" | "name" | "display_name">, members: readonly string[]): Channel;
  addFile(userId: string, file: { readonly name: string; readonly mime: string; readonly data: Buffer }): FileInfo;
  create(userId: string, draft: Draft, more?: Partial<Pick<Post, "type">>): Post;
  edit(userId: string, id: string, changes: { readonly message?: unknown; readonly props?: unknown }): Post;
  remove(userId: string, id: string): void;
  react(userId: string, id: string, emoji: string, isOn: boolean): Reaction;
  since(channelId: string, since: number): readonly Post[];
  announce(post: Post): void;
  /** A post with this pending id is being saved, and not done. */
  hold(pendingId: string): void;
}

/** Ids of users that a text names, and everybody for `@all`, `@channel` and `@here`. */
function mentionsIn(text: string, members: ReadonlySet<string>, users: ReadonlyMap<string, User>, author: string): string[] {
  const names = new Set([...text.matchAll(/(?<![\w@])@([\w.-]+)/g)].map(([, name = ""]) => name.toLowerCase().replace(/[._-]+$/, "")));
  const isForAll = ["all", "channel", "here"].some((name) => names.has(name));
  return [...members].filter((id) => id !== author && (isForAll || names.has(users.get(id)?.username ?? "")));
}

export function createWorld(clock: () => number, emit: Emit): World {
  const users = new Map<string, User>();
  const channels = new Map<string, Channel>();
  const members = new Map<string, Set<string>>();
  const files: World["files"] = new Map();
  const posts = new Map<string, Post>();
  const reactions: Reaction[] = [];
  const pending = new Map<string, { readonly postId: string; readonly until: number }>();
  const team = { id: newId(), name: "engineering", display_name: "Engineering" };
  let last = 0;
  /** No two rows have the same time, so that the order is that of the times. */
  const now = (): number => (last = Math.max(last + 1, clock()));

  const isMember = (channelId: string, userId: string): boolean => members.get(channelId)?.has(userId) === true;
  function find(id: string): Post {
    const post = posts.get(id);
    if (!post || post.delete_at !== 0) throw notFound("post");
    return post;
  }
  const withFiles = (post: Post): Post => {
    const infos = post.file_ids.flatMap((id) => files.get(id)?.info ?? []);
    return { ...forClients(post), ...(infos.length > 0 ? { metadata: { files: infos } } : { metadata: {} }) };
  };

  function announce(post: Post): void {
    const channel = channels.get(post.channel_id)!;
    const mentions = mentionsIn(post.message, members.get(channel.id)!, users, post.user_id);
    emit(
      "posted",
      {
        channel_display_name: channel.display_name,
        channel_name: channel.name,
        channel_type: channel.type,
        post: JSON.stringify(withFiles(post)),
        sender_name: `@${users.get(post.user_id)?.username ?? ""}`,
        set_online: true,
        team_id: channel.team_id,
        ...(mentions.length > 0 ? { mentions: JSON.stringify(mentions) } : {}),
      },
      { channelId: channel.id },
    );
  }

  /** The post that this request made before, within the window. */
  function repeated(pendingId: string): Post | undefined {
    const known = pending.get(pendingId);
    if (pendingId === "" || !known || known.until <= clock()) return undefined;
    if (known.postId === "")
      throw new Refused(500, "api.post.deduplicate_create_post.pending", "Rejected post since another client is making the same request.");
    return { ...posts.get(known.postId)!, pending_post_id: "" };
  }

  function checked(userId: string, draft: Draft) {
    const { channel_id: channelId, message = "", root_id: rootId = "", file_ids: fileIds = [], props = {} } = draft;
    if (draft.id !== undefined && draft.id !== "") throw invalidParam("id");
    if (!isId(channelId)) throw invalidParam("channel_id");
    if (typeof message !== "string" || typeof rootId !== "string" || !Array.isArray(fileIds)) throw invalidParam("post");
    if (!isMember(channelId, userId)) throw forbidden();
    if (channels.get(channelId)!.delete_at !== 0)
      throw new Refused(400, "api.post.create_post.can_not_post_to_deleted.error", "Can not post to deleted channel.");
    if (Array.from(message).length > MAX_POST_RUNES) throw new Refused(400, "model.post.is_valid.message_length.app_error", "Invalid message length.");
    if (fileIds.length > MAX_FILES) throw new Refused(400, "model.post.is_valid.file_ids.app_error", "Invalid file ids.");
    const foreign = (fileIds as unknown[]).some((id) => files.get(String(id))?.info.user_id !== userId);
    if (foreign) throw new Refused(400, "api.post.create_post.file_ids.app_error", "A file of the post is not there.");
    if (rootId !== "") {
      const root = posts.get(rootId);
      if (!root || root.delete_at !== 0 || root.root_id !== "") throw new Refused(400, "api.post.create_post.root_id.app_error", "Invalid RootId parameter.");
      if (root.channel_id !== channelId) throw new Refused(400, "api.post.create_post.channel_root_id.app_error", "Invalid ChannelId for RootId parameter.");
    }
    return { channelId, message, rootId, fileIds: fileIds as string[], props: props as Record<string, unknown> };
  }

  /** Buttons get an id from the server where they have none. */
  function withActionIds(props: Record<string, unknown>): Record<string, unknown> {
    if (!Array.isArray(props["attachments"])) return props;
    const attachments = (props["attachments"] as readonly Record<string, unknown>[]).map((attachment) => {
      if (!Array.isArray(attachment["actions"])) return attachment;
      const actions = (attachment["actions"] as readonly PostAction[]).map((action) => {
        if (action.id !== undefined && !/^[A-Za-z0-9]+$/.test(action.id)) throw new Refused(400, "api.post.action.id.app_error", "Invalid action id.");
        return { ...action, id: action.id ?? newId() };
      });
      return { ...attachment, actions };
    });
    return { ...props, attachments };
  }

  return {
    users,
    channels,
    members,
    files,
    team,
    reactions,
    now,
    isMember,
    announce,
    rows: (channelId) => [...posts.values()].filter(({ channel_id: id }) => id === channelId),
    post: find,
    hold: (pendingId) => void pending.set(pendingId, { postId: "", until: clock() + PENDING_MS }),
    add(user) {
      users.set(user.id, user);
      return user;
    },
    addChannel(channel, people) {
      const isTeam = channel.type === "O" || channel.type === "P";
      const added: Channel = { ...channel, id: newId(), team_id: isTeam ? team.id : "", last_post_at: 0, delete_at: 0 };
      channels.set(added.id, added);
      members.set(added.id, new Set(people));
      return added;
    },
    direct(a, b) {
      const name = [a, b].toSorted().join("__");
      const known = [...channels.values()].find((channel) => channel.type === "D" && channel.name === name);
      return known ?? this.addChannel({ type: "D", name, display_name: "" }, [a, b]);
    },
    addFile(userId, { name, mime, data }) {
      const info: FileInfo = { id: newId(), user_id: userId, name, extension: name.split(".").at(-1) ?? "", size: data.length, mime_type: mime };
      files.set(info.id, { info, data });
      return info;
    },
    create(userId, draft, more = {}) {
      const pendingId = typeof draft.pending_post_id === "string" ? draft.pending_post_id : "";
      const before = repeated(pendingId);
      if (before) return withFiles(before);
      const { channelId, message, rootId, fileIds, props } = checked(userId, draft);
      const at = now();
      const isBot = users.get(userId)?.is_bot === true;
      const post: Post = {
        id: newId(),
        create_at: at,
        update_at: at,
        edit_at: 0,
        delete_at: 0,
        user_id: userId,
        channel_id: channelId,
        root_id: rootId,
        original_id: "",
        message,
        type: "",
        props: { ...withActionIds(props), ...(isBot ? { from_bot: "true" } : {}) },
        file_ids: fileIds,
        pending_post_id: pendingId,
        ...more,
      };
      posts.set(post.id, post);
      channels.get(channelId)!.last_post_at = at;
      if (pendingId !== "") pending.set(pendingId, { postId: post.id, until: clock() + PENDING_MS });
      announce(post);
      return withFiles(post);
    },
    edit(userId, id, { message, props }) {
      const post = find(id);
      if (post.user_id !== userId) throw forbidden();
      if (typeof message === "string" && Array.from(message).length > MAX_POST_RUNES)
        throw new Refused(400, "model.post.is_valid.message_length.app_error", "Invalid message length.");
      const at = now();
      const earlier: Post = { ...post, id: newId(), original_id: post.id, update_at: at, delete_at: at };
      posts.set(earlier.id, earlier);
      if (typeof message === "string") post.message = message;
      if (typeof props === "object" && props !== null) post.props = withActionIds(props as Record<string, unknown>);
      post.update_at = at;
      post.edit_at = at;
      emit("post_edited", { post: JSON.stringify(withFiles(post)) }, { channelId: post.channel_id });
      return withFiles(post);
    },
    remove(userId, id) {
      const post = find(id);
      if (post.user_id !== userId) throw forbidden();
      emit("post_deleted", { post: JSON.stringify(withFiles(post)), delete_by: userId }, { channelId: post.channel_id });
      post.delete_at = now();
      post.update_at = post.delete_at;
    },
    react(userId, id, emoji, isOn) {
      const post = find(id);
      if (!isMember(post.channel_id, userId)) throw forbidden();
      if (!/^[a-z0-9_+-]{1,64}$/.test(emoji)) throw new Refused(400, "model.reaction.is_valid.emoji_name.app_error", "Invalid emoji name.");
      const reaction: Reaction = { user_id: userId, post_id: id, emoji_name: emoji, create_at: now() };
      const at = reactions.findIndex((one) => one.user_id === userId && one.post_id === id && one.emoji_name === emoji);
      if (isOn && at < 0) reactions.push(reaction);
      if (!isOn && at >= 0) reactions.splice(at, 1);
      emit(isOn ? "reaction_added" : "reaction_removed", { reaction: JSON.stringify(reaction) }, { channelId: post.channel_id });
      return reaction;
    },
    since: (channelId, since) =>
      [...posts.values()]
        .filter((post) => post.channel_id === channelId && post.update_at > since)
        .slice(0, MAX_SINCE)
        .map(withFiles),
  };
}
