/** People, chats and updates for tests. */
import type { ChannelInboundEvent } from "../types.ts";
import type { MappingFacts } from "./chat.ts";
import { createLongTexts } from "./text.ts";
import { type MappedUpdate, mapUpdate } from "./update.ts";

export const BOT = { id: 7_012_345_678, is_bot: true, first_name: "Claw", username: "claw_bot" };
export const ADA = { id: 5_000_000_001, is_bot: false, first_name: "Ada", last_name: "L.", username: "ada" };
export const DM = { id: ADA.id, type: "private", first_name: "Ada", username: "ada" };
export const GROUP = { id: -1_001_234_567_890, type: "supergroup", title: "Friends" };
export const FORUM = { ...GROUP, is_forum: true };
export const DATE = 1_760_000_000;

export function facts(over: Partial<MappingFacts["account"]> = {}, isOurs: MappingFacts["isOurs"] = () => false): MappingFacts {
  return {
    self: { id: BOT.id, username: BOT.username },
    account: { groups: {}, buttons: "allowlist", reactionNotices: "own", ...over },
    isOurs,
    poll: (id) => (id === "77" ? { chatId: GROUP.id, question: "Tea?", options: ["yes", "no"] } : undefined),
    offers: (command) => command === "new",
    longTexts: createLongTexts(),
  };
}

export const message = (fields: object, chat: object = DM): object => ({ message_id: 11, from: ADA, chat, date: DATE, ...fields });
export const read = (update: object, known: MappingFacts = facts()): MappedUpdate => mapUpdate({ update_id: 1, ...update }, known);
export const event = (fields: object, chat?: object, known?: MappingFacts): ChannelInboundEvent => read({ message: message(fields, chat) }, known).events[0]!;
