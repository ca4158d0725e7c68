/** Colours and other marks that are no text. */

/** Bold, italic, underline, strike, monospace, reverse, reset; colours by number and by RGB. */
// oxlint-disable-next-line no-control-regex
const MARKS = /\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9a-f]{6}(?:,[0-9a-f]{6})?)?|[\x02\x0f\x11\x16\x1d\x1e\x1f]/gi;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f]/g;

export function withoutCodes(text: string): string {
  return text.replace(MARKS, "").replace(CONTROLS, "").trim();
}
