/** Messages that clients create and edit: what Discord checks, and what becomes of them. */
import type { Answer, Asked } from "../../../src/plugin-testing/index.ts";
import type { Attachment, Channel, Message, User, World } from "./world.ts";

export class Refused extends Error {
  readonly status: number;
  readonly code: number;
  readonly errors: unknown;

  constructor(status: number, code: number, message: string, errors?: unknown) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }

  get answer(): Answer {
    return { status: this.status, body: { message: this.message, code: this.code, ...(this.errors === undefined ? {} : { errors: this.errors }) } };
  }
}

export const formError = (field: string, code: string, message: string): Refused =>
  new Refused(400, 50_035, "Invalid Form Body", { [field]: { _errors: [{ code, message }] } });

type Body = Readonly<Record<string, unknown>>;

const MAX_FILE = 10 * 1024 * 1024;
export const LOADING = 128;
export const EPHEMERAL = 64;
const COMPONENTS_V2 = 1 << 15;

/** The JSON of a request, wherever it stands. */
export function bodyOf(asked: Asked): Body {
  const json = asked.parts.find(({ name }) => name === "payload_json");
  return json ? (JSON.parse(json.data.toString("utf8")) as Body) : asked.fields;
}

function checkText(body: Body): void {
  const { content, nonce, embeds } = body;
  if (content !== undefined && content !== null && typeof content !== "string") throw formError("content", "STRING_TYPE_CONVERT", "Not a well formed string.");
  if (typeof content === "string" && Array.from(content).length > 2000) throw formError("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.");
  if (typeof nonce === "string" && nonce.length > 25) throw formError("nonce", "NONCE_TYPE_TOO_LONG", "Nonce must be 25 or fewer in length.");
  if (Array.isArray(embeds) && embeds.length > 10) throw formError("embeds", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.");
  const mentions = body["allowed_mentions"] as { parse?: unknown } | undefined;
  const parse = mentions?.parse;
  if (parse !== undefined && !(Array.isArray(parse) && parse.every((one) => ["users", "roles", "everyone"].includes(String(one)))))
    throw formError("allowed_mentions", "BASE_TYPE_CHOICES", "Value must be one of ('users', 'roles', 'everyone').");
  const stickers = body["sticker_ids"];
  if (Array.isArray(stickers) && stickers.length > 3) throw formError("sticker_ids", "BASE_TYPE_MAX_LENGTH", "Must be 3 or fewer in length.");
}

interface Component {
  readonly type?: number;
  readonly components?: readonly Component[];
  readonly custom_id?: unknown;
  readonly label?: unknown;
  readonly url?: unknown;
  readonly style?: unknown;
  readonly options?: readonly unknown[];
}

function checkComponents(raw: unknown): void {
  if (raw === undefined || raw === null) return;
  if (!Array.isArray(raw)) throw formError("components", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType");
  const rows = (raw as readonly Component[]).flatMap((row) => (row.type === 17 ? [...(row.components ?? [])] : [row])).filter((row) => row.type !== 10);
  if (rows.length > 5) throw formError("components", "BASE_TYPE_MAX_LENGTH", "Must be 5 or fewer in length.");
  const seen = new Set<unknown>();
  for (const row of rows) {
    if (row.type !== 1 || !row.components || row.components.length === 0 || row.components.length > 5)
      throw formError("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.");
    for (const { type, custom_id: id, label, url, options } of row.components) {
      if (url === undefined && (typeof id !== "string" || id.length === 0 || id.length > 100))
        throw formError("components", "BASE_TYPE_BAD_LENGTH", "custom_id: Must be between 1 and 100 in length.");
      if (url === undefined && seen.has(id)) throw formError("components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated");
      seen.add(id ?? url);
      if (typeof label === "string" && label.length > 80) throw formError("components", "BASE_TYPE_MAX_LENGTH", "label: Must be 80 or fewer in length.");
      if (type === 3 && (!options || options.length === 0 || options.length > 25))
        throw formError("components", "BASE_TYPE_BAD_LENGTH", "options: Must be between 1 and 25 in length.");
    }
  }
}

function checkPoll(raw: unknown): unknown {
  if (raw === undefined || raw === null) return undefined;
  const poll = raw as { question?: { text?: string }; answers?: readonly { poll_media?: { text?: string } }[]; duration?: number };
  const question = poll.question?.text ?? "";
  if (question.length === 0 || question.length > 300) throw formError("poll", "BASE_TYPE_BAD_LENGTH", "question: Must be between 1 and 300 in length.");
  const answers = poll.answers ?? [];
  if (answers.length === 0 || answers.length > 10) throw formError("poll", "BASE_TYPE_BAD_LENGTH", "answers: Must be between 1 and 10 in length.");
  if (answers.some(({ poll_media: media }) => (media?.text ?? "").length === 0 || (media?.text ?? "").length > 55))
    throw formError("poll", "BASE_TYPE_BAD_LENGTH", "answers: Must be between 1 and 55 in length.");
  const { duration = 24 } = poll;
  if (!Number.isInteger(duration) || duration < 1 || duration > 768) throw formError("poll", "NUMBER_TYPE_MAX", "duration: must be between 1 and 768.");
  return { ...poll, answers: answers.map((answer, index) => ({ answer_id: index + 1, ...answer })) };
}

export interface Posting {
  /** A new message of this author; checks everything that Discord checks. */
  create(channel: Channel, author: User, asked: Asked, more?: Partial<Message>): Message;
  edit(message: Message, asked: Asked): void;
  /** A file of a message, under an address that expires. */
  attach(channelId: string, file: { readonly name: string; readonly type: string | undefined; readonly data: Buffer }): Attachment;
  /** Whom the text would notify, given what the client allowed. */
  mentionsIn(content: string, allowed: unknown): Pick<Message, "mentions" | "mention_roles" | "mention_everyone">;
  /** A fresh address of a file. */
  address(attachment: Attachment, channelId: string, livesMs?: number): string;
}

export function createPosting(world: World, cdn: () => string): Posting {
  function address({ id, filename }: Pick<Attachment, "id" | "filename">, channelId: string, livesMs = 86_400_000): string {
    const ex = Math.floor((world.now() + livesMs) / 1000).toString(16);
    return `${cdn()}/attachments/${channelId}/${id}/${encodeURIComponent(filename)}?ex=${ex}&is=${world.id()}&hm=${id}`;
  }

  const attach: Posting["attach"] = (channelId, file) => {
    const id = world.id();
    world.files.set(id, file);
    const url = address({ id, filename: file.name }, channelId);
    return { id, filename: file.name, size: file.data.length, ...(file.type === undefined ? {} : { content_type: file.type }), url, proxy_url: url };
  };

  const mentionsIn: Posting["mentionsIn"] = (content, allowed) => {
    const rules = allowed as { parse?: readonly string[]; users?: readonly string[]; roles?: readonly string[] } | undefined;
    const parses = (kind: string): boolean => rules === undefined || (rules.parse ?? []).includes(kind);
    const ids = [...content.matchAll(/<@!?(\d+)>/g)].map(([, id]) => id!).filter((id) => parses("users") || (rules?.users ?? []).includes(id));
    const roles = [...content.matchAll(/<@&(\d+)>/g)].map(([, id]) => id!).filter((id) => parses("roles") || (rules?.roles ?? []).includes(id));
    return {
      mentions: [...new Set(ids)].flatMap((id) => world.users.get(id) ?? []),
      mention_roles: roles,
      mention_everyone: /@(?:everyone|here)\b/.test(content) && parses("everyone"),
    };
  };

  function filesOf(channelId: string, asked: Asked): Attachment[] {
    const files = asked.parts.filter(({ name }) => /^files\[\d+\]$/.test(name));
    if (files.length > 10) throw formError("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.");
    if (files.some(({ data }) => data.length > MAX_FILE)) throw new Refused(413, 40_005, "Request entity too large");
    return files.map(({ fileName = "file", mimeType, data }) => attach(channelId, { name: fileName, type: mimeType, data }));
  }

  function referenceOf(body: Body, channel: Channel): Message["message_reference"] {
    const reference = body["message_reference"] as { message_id?: unknown; fail_if_not_exists?: unknown } | undefined;
    if (!reference) return undefined;
    const id = String(reference.message_id);
    if (world.find(channel.id, id)) return { type: 0, message_id: id, channel_id: channel.id };
    if (reference.fail_if_not_exists === false) return undefined;
    throw formError("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message");
  }

  return {
    address,
    attach,
    mentionsIn,
    create(channel, author, asked, more = {}) {
      const body = bodyOf(asked);
      checkText(body);
      checkComponents(body["components"]);
      const flags = typeof body["flags"] === "number" ? body["flags"] : 0;
      const content = typeof body["content"] === "string" ? body["content"].trim() : "";
      if ((flags & COMPONENTS_V2) !== 0 && content !== "") throw formError("content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "no content");
      const poll = checkPoll(body["poll"]);
      const attachments = filesOf(channel.id, asked);
      const [embeds, stickers, components] = ["embeds", "sticker_ids", "components"].map((key) => (Array.isArray(body[key]) ? (body[key] as unknown[]) : []));
      const isEmpty = content === "" && embeds!.length + stickers!.length + components!.length + attachments.length === 0 && poll === undefined;
      if (isEmpty && (flags & LOADING) === 0) throw new Refused(400, 50_006, "Cannot send an empty message");
      const reference = referenceOf(body, channel);
      const nonce = body["nonce"];
      return world.put({
        id: world.id(),
        type: reference === undefined ? 0 : 19,
        channel_id: channel.id,
        author,
        content,
        timestamp: new Date(world.now()).toISOString(),
        edited_timestamp: null,
        tts: false,
        ...mentionsIn(content, body["allowed_mentions"]),
        attachments,
        embeds: embeds!,
        pinned: false,
        flags,
        components: components!,
        ...(reference === undefined ? {} : { message_reference: reference }),
        ...(stickers!.length > 0 ? { sticker_items: stickers!.map((id) => ({ id: String(id), name: "wave", format_type: 1 })) } : {}),
        ...(poll === undefined ? {} : { poll }),
        ...(typeof nonce === "string" || typeof nonce === "number" ? { nonce } : {}),
        ...more,
      });
    },
    edit(message, asked) {
      const body = bodyOf(asked);
      checkText(body);
      checkComponents(body["components"]);
      if (typeof body["content"] === "string") {
        message.content = body["content"].trim();
        Object.assign(message, mentionsIn(message.content, body["allowed_mentions"]));
      }
      if (Array.isArray(body["components"])) message.components = body["components"];
      if (Array.isArray(body["embeds"])) message.embeds = body["embeds"];
      message.attachments = [...message.attachments, ...filesOf(message.channel_id, asked)];
      message.flags &= ~LOADING;
      message.edited_timestamp = new Date(world.now()).toISOString();
    },
  };
}
