import { css } from "lit";

/** Results of a search. */
export const resultsLook = css`
  :host {
    display: block;
  }
  ol {
    list-style: none;
    margin: 0;
    padding: 0;
    display: grid;
    gap: 10px;
  }
  li.result {
    padding: 12px 16px;
    background: var(--raised);
    border: 1px solid var(--line);
    border-radius: var(--radius);
  }
  li.result:hover,
  li.result:focus-within {
    border-color: var(--line-strong);
  }
  li.replaced .snippet {
    color: var(--ink-soft);
  }
  .top {
    display: flex;
    align-items: baseline;
    gap: 10px;
  }
  .top > a {
    color: var(--ink);
    text-decoration: none;
  }
  .top > a:hover,
  .top > a:focus-visible {
    text-decoration: underline;
  }
  .top > a,
  .top > b {
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  .score {
    display: inline-flex;
    align-items: center;
    gap: 8px;
    margin-inline-start: auto;
    font-size: var(--type-ui);
    white-space: nowrap;
    color: var(--ink-soft);
  }
  .meter {
    display: inline-block;
    width: 56px;
    height: 6px;
    border-radius: 3px;
    background: var(--hover);
    overflow: hidden;
  }
  .meter i {
    display: block;
    height: 100%;
    border-radius: 3px;
    background: var(--info);
  }
  .snippet {
    margin: 4px 0 6px;
    line-height: 1.5;
    white-space: pre-line;
    overflow-wrap: anywhere;
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 5;
    line-clamp: 5;
    overflow: hidden;
  }
  .open .snippet {
    display: block;
  }
  mark {
    color: inherit;
    background: var(--warn-soft);
    border-radius: 3px;
    padding: 0 2px;
    box-shadow: inset 0 -1px 0 var(--warn);
  }
  .foot {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px 8px;
  }
  .foot .when {
    margin-inline-start: auto;
  }
  .why {
    display: grid;
    gap: 10px;
    margin-top: 10px;
    padding-top: 10px;
    border-top: 1px solid var(--line);
    font-size: var(--type-row);
  }
  .why h4 {
    margin: 0 0 2px;
    font-size: var(--type-ui);
    font-weight: 600;
    color: var(--ink-soft);
  }
  .why .words p + h4 {
    margin-top: 8px;
  }
  .why ul {
    margin: 0;
    padding-inline-start: 20px;
  }
  .why p {
    overflow-wrap: anywhere;
  }
  .columns {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(240px, 100%), 1fr));
    gap: 10px 20px;
  }
  @media (max-width: 760px) {
    .top {
      flex-wrap: wrap;
    }
    .path {
      flex-basis: 100%;
      order: 3;
    }
    .meter {
      width: 44px;
    }
    .foot button {
      min-height: 36px;
    }
  }
`;
