import { html, nothing, type TemplateResult } from "lit";

/** Good is fine, info runs, warn needs a person, bad failed. Without one it is nothing to look at. */
export type Tone = "good" | "info" | "warn" | "bad" | "";

/** A word with a soft background. */
export const badge = (tone: Tone, word: string): TemplateResult => html`<span class="badge ${tone}">${word}</span>`;

/** A dot and its word. */
export const stateDot = (tone: Tone, word: string, title?: string): TemplateResult =>
  html`<span class="state ${tone}" title=${title ?? nothing}><i class="dot ${tone}"></i>${word}</span>`;

/** A number of things that need a person or are unread; nothing for zero. */
export const count = (number: number, what: string, tone: Tone = "warn"): TemplateResult | typeof nothing =>
  number === 0 ? nothing : html`<span class="counter ${tone}" role="img" title=${what} aria-label=${what}>${number}</span>`;
