/** Objects of the Bot API as they stand on the wire. */

export interface User {
  readonly id: number;
  readonly is_bot: boolean;
  readonly first_name: string;
  readonly last_name?: string;
  readonly username?: string;
  readonly language_code?: string;
}

export interface Chat {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup" | "channel";
  readonly title?: string;
  readonly username?: string;
  readonly first_name?: string;
  readonly is_forum?: true;
}

/** Offsets are UTF-16. */
export interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
  readonly custom_emoji_id?: string;
}

export interface Button {
  readonly text: string;
  readonly callback_data?: string;
  readonly url?: string;
}

export interface Message {
  readonly message_id: number;
  readonly date: number;
  readonly chat: Chat;
  readonly from?: User;
  readonly sender_chat?: Chat;
  readonly text?: string;
  readonly caption?: string;
  readonly entities?: readonly Entity[];
  readonly caption_entities?: readonly Entity[];
  readonly edit_date?: number;
  readonly message_thread_id?: number;
  readonly is_topic_message?: true;
  readonly media_group_id?: string;
  readonly reply_to_message?: Message;
  readonly reply_markup?: { readonly inline_keyboard: readonly (readonly Button[])[] };
  /** Media, service facts and the like. */
  readonly [field: string]: unknown;
}

export interface Update {
  readonly update_id: number;
  readonly [kind: string]: unknown;
}

export interface StoredFile {
  readonly fileId: string;
  readonly uniqueId: string;
  readonly path: string;
  readonly name: string;
  readonly mime: string;
  readonly data: Buffer;
}

/** An answer that is not `ok`. */
export class Refusal extends Error {
  readonly status: number;
  readonly parameters: Readonly<Record<string, number>> | undefined;
  constructor(status: number, description: string, parameters?: Readonly<Record<string, number>>) {
    super(description);
    this.status = status;
    this.parameters = parameters;
  }
}

export const badRequest = (what: string): Refusal => new Refusal(400, `Bad Request: ${what}`);
export const forbidden = (what: string): Refusal => new Refusal(403, `Forbidden: ${what}`);
