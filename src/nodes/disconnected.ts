import { AppError } from "../base/errors.ts";

/** The text of the protocol for a node whose connection ended. */
export const disconnectedText = (command: string): string => `Error: node disconnected (${command})`;

/** The failure of a node that disconnected in words that say what is known of the command; any other error as it is. `details`: what the gateway says about it. */
export function withOutcome(error: unknown, details: Readonly<Record<string, unknown>>): unknown {
  if (!(error instanceof AppError) || details["code"] !== "DISCONNECTED") return error;
  const text = error.message.replace(/^Error: /, "");
  const known =
    details["outcome"] === "unknown"
      ? "the command may have run and may still be running on that machine; check there before you run it again"
      : "the command was not sent";
  return new AppError(error.code, `${text}: ${known}`, { cause: error, details: error.details });
}
