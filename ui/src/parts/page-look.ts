import { css, html, type TemplateResult } from "lit";

/** For pages with a list and what one of its entries is. */
export const pageLook = css`
  header.head {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px;
    position: relative;
    min-height: var(--header);
    padding: 8px 0;
    margin-bottom: 20px;
  }
  /* The line reaches across the panel, however wide the page is. */
  header.head::after {
    content: "";
    position: absolute;
    inset: auto -100vw 0;
    border-bottom: 1px solid var(--line);
  }
  header.head h1 {
    margin-inline-end: auto;
  }
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
  .fields label,
  label.field {
    display: grid;
    gap: 4px;
    color: var(--ink-soft);
    font-size: 13px;
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
  @media (max-width: 720px) {
    .less {
      display: none;
    }
  }
  .back {
    display: inline-block;
    margin-bottom: 10px;
    font-size: 14px;
  }
`;

/** Said while the first answer is awaited. */
export const loadingLine = (): TemplateResult => html`<p class="soft" role="status">Loading…</p>`;

/** Said when what the page shows could not be fetched. */
export const failedNote = (text: string, again: () => void): TemplateResult =>
  html`<div class="note bad" role="alert">${text} <button class="small" @click=${again}>Try again</button></div>`;

/** Said where the gateway has no such method, or does not give it to this browser. */
export const missingNote = (what: string): TemplateResult =>
  html`<p class="faint">${what} is not possible here: the gateway does not offer it to this browser (another version, or it may not).</p>`;
