import { html, nothing, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import { blocksOf } from "./blocks.ts";
import "./code-block.ts";
import "./math.ts";
import "./table.ts";
import { cellsOf } from "./table-cells.ts";
import { parseMarkdown, type Node } from "./parse.ts";
import { t } from "../../../words/words.ts";

/** What a piece of drawn text can do. */
export interface ProseActions {
  copy(text: string): void;
  /** More may be written to it. */
  readonly isOpen?: boolean;
}

const DIAGRAM = /^(?:mermaid|mmd)$/i;

/** A diagram of code; what draws it is loaded with the first one. Until then, and where that fails, its source is shown. */
function diagram(text: string, language: string, actions: ProseActions): TemplateResult {
  void import("../diagram/diagram.ts").catch(() => undefined);
  return html`<oc-diagram .source=${text} .copy=${(source: string) => actions.copy(source)}>${codeBlock(text, language, actions)}</oc-diagram>`;
}

/** A block of code with its language and a button that copies it. Long code is folded. */
export const codeBlock = (text: string, language: string, actions: ProseActions): TemplateResult =>
  html`<oc-code-block .text=${text} .language=${language} .copy=${(code: string) => actions.copy(code)} ?open=${actions.isOpen ?? false}></oc-code-block>`;

/** What stands in nothing else runs the way of its first letter, and with it what stands in it. */
type Direction = "auto" | typeof nothing;

function heading(level: number, children: unknown, dir: Direction): TemplateResult {
  if (level <= 1) return html`<h3 class="big" dir=${dir}>${children}</h3>`;
  if (level === 2) return html`<h3 dir=${dir}>${children}</h3>`;
  return level === 3 ? html`<h4 dir=${dir}>${children}</h4>` : html`<h5 dir=${dir}>${children}</h5>`;
}

function link({ address, children }: Extract<Node, { readonly kind: "link" }>, actions: ProseActions): TemplateResult {
  return html`<a href=${address.href} target="_blank" rel="noopener noreferrer">${all(children, actions)}</a>${
      address.host === undefined ? nothing : html`<span class="real-host" title=${t("Link destination")}>${address.host}</span>`
    }`;
}

function list({ ordered, start, children }: Extract<Node, { readonly kind: "list" }>, actions: ProseActions, dir: Direction): TemplateResult {
  return ordered
    ? html`<ol start=${start} dir=${dir}>
        ${all(children, actions)}
      </ol>`
    : html`<ul dir=${dir}>
        ${all(children, actions)}
      </ul>`;
}

function item({ done, children }: Extract<Node, { readonly kind: "item" }>, actions: ProseActions): TemplateResult {
  if (done === undefined) return html`<li>${all(children, actions)}</li>`;
  return html`<li class="task"><input type="checkbox" disabled .checked=${done} aria-label=${done ? t("Done") : t("To do")} />${all(children, actions)}</li>`;
}

/** To the footnote of the same text. */
function toNote(event: Event, number: number): void {
  const text = (event.currentTarget as HTMLElement).closest(".prose");
  const note = text?.querySelector<HTMLElement>(`[data-note="${number}"]`);
  note?.scrollIntoView({ block: "center" });
  note?.focus();
}

const noteMark = (number: number): TemplateResult =>
  html`<sup><button class="plain note-mark" aria-label=${t`Footnote ${number}`} @click=${(event: Event) => toNote(event, number)}>${number}</button></sup>`;

function drawn(node: Node, actions: ProseActions, dir: Direction): unknown {
  switch (node.kind) {
    case "text":
      return node.text;
    case "break":
      return html`<br />`;
    case "rule":
      return html`<hr />`;
    case "code":
      return html`<code dir="ltr">${node.text}</code>`;
    case "fence":
      return DIAGRAM.test(node.language) && !actions.isOpen ? diagram(node.text, node.language, actions) : codeBlock(node.text, node.language, actions);
    case "picture":
      return html`<img src=${node.source} alt=${node.alt} loading="lazy" />`;
    case "link":
      return link(node, actions);
    case "list":
      return list(node, actions, dir);
    case "item":
      return item(node, actions);
    case "cell":
      return all(node.children, actions);
    case "table":
      return html`<oc-prose-table
        .cells=${cellsOf(node.children)}
        .draw=${(nodes: readonly Node[]) => all(nodes, actions)}
        .copy=${(text: string) => actions.copy(text)}
      ></oc-prose-table>`;
    case "math":
      return html`<oc-math .source=${node.text} ?display=${node.display}></oc-math>`;
    case "note-mark":
      return noteMark(node.number);
    case "note":
      return html`<div class="footnote" data-note=${node.number} tabindex="-1" dir=${dir}>
        <span>${node.number}</span>
        <div>${all(node.children, actions)}</div>
      </div>`;
    case "heading":
      return heading(node.level, all(node.children, actions), dir);
    default:
      return plain(node.kind, all(node.children, actions), dir);
  }
}

function plain(kind: string, children: unknown, dir: Direction): unknown {
  switch (kind) {
    case "paragraph":
      return html`<p dir=${dir}>${children}</p>`;
    case "strong":
      return html`<strong>${children}</strong>`;
    case "em":
      return html`<em>${children}</em>`;
    case "strike":
      return html`<s>${children}</s>`;
    case "quote":
      return html`<blockquote dir=${dir}>${children}</blockquote>`;
    default:
      return children;
  }
}

const all = (nodes: readonly Node[], actions: ProseActions, dir: Direction = nothing): unknown => nodes.map((node) => drawn(node, actions, dir));

/** Markdown as templates. Parts that have not changed since they were last drawn in this place are left as they are. `writing`: the text goes on, and its last part may. */
export function prose(text: string, actions: ProseActions, writing = false): TemplateResult {
  const blocks = blocksOf(text);
  const part = (block: string, at: number): TemplateResult => {
    const isOpen = writing && at === blocks.length - 1;
    return html`${guard([block, isOpen], () => all(parseMarkdown(block), isOpen ? { copy: (code) => actions.copy(code), isOpen } : actions, "auto"))}`;
  };
  return html`<div class="prose">${blocks.map(part)}</div>`;
}
