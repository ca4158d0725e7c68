import { css, html, type CSSResultGroup, type TemplateResult } from "lit";
import { t } from "../words/words.ts";
import { emptyLook } from "./empty.ts";
import { pageHeadLook } from "./page-head.ts";
import { skeleton, skeletonLook } from "./skeleton.ts";

const listLook = css`
  section {
    margin-bottom: 24px;
  }
  section > h2 {
    margin-bottom: 8px;
  }
  .empty {
    padding: 28px 16px;
    text-align: center;
    color: var(--ink-soft);
    border: 1px dashed var(--line-strong);
    border-radius: var(--radius);
  }
  .cards {
    display: grid;
    gap: 12px;
  }
  ul.list {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  .words {
    overflow-wrap: anywhere;
  }
  .fields {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(200px, 100%), 1fr));
    gap: 12px;
    align-items: end;
  }
  .fields label:not([for]),
  .fields > .field,
  label.field {
    display: grid;
    gap: 4px;
    color: var(--ink-soft);
    font-size: var(--type-ui);
  }
  .note {
    margin-bottom: 12px;
    overflow-wrap: anywhere;
  }
  .chips {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
  }
  td button {
    white-space: nowrap;
  }
  @media (max-width: 760px) {
    .less {
      display: none;
    }
  }
`;

/** For pages with a list and what one of its entries is. */
export const pageLook: CSSResultGroup = [skeletonLook, emptyLook, pageHeadLook, listLook];

/** Shown while the first answer is awaited. */
export const loadingLine = (): TemplateResult => skeleton(6);

/** Said when what the page shows could not be fetched. */
export const failedNote = (text: string, again: () => void): TemplateResult =>
  html`<div class="note bad" role="alert">${text} <button class="small" @click=${again}>${t("Try again")}</button></div>`;

/** Said where the gateway has no such method, or does not give it to this browser. */
export const missingNote = (what: string): TemplateResult =>
  html`<p class="faint">${t`${what} is not available here: the gateway version does not support it, or this browser lacks permission.`}</p>`;
