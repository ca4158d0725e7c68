import { html, type TemplateResult } from "lit";
import { linked } from "./outcome.ts";

/** A text whose addresses can be followed, in a tab of their own. */
export const followable = (text: string): TemplateResult =>
  html`${linked(text).map((part) => (part.href === undefined ? part.text : html`<a href=${part.href} target="_blank" rel="noopener noreferrer">${part.text}</a>`))}`;
