import { html, nothing, type TemplateResult } from "lit";
import { classMap } from "lit/directives/class-map.js";
import { guard } from "lit/directives/guard.js";
import { icon } from "../../../look/icons.ts";
import { blocksOf } from "./blocks.ts";
import { coloured, type Carry } from "./colours.ts";
import { parseMarkdown, type Node } from "./parse.ts";

/** What a piece of drawn text can do. */
export interface ProseActions {
  copy(text: string): void;
}

/** Code line by line: while it is being written only its last line is drawn again. */
function codeLines(text: string, language: string): readonly unknown[] {
  let carry: Carry = "";
  const lines = text.split("\n");
  return lines.map((line, at) => {
    const from = carry;
    const state = from === "" ? "" : from.close;
    const result = coloured(line, language, from);
    carry = result.carry;
    const end = at < lines.length - 1 ? "\n" : "";
    return guard(
      [line, state, end],
      () => html`${result.pieces.map(({ kind, text: piece }) => (kind === "plain" ? piece : html`<span class=${kind}>${piece}</span>`))}${end}`,
    );
  });
}

/** A block of code with its language and a button that copies it. */
export function codeBlock(text: string, language: string, actions: ProseActions): TemplateResult {
  return html`<div class="code-block">
    <div class="code-head">
      <span class="cut">${language === "" ? "text" : language}</span>
      <button class="plain small" aria-label="Copy the code" title="Copy the code" @click=${() => actions.copy(text)}>${icon("copy", 14)}</button>
    </div>
    <pre dir="ltr" tabindex="0" role="group" aria-label="Code"><code>${codeLines(text, language)}</code></pre>
  </div>`;
}

/** What stands in nothing else runs the way of its first letter, and with it what stands in it. */
type Direction = "auto" | typeof nothing;

function heading(level: number, children: unknown, dir: Direction): TemplateResult {
  if (level <= 1) return html`<h3 class="big" dir=${dir}>${children}</h3>`;
  if (level === 2) return html`<h3 dir=${dir}>${children}</h3>`;
  return level === 3 ? html`<h4 dir=${dir}>${children}</h4>` : html`<h5 dir=${dir}>${children}</h5>`;
}

function link({ address, children }: Extract<Node, { readonly kind: "link" }>, actions: ProseActions): TemplateResult {
  return html`<a href=${address.href} target="_blank" rel="noopener noreferrer">${all(children, actions)}</a>${
      address.host === undefined ? nothing : html`<span class="real-host" title="Where the link goes">${address.host}</span>`
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
  return html`<li class="task"><input type="checkbox" disabled .checked=${done} aria-label=${done ? "Done" : "To do"} />${all(children, actions)}</li>`;
}

function cell({ head, align, children }: Extract<Node, { readonly kind: "cell" }>, actions: ProseActions): TemplateResult {
  const classes = classMap({ right: align === "right", centre: align === "center" });
  return head ? html`<th class=${classes} scope="col">${all(children, actions)}</th>` : html`<td class=${classes}>${all(children, actions)}</td>`;
}

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
      return codeBlock(node.text, node.language, actions);
    case "picture":
      return html`<img src=${node.source} alt=${node.alt} loading="lazy" />`;
    case "link":
      return link(node, actions);
    case "list":
      return list(node, actions, dir);
    case "item":
      return item(node, actions);
    case "cell":
      return cell(node, actions);
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
    case "table":
      return html`<div class="scroll" dir=${dir} tabindex="0" role="group" aria-label="Table">
        <table>
          ${children}
        </table>
      </div>`;
    case "thead":
      return html`<thead>
        ${children}
      </thead>`;
    case "tbody":
      return html`<tbody>
        ${children}
      </tbody>`;
    case "row":
      return html`<tr>
        ${children}
      </tr>`;
    default:
      return children;
  }
}

const all = (nodes: readonly Node[], actions: ProseActions, dir: Direction = nothing): unknown => nodes.map((node) => drawn(node, actions, dir));

/** Markdown as templates. Parts that have not changed since they were last drawn in this place are left as they are. */
export function prose(text: string, actions: ProseActions): TemplateResult {
  return html`<div class="prose">${blocksOf(text).map((block) => html`${guard([block], () => all(parseMarkdown(block), actions, "auto"))}`)}</div>`;
}
