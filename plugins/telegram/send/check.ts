/** Whether Telegram takes messages now. `getMe` would answer from the API server alone while nothing can be sent. */
import { asTelegramError } from "../api/failure.ts";
import { parseTarget } from "../target.ts";
import type { Sender } from "./sender.ts";

const TIMEOUT_MS = 10_000;

/** A refusal is an answer: the API works, whatever it says about this call. */
async function answered(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    const status = asTelegramError(error)?.status;
    if (status === undefined || status >= 500 || status === 429) throw error;
  }
}

/** Resolves when the chat can be reached, and the method that sends answers. Nothing is sent: an empty text to no chat is always refused. */
export async function checkSend(sender: Sender, to: string, signal: AbortSignal): Promise<void> {
  const options = { signal, timeoutMs: TIMEOUT_MS };
  await answered(sender.client.call("sendChatAction", { chat_id: sender.currentId(parseTarget(to).chatId), action: "typing" }, options));
  await answered(sender.client.call("sendMessage", { chat_id: 0, text: "" }, options));
}
