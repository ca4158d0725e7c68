import { isStopMessage, readCommand } from "../../../channels/index.ts";
import { partsOf, withoutMentions } from "./message.ts";

/** Whether a message waits for those before it: a stop never does, a quick command does not wait for one that takes long. */
export type Pace = "stop" | "quick" | "usual";

/** Longer messages are neither. */
const MOST_LENGTH = 300;

/** Only looks at the text. `mentions` is asked where the message may name us first. */
export function paceOf(text: string, mentions: () => readonly RegExp[] = () => [], botUsername?: string): Pace {
  if (text.length > MOST_LENGTH) return "usual";
  const said = withoutMentions(partsOf(text).said, mentions(), botUsername).trim();
  if (isStopMessage(said, { botUsername })) return "stop";
  return readCommand(said, { botUsername })?.facts.quick === true ? "quick" : "usual";
}
