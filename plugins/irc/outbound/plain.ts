/** Markdown as the plain lines that IRC has. */
import type { RichTextTools } from "openclaw/plugin-sdk/rich-text";
import { linesOf } from "./lines.ts";

export interface Plain {
  /** Has to be done once before texts are cut; later calls cost nothing. */
  load(): Promise<void>;
  /** One message each. Without `load` Markdown stays as it is written. */
  lines(markdown: string, limit: number): string[];
}

export function createPlain(): Plain {
  let tools: RichTextTools | undefined;
  return {
    async load() {
      if (!tools) tools = await (await import("openclaw/plugin-sdk/rich-text")).loadRichText();
    },
    lines(markdown, limit) {
      const text = tools ? tools.toPlain(tools.parseMarkdown(markdown, { tables: "bullets" }), { links: "append" }) : markdown;
      return linesOf(text, limit);
    },
  };
}
