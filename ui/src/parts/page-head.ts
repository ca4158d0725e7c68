import { css, html, nothing, type TemplateResult } from "lit";
import { icon } from "../look/icons.ts";
import { t } from "../words/words.ts";

/** For `static styles` of pages. The head stays while the page scrolls below it. */
export const pageHeadLook = css`
  header.page-head {
    position: sticky;
    z-index: 10;
    top: 0;
    flex: none;
    display: flex;
    align-items: center;
    gap: 12px;
    min-height: var(--header);
    padding: 8px 16px 8px var(--gutter);
    background: var(--paper);
    border-bottom: 1px solid var(--line);
  }
  .page-head h1 {
    font-size: var(--type-reading);
    line-height: 20px;
    font-weight: 600;
    letter-spacing: 0;
    white-space: nowrap;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .page-head .crumb {
    font-size: var(--type-reading);
    line-height: 20px;
    font-weight: 500;
    color: var(--ink-faint);
    text-decoration: none;
    white-space: nowrap;
  }
  .page-head .crumb:hover {
    color: var(--ink);
  }
  .page-head .fact {
    min-width: 0;
    font-size: var(--type-small);
    line-height: 16px;
    color: var(--ink-faint);
  }
  .page-head .actions {
    display: flex;
    align-items: center;
    gap: 8px;
    flex: none;
    margin-inline-start: auto;
  }
  .page-head:has(+ nav.tabs) {
    border-bottom-color: transparent;
  }
  @media (max-width: 760px) {
    .page-head .fact {
      display: none;
    }
    header.page-head {
      flex-wrap: wrap;
      gap: 8px;
      padding-inline: var(--gutter) 12px;
    }
    .page-head .actions {
      flex: 0 1 auto;
      min-width: 0;
      flex-wrap: wrap;
      justify-content: flex-end;
    }
  }
`;

interface Head {
  readonly title: string;
  /** One line: the number or state that matters. */
  readonly fact?: string | TemplateResult | typeof nothing | undefined;
  /** At most one of them is primary. */
  readonly actions?: TemplateResult | typeof nothing | undefined;
  /** The list that this is one of. */
  readonly parent?: { readonly title: string; readonly href: string } | undefined;
}

/** Title, one line, actions: the same at the top of every page. */
export const pageHead = ({ title, fact, actions, parent }: Head): TemplateResult =>
  html`<header class="page-head">
    ${parent ? html`<a class="crumb" href=${parent.href} aria-label=${t`Back to ${parent.title}`}>${parent.title}</a>${icon("right", 14)}` : nothing}
    <h1>${title}</h1>
    ${fact === undefined || fact === nothing ? nothing : html`<span class="fact cut">${fact}</span>`}
    ${actions === undefined || actions === nothing ? nothing : html`<div class="actions">${actions}</div>`}
  </header>`;
