/** Flags that several actions have. */
import type { ActionFlag } from "./action.ts";

export const textFlag = (param: string, help: string, more: Partial<ActionFlag> = {}): ActionFlag => ({ type: "string", value: "text", help, param, ...more });
export const idFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "id", help, param });
export const manyFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "id", multiple: true, help, param });
export const numberFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "n", help, param, as: "number" });
export const jsonFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "json", help, param, as: "json" });
export const switchFlag = (param: string, help: string): ActionFlag => ({ type: "boolean", help, param });

export const message = textFlag("message", "the text", { short: "m" });
export const media: ActionFlag = { type: "string", value: "file", help: "address or path of a file", param: "media" };
export const messageId = idFlag("messageId", "the message");
export const replyTo = idFlag("replyTo", "the message that is answered");
export const threadId = idFlag("threadId", "thread or topic");
export const limit = numberFlag("limit", "how many");
export const guildId = idFlag("guildId", "server");
export const channelId = idFlag("channelId", "channel on the server");
export const userId = idFlag("userId", "person");
export const roleId = idFlag("roleId", "role");
export const silent = switchFlag("silent", "without a sound");
export const before = idFlag("before", "older than this message");
export const after = idFlag("after", "newer than this message");
