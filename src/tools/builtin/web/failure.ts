import { AppError, messageOf } from "../../../base/errors.ts";
import { failedOutcome, type ToolOutcome } from "../../tool.ts";

/** The text for the model about a refused address. The address itself may come from a redirect, so it is not shown: it could be a sentence. */
const REFUSED: Readonly<Record<string, string>> = {
  url: "Blocked: not an http or https URL, or one with a user name or password",
  host: "Blocked hostname or private/internal IP address",
  address: "Blocked: resolves to private/internal IP address",
};

/** The request was refused by the rules for hosts, at whatever hop. */
export function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && error.code === "HOST_BLOCKED";
}

/** A failure as the broker shows failures. */
export function webFailure(tool: string, error: unknown): ToolOutcome {
  const text = isRefusal(error) ? (REFUSED[String(error.details["reason"])] ?? "Blocked: access to this host is not allowed") : messageOf(error);
  const details = { status: "error", tool, error: text };
  return failedOutcome(JSON.stringify(details, null, 2), details);
}
