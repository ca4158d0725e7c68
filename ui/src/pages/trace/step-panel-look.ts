import { css } from "lit";

export const stepPanelLook = css`
  :host {
    display: block;
    min-width: 0;
  }
  .card {
    padding: 14px 16px;
  }
  h2 {
    overflow-wrap: anywhere;
  }
  .text {
    margin: 6px 0 12px;
    overflow-wrap: anywhere;
  }
  dl {
    display: grid;
    grid-template-columns: minmax(84px, auto) 1fr;
    gap: 4px 12px;
    margin: 0;
    font-size: var(--type-ui);
  }
  dl dl {
    margin-top: 4px;
  }
  dt {
    color: var(--ink-soft);
  }
  dd {
    margin: 0;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  summary {
    cursor: pointer;
  }
  h3 {
    margin: 14px 0 6px;
    color: var(--ink-soft);
  }
  pre {
    margin: 0;
    padding: 8px 10px;
    max-height: 240px;
    overflow: auto;
    font-size: var(--type-small);
    line-height: 1.45;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    background: var(--code);
    border: 1px solid var(--line);
    border-radius: var(--radius-small);
  }
  pre.all {
    max-height: 60vh;
  }
  pre + button {
    margin-top: 8px;
  }
  .came {
    gap: 8px;
    margin: 14px 0 6px;
  }
  .came h3 {
    margin: 0;
  }
  ol.attempts,
  ul.queue {
    margin: 0;
    padding-inline-start: 20px;
    font-size: var(--type-ui);
    overflow-wrap: anywhere;
  }
  ol.attempts li + li {
    margin-top: 6px;
  }
  .acts {
    margin-top: 14px;
    gap: 8px;
  }
`;
