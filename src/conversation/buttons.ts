import { KNOWN_CHANNELS } from "../config/index.ts";
import { SEAL_BYTES } from "./button-seal.ts";

/** A text with buttons below it, each of which writes a command. */
export interface Shown {
  readonly text: string;
  readonly channelData?: Record<string, unknown>;
}

const WITH_BUTTONS = KNOWN_CHANNELS.filter(({ buttonBytes }) => buttonBytes !== undefined);
/** Bytes of a command that every platform with buttons takes, with the mark that shows that it is from the gateway. */
const MOST_BYTES = Math.min(...WITH_BUTTONS.map(({ buttonBytes = 0 }) => buttonBytes)) - SEAL_BYTES;

/** Buttons for platforms that have some; elsewhere the text says it all. A command that is too long gets none. */
export function buttonsFor(text: string, rows: readonly (readonly { readonly text: string; readonly command: string }[])[]): Shown {
  const fitting = rows
    .map((row) => row.filter(({ command }) => Buffer.byteLength(command) <= MOST_BYTES).map((button) => ({ text: button.text, callback_data: button.command })))
    .filter((row) => row.length > 0);
  return fitting.length === 0 ? { text } : { text, channelData: Object.fromEntries(WITH_BUTTONS.map(({ id }) => [id, { buttons: fitting }])) };
}
