/** What a Mattermost server holds, in the form of its API (version 4). */
import { randomBytes } from "node:crypto";

export interface User {
  readonly id: string;
  username: string;
  readonly nickname: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly is_bot?: boolean;
}

export interface Channel {
  readonly id: string;
  /** Direct, group, open, private. */
  readonly type: "D" | "G" | "O" | "P";
  readonly name: string;
  readonly display_name: string;
  readonly team_id: string;
  last_post_at: number;
  delete_at: number;
}

export interface FileInfo {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly extension: string;
  readonly size: number;
  readonly mime_type: string;
}

export interface Reaction {
  readonly user_id: string;
  readonly post_id: string;
  readonly emoji_name: string;
  readonly create_at: number;
}

export interface PostAction {
  readonly id?: string;
  readonly name?: string;
  readonly type?: string;
  readonly integration?: { readonly url?: string; readonly context?: Record<string, unknown> };
}

export interface Post {
  readonly id: string;
  readonly create_at: number;
  update_at: number;
  edit_at: number;
  delete_at: number;
  readonly user_id: string;
  readonly channel_id: string;
  readonly root_id: string;
  /** The post that this row is an earlier text of. */
  readonly original_id: string;
  message: string;
  readonly type: string;
  props: Record<string, unknown>;
  readonly file_ids: readonly string[];
  pending_post_id: string;
  metadata?: { files?: FileInfo[] };
}

const ALPHABET = "ybndrfg8ejkmcpqxot1uwisza345h769";

/** 26 characters, as the server makes them. */
export function newId(): string {
  return [...randomBytes(26)].map((byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

export const isId = (value: unknown): value is string => typeof value === "string" && /^[a-z0-9]{26}$/.test(value);

/** A refusal in the server's form. */
export class Refused extends Error {
  readonly status: number;
  readonly id: string;

  constructor(status: number, id: string, message: string) {
    super(message);
    this.status = status;
    this.id = id;
  }
}

export const invalidParam = (name: string): Refused =>
  new Refused(400, "api.context.invalid_body_param.app_error", `Invalid or missing ${name} in request body.`);
export const forbidden = (): Refused => new Refused(403, "api.context.permissions.app_error", "You do not have the appropriate permissions.");
export const notFound = (what: string): Refused => new Refused(404, `app.${what}.get.app_error`, `Unable to find the existing ${what}.`);

/** Clients never see where a button's request goes, or what it carries. */
export function forClients(post: Post): Post {
  const attachments = post.props["attachments"];
  if (!Array.isArray(attachments)) return post;
  const stripped = (attachments as readonly Record<string, unknown>[]).map((attachment) => ({
    ...attachment,
    ...(Array.isArray(attachment["actions"])
      ? { actions: (attachment["actions"] as readonly PostAction[]).map(({ integration: _hidden, ...action }) => action) }
      : {}),
  }));
  return { ...post, props: { ...post.props, attachments: stripped } };
}
