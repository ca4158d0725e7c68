/** Control and format characters and line separators: what could start a line of its own or hide in one. */
const BREAKS = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** A value that stays on its line: a folder or a host may be called anything. */
export function oneLine(value: string, max = 1000): string {
  const line = value.replace(BREAKS, " ").trim();
  return line.length > max ? `${line.slice(0, max - 1).trimEnd()}…` : line;
}

/** Lines that are there, one below the other. */
export function lines(...all: readonly (string | false | undefined)[]): string {
  return all.filter((line): line is string => typeof line === "string" && line !== "").join("\n");
}
