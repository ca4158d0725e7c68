import type { TelegramAccount } from "../account.ts";
import type { LongTexts } from "./long-texts.ts";
import type { Self } from "./text.ts";

/** What has to be known to read an update. */
export interface MappingFacts {
  readonly self: Self;
  readonly account: Pick<TelegramAccount, "groups" | "buttons" | "reactionNotices">;
  /** Whether we sent that message, as far as it is remembered. */
  isOurs(chatId: string, messageId: number): boolean;
  /** Whether the menu that people see offers this command. */
  offers(command: string): boolean;
  readonly longTexts: LongTexts;
}
