/** What a call to Telegram ends with when it does not succeed. The token stands in none of it. */
import { ChannelError, type Fields, fieldsOf, numberOf, TransportError, wholeOf } from "openclaw/plugin-sdk/channel-kit";

const ADVICE: Readonly<Record<number, string>> = {
  401: "; the bot token is not valid: get it from @BotFather and set channels.telegram.botToken",
  404: "; Telegram does not know this bot or method: check channels.telegram.botToken",
  409: "; only one program can receive for a bot: stop the other one, or use another token",
};

function deliveryOf(status: number, retryAfter: unknown): ChannelError["delivery"] {
  if (status !== 429) return { state: status >= 500 ? "unknown" : "failed" };
  const seconds = numberOf(retryAfter) ?? -1;
  return { state: "retry", retryAfterMs: seconds >= 0 ? Math.ceil(seconds * 1000) : 1000 };
}

/** Telegram answered that it did not do it. */
export function refusal(method: string, status: number, description: string, parameters: Fields = {}): ChannelError {
  return new ChannelError(`Telegram refused ${method}: ${status} ${description}${ADVICE[status] ?? ""}`, {
    action: method,
    status,
    description,
    delivery: deliveryOf(status, parameters["retry_after"]),
    permanent: status === 401 || status === 404,
    code: `TELEGRAM_${status}`,
    body: { parameters },
  });
}

/** The group's id since it became a supergroup. */
export function movedTo({ body }: ChannelError): number | undefined {
  return wholeOf(fieldsOf(fieldsOf(body)?.["parameters"])?.["migrate_to_chat_id"]);
}

/** No answer came. Without a word on how far it got, the request may have arrived. */
export function noAnswer(method: string, error: unknown, cause: string): ChannelError {
  const { sent, code } = error instanceof TransportError ? error : { sent: true, code: undefined };
  return new ChannelError(`Telegram ${sent ? "did not respond" : "could not be reached"} for ${method}: ${cause}`, {
    action: method,
    delivery: { state: sent ? "unknown" : "retry" },
    code,
  });
}
