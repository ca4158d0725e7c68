/** Parts of a summary that are put there by rule, each in a tag of its own. */
export type BlockName = "read-files" | "modified-files" | "standing-instructions" | "pending-work" | "workspace-rules";

const NAMES: readonly BlockName[] = ["read-files", "modified-files", "standing-instructions", "pending-work", "workspace-rules"];
/** Tags that mean something in a prompt or a summary, in any spelling a model might take for one. */
const TAGS = new RegExp(`<(\\s*/?\\s*(?:${[...NAMES, "conversation", "previous-summary", "summary"].join("|")})\\b)`, "gi");
const FIRST_BLOCK = new RegExp(`(?:^|\\n)<(?:${NAMES.join("|")})>\\n`);

/** Text that cannot open or close one of our tags. */
export function plain(text: string): string {
  return text.replace(TAGS, "<\\$1");
}

/** A block, or nothing when it is empty. Its lines are made harmless. */
export function block(name: BlockName, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `<${name}>\n${lines.map(plain).join("\n")}\n</${name}>`;
}

/** A summary without what was put behind it by rule. */
export function withoutBlocks(summary: string): string {
  const at = summary.search(FIRST_BLOCK);
  return (at < 0 ? summary : summary.slice(0, at)).trim();
}

/** The lines of a block, when the summary has it. */
export function blockLines(summary: string, name: BlockName): readonly string[] {
  const start = summary.indexOf(`<${name}>\n`);
  const end = start < 0 ? -1 : summary.indexOf(`\n</${name}>`, start);
  return end < 0
    ? []
    : summary
        .slice(start + name.length + 3, end)
        .split("\n")
        .filter((line) => line.trim() !== "");
}
