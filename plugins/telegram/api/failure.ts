/** What a call to Telegram ends with when it does not succeed. The token stands in none of it. */

/** What became of a message: see `SendFailure` of the SDK. */
export interface Delivery {
  readonly state: "failed" | "retry" | "unknown";
  readonly retryAfterMs?: number;
}

export interface FailureFacts {
  readonly method: string;
  /** The Bot API's error code; none where no answer came. */
  readonly status?: number;
  /** As Telegram words it. */
  readonly description?: string;
  readonly delivery: Delivery;
  /** The group's id since it became a supergroup. */
  readonly migratedTo?: number;
  /** Trying again is useless until the configuration changes. */
  readonly permanent?: boolean;
  /** Of the operating system. */
  readonly code?: string;
}

export class TelegramError extends Error {
  override readonly name = "TelegramError";
  readonly method: string;
  readonly status: number | undefined;
  readonly description: string;
  readonly delivery: Delivery;
  readonly migratedTo: number | undefined;
  readonly permanent: boolean;
  readonly code: string;

  constructor(message: string, facts: FailureFacts) {
    super(message);
    this.method = facts.method;
    this.status = facts.status;
    this.description = facts.description ?? "";
    this.delivery = facts.delivery;
    this.migratedTo = facts.migratedTo;
    this.permanent = facts.permanent ?? false;
    this.code = facts.code ?? (facts.status === undefined ? "UNAVAILABLE" : `TELEGRAM_${facts.status}`);
  }

  /** Whether Telegram's description contains one of these, whatever their case. */
  mentions(...words: readonly string[]): boolean {
    const description = this.description.toLowerCase();
    return words.some((word) => description.includes(word.toLowerCase()));
  }
}

/** An error of the network, with what is known about how far the request came. */
export interface TransportFailure {
  readonly sent?: boolean;
  readonly code?: unknown;
}

const ADVICE: Readonly<Record<number, string>> = {
  401: "; the bot token is not valid: get it from @BotFather and set channels.telegram.botToken",
  404: "; Telegram knows no such bot or method: check channels.telegram.botToken",
  409: "; only one program may receive for a bot: stop the other one, or use another token",
};

function deliveryOf(status: number, retryAfter: unknown): Delivery {
  if (status === 429) return { state: "retry", retryAfterMs: typeof retryAfter === "number" && retryAfter >= 0 ? Math.ceil(retryAfter * 1000) : 1000 };
  return { state: status >= 500 ? "unknown" : "failed" };
}

/** Telegram answered that it did not do it. */
export function refusal(method: string, status: number, description: string, parameters: Readonly<Record<string, unknown>> = {}): TelegramError {
  const migratedTo = parameters["migrate_to_chat_id"];
  return new TelegramError(`Telegram refused ${method}: ${status} ${description}${ADVICE[status] ?? ""}`, {
    method,
    status,
    description,
    delivery: deliveryOf(status, parameters["retry_after"]),
    ...(Number.isSafeInteger(migratedTo) ? { migratedTo: migratedTo as number } : {}),
    permanent: status === 401 || status === 404,
  });
}

/** No answer came. Without a word on how far it got, the request may have arrived. */
export function noAnswer(method: string, failure: TransportFailure, cause: string): TelegramError {
  const state = failure.sent === false ? "retry" : "unknown";
  const what = state === "retry" ? "could not be reached" : "did not answer";
  return new TelegramError(`Telegram ${what} for ${method}: ${cause}`, {
    method,
    delivery: { state },
    ...(typeof failure.code === "string" ? { code: failure.code } : {}),
  });
}

/** What was asked for cannot be done, and no request was made. */
export function unfit(method: string, message: string): TelegramError {
  return new TelegramError(message, { method, delivery: { state: "failed" }, code: "INVALID_INPUT" });
}

export function asTelegramError(error: unknown): TelegramError | undefined {
  return error instanceof TelegramError ? error : undefined;
}
