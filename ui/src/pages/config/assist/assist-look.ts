import { css } from "lit";

/** The list of completions and the description, beside the text. */
export const assistLook = css`
  .assist {
    position: fixed;
    inset: auto;
    margin: 0;
    padding: 0;
    overflow: hidden;
    color: var(--ink);
    background: var(--raised);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-small);
    box-shadow: var(--shadow);
    font: var(--type-small)/20px var(--sans, inherit);
  }
  .assist.list {
    width: min(560px, calc(100vw - 16px));
  }
  .assist ul {
    list-style: none;
    margin: 0;
    padding: 4px;
    max-height: 248px;
    overflow-y: auto;
    overscroll-behavior: contain;
    scrollbar-width: thin;
  }
  .assist li {
    display: flex;
    gap: 12px;
    align-items: baseline;
    padding: 2px 8px;
    border-radius: 4px;
    cursor: pointer;
  }
  .assist li[aria-selected="true"] {
    background: var(--selected);
  }
  .assist li .name {
    font-family: var(--mono);
    flex: none;
    max-width: 60%;
  }
  .assist li .about {
    flex: 1;
    min-width: 0;
    color: var(--ink-soft);
    font-size: var(--type-small);
    text-align: end;
  }
  .assist .help {
    padding: 8px 12px;
    border-top: 1px solid var(--line);
    color: var(--ink-soft);
  }
  .assist .cut {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .assist.card {
    width: max-content;
    max-width: min(440px, calc(100vw - 16px));
    max-height: 50vh;
    overflow-y: auto;
    padding: 10px 12px;
  }
  .assist.card p {
    margin: 0 0 6px;
    overflow-wrap: anywhere;
  }
  .assist.card .path {
    font-family: var(--mono);
    font-size: var(--type-small);
    color: var(--ink-soft);
  }
  .assist.card dl {
    display: grid;
    grid-template-columns: max-content minmax(0, 1fr);
    gap: 2px 12px;
    margin: 0;
  }
  .assist.card dt {
    color: var(--ink-soft);
  }
  .assist.card dd {
    margin: 0;
    overflow-wrap: anywhere;
  }
  .assist code {
    font-family: var(--mono);
    font-size: var(--type-small);
  }
  @media (max-width: 760px) {
    .assist li {
      padding: 10px 8px;
    }
  }
`;
