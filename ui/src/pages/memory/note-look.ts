import { css } from "lit";

/** A note, read or edited. */
export const noteLook = css`
  :host {
    display: block;
    min-width: 0;
  }
  article.card {
    padding: 0;
    overflow: hidden;
  }
  article > header {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px;
    padding: 10px 12px 10px 18px;
    border-bottom: 1px solid var(--line);
  }
  article > header h2 {
    overflow-wrap: anywhere;
  }
  .body {
    padding: 18px;
  }
  .reading {
    max-width: 760px;
  }
  .block + .block {
    margin-top: 10px;
  }
  .block + .block:has(h3, h4, h5) {
    margin-top: 20px;
  }
  .found {
    background: var(--warn-soft);
    box-shadow: 0 0 0 4px var(--warn-soft);
    border-radius: 2px;
  }
  pre.plain {
    margin: 0;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    font-size: var(--type-ui);
  }
  textarea {
    display: block;
    min-height: min(60vh, 560px);
    padding: 14px 18px;
    font-family: var(--mono);
    font-size: var(--type-ui) !important;
    line-height: 1.6;
    border: 0;
    border-radius: 0;
    resize: vertical;
    background: var(--raised);
  }
  textarea:focus-visible {
    outline-offset: -2px;
  }
  @media (max-width: 760px) {
    textarea {
      font-size: var(--type-field) !important;
    }
  }
`;
