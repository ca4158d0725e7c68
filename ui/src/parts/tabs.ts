import { css, html, type TemplateResult } from "lit";

/** One part of a page with an address of its own. */
export interface Tab {
  readonly label: string;
  readonly href: string;
  readonly isCurrent: boolean;
  readonly count?: number | undefined;
}

/** For `static styles` of pages that use `tabs`. */
export const tabsLook = css`
  nav.tabs {
    display: flex;
    gap: 2px;
    flex: none;
    padding: 0 calc(var(--gutter) - 10px);
    overflow-x: auto;
    scrollbar-width: none;
    border-bottom: 1px solid var(--line);
  }
  nav.tabs a {
    display: inline-flex;
    align-items: center;
    gap: 6px;
    min-height: 40px;
    padding: 0 10px;
    font-size: var(--type-ui);
    font-weight: 500;
    color: var(--ink-soft);
    text-decoration: none;
    white-space: nowrap;
    border-bottom: 2px solid transparent;
  }
  nav.tabs a:hover {
    color: var(--ink);
  }
  nav.tabs a:focus-visible {
    outline-offset: -2px;
  }
  nav.tabs a[aria-current="page"] {
    color: var(--ink);
    border-color: var(--ink);
  }
  @media (max-width: 760px) {
    nav.tabs a {
      min-height: 44px;
    }
  }
`;

/** Parts of a page, each with its own address, below the page's head. */
export const tabs = (label: string, list: readonly Tab[]): TemplateResult =>
  html`<nav class="tabs" aria-label=${label}>
    ${list.map(
      ({ label: name, href, isCurrent, count }) =>
        html`<a href=${href} aria-current=${isCurrent ? "page" : "false"}>${name}${count ? html`<span class="counter">${count}</span>` : ""}</a>`,
    )}
  </nav>`;
