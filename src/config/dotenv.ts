const LINE = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*("(?:\\[^]|[^"\\])*"|'[^']*'|`[^`]*`|[^\r\n]*)/gm;

/**
 * Reads `.env` text: `NAME=value`, an optional `export`, `#` remarks, single, double and back quotes (values in quotes may span lines; `\n` and
 * `\r` are line breaks in double quotes). Lines it cannot read are passed over.
 */
export function parseDotenv(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const match of text.replace(/^\uFEFF/, "").matchAll(LINE)) found.set(match[1]!, unquoted(match[2]!));
  return found;
}

function unquoted(raw: string): string {
  const quote = raw[0];
  if (raw.length >= 2 && (quote === "'" || quote === "`") && raw.endsWith(quote)) return raw.slice(1, -1);
  if (raw.length >= 2 && quote === '"' && raw.endsWith('"')) {
    return raw.slice(1, -1).replaceAll(/\\([nrt"\\$])/g, (_, char: string) => ({ n: "\n", r: "\r", t: "\t" })[char] ?? char);
  }
  return raw.replace(/(?:^|[ \t])#.*$/, "").trim();
}
