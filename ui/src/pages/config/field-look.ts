import { css } from "lit";

/** How fields of the form look. */
export const fieldLook = css`
  :host {
    display: block;
  }
  .field {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 4px;
    padding: 10px 0;
    scroll-margin-top: 120px;
  }
  .head {
    display: flex;
    align-items: baseline;
    gap: 8px;
    min-width: 0;
  }
  .head label,
  .head .name {
    font-weight: 600;
    font-size: var(--type-row);
    overflow-wrap: anywhere;
  }
  .path {
    margin-inline-start: auto;
    min-height: 0;
    padding: 0 4px;
    max-width: 60%;
    font: var(--type-small)/1.6 var(--mono);
    color: var(--ink-faint);
    background: none;
    border-color: transparent;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    display: inline-block;
  }
  .control {
    display: flex;
    gap: 8px;
    align-items: flex-start;
    max-width: 640px;
  }
  .control > :first-child {
    flex: 1;
    min-width: 0;
  }
  .help {
    color: var(--ink-soft);
    font-size: var(--type-ui);
    max-width: 75ch;
  }
  .issue {
    color: var(--bad);
    font-size: var(--type-ui);
  }
  .issue.doubtful {
    color: var(--warn);
  }
  .wrong input:not([type="checkbox"]),
  .wrong oc-select,
  .wrong textarea {
    border-color: var(--bad);
  }
  details.nested {
    border: 1px solid var(--line);
    border-radius: var(--radius-small);
    background: var(--raised);
    margin: 6px 0;
    scroll-margin-top: 120px;
  }
  details.nested > summary {
    display: flex;
    align-items: baseline;
    gap: 10px;
    padding: 9px 12px;
    cursor: pointer;
    list-style: none;
  }
  details.nested > summary::before {
    content: "";
    flex: none;
    width: 7px;
    height: 7px;
    margin-inline-end: 2px;
    border-inline-end: 1.8px solid var(--ink-soft);
    border-bottom: 1.8px solid var(--ink-soft);
    transform: rotate(-45deg) translateY(-2px);
  }
  details.nested[open] > summary::before {
    transform: rotate(45deg) translateY(-2px);
  }
  details.nested > summary:hover {
    background: var(--hover);
  }
  details.nested .name {
    font-weight: 600;
    font-size: var(--type-row);
    flex: none;
    max-width: 60%;
    overflow-wrap: anywhere;
  }
  details.nested > .inside {
    padding: 4px 14px 12px;
    border-top: 1px solid var(--line);
  }
  details.more > summary {
    padding: 8px 0;
    color: var(--ink-soft);
    font-size: var(--type-ui);
    cursor: pointer;
  }
  .rows {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 8px;
  }
  .item {
    display: flex;
    gap: 6px;
    align-items: center;
  }
  :host([bare]) .field {
    padding: 2px 0;
  }
  :host([bare]) .control {
    max-width: none;
  }
  .item > :first-child {
    flex: 1;
    min-width: 0;
  }
  .add {
    display: flex;
    gap: 8px;
    max-width: 480px;
    padding-top: 8px;
  }
  .plain-list {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  textarea {
    min-height: 76px;
    font-family: var(--mono);
    font-size: var(--type-ui);
  }
  .sought {
    outline: 2px solid var(--accent);
    outline-offset: 4px;
    border-radius: var(--radius-small);
  }
`;
