import { AppError } from "../../../base/errors.ts";

/** Control characters other than tab, line feed and carriage return. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** More combining marks on one letter than any script has. Composing sorts them, in a time that grows with their square. */
const PILED_MARKS = /\p{M}{31}/u;

/** About a thousand pages. A longer one would be sent to every client again with each piece of its answer. */
const MAX_MESSAGE = 1_000_000;

/** A client's text as it goes on: in composed form, without control characters. A null byte is refused. */
export function cleanMessage(text: string): string {
  if (text.length > MAX_MESSAGE) throw new AppError("INVALID_INPUT", `message must not be longer than ${MAX_MESSAGE} characters, this one has ${text.length}`);
  if (text.includes("\0")) throw new AppError("INVALID_INPUT", "message must not contain null bytes");
  return (PILED_MARKS.test(text) ? text : text.normalize("NFC")).replace(CONTROL, "");
}
