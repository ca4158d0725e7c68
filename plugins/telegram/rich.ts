/** Markdown as Telegram shows it. */
import type { RichText } from "./types.ts";

export interface Rendered {
  readonly html: string;
  /** The same without any marks. */
  readonly plain: string;
}

export type Render = (text: string, rich: RichText | undefined, tables: "off" | "bullets" | "code") => Promise<Rendered>;

/** The reader of Markdown is loaded with the first text that has not been read yet. */
export function createRender(): Render {
  let tools: { parseMarkdown(markdown: string, options: { tables: "off" | "bullets" | "code" }): RichText } | undefined;
  return async (text, rich, tables) => {
    const { loadRichText, toTelegramHtml } = await import("openclaw/plugin-sdk/rich-text");
    const parsed = rich ?? (tools ??= await loadRichText()).parseMarkdown(text, { tables });
    return { html: toTelegramHtml(parsed), plain: parsed.text };
  };
}
