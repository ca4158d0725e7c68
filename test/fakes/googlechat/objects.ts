/** What Google Chat's API is about. */
export interface User {
  readonly name: string;
  readonly displayName: string;
  readonly type: "HUMAN" | "BOT";
  readonly email?: string | undefined;
}

export interface Space {
  readonly name: string;
  readonly displayName: string;
  readonly spaceType: "DIRECT_MESSAGE" | "GROUP_CHAT" | "SPACE";
  /** Names of users. */
  readonly members: Set<string>;
}

export interface UploadedFile {
  readonly contentName: string;
  readonly contentType: string;
  readonly resourceName: string;
}

/** A file in a message. */
export interface Attachment extends UploadedFile {
  readonly name: string;
}

export interface Message {
  readonly name: string;
  readonly clientId: string | undefined;
  readonly sender: User;
  readonly space: string;
  readonly thread: string;
  readonly threadReply: boolean;
  readonly createTime: string;
  /** Of the last edit. */
  lastUpdateTime: string | undefined;
  text: string;
  cardsV2: readonly unknown[];
  readonly attachment: readonly Attachment[];
  readonly quoted: string | undefined;
  readonly mentions: readonly User[];
  isGone: boolean;
}

export interface Reaction {
  readonly name: string;
  readonly user: User;
  readonly emoji: string;
}

/** An error as the API words it. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const notFound = (what: string): Refused => new Refused(404, "NOT_FOUND", `${what} not found.`);
export const invalid = (message: string): Refused => new Refused(400, "INVALID_ARGUMENT", message);
export const denied = (message: string): Refused => new Refused(403, "PERMISSION_DENIED", message);

let count = 0;
/** Letters, digits, - and _, as the platform's. */
export const newId = (prefix = "A"): string => `${prefix}${(count += 1).toString(36).padStart(4, "0")}${Math.random().toString(36).slice(2, 8)}`;
export const newUserName = (): string => `users/${100_000_000_000_000_000_000n + BigInt((count += 1))}`;
