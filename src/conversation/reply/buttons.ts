/** A text with buttons below it, each of which writes a command. */
export interface Shown {
  readonly text: string;
  readonly channelData?: Record<string, unknown>;
}

/** Bytes that Telegram takes for what a button says. */
const MOST_BYTES = 64;

/** Buttons for platforms that have some; elsewhere the text says it all. A command that is too long gets none. */
export function buttonsFor(text: string, rows: readonly (readonly { readonly text: string; readonly command: string }[])[]): Shown {
  const fitting = rows
    .map((row) => row.filter(({ command }) => Buffer.byteLength(command) <= MOST_BYTES).map((button) => ({ text: button.text, callback_data: button.command })))
    .filter((row) => row.length > 0);
  return fitting.length === 0 ? { text } : { text, channelData: { telegram: { buttons: fitting } } };
}
