/** ANSI styles; `plain` gives the text back untouched. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export function createStyle(color: boolean): Style {
  const paint =
    (code: number) =>
    (text: string): string =>
      color ? `\x1b[${code}m${text}\x1b[0m` : text;
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33), cyan: paint(36) };
}
