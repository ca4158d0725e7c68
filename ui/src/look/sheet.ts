import { css } from "lit";
import { controlsSheet } from "./controls-sheet.ts";
import { stateSheet } from "./state-sheet.ts";

/** What every element shares: text, controls, states, tables, cards. Put it first in `static styles`. */
export const sheet = css`
  ${controlsSheet}
  ${stateSheet}
  :host {
    color: var(--ink);
    font: inherit;
  }
  :host([hidden]),
  [hidden] {
    display: none !important;
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  h1,
  h2,
  h3,
  p {
    margin: 0;
  }
  h1 {
    font-size: var(--type-title);
    line-height: 24px;
    font-weight: 600;
    letter-spacing: -0.01em;
  }
  h2 {
    font-size: var(--type-row);
    font-weight: 600;
  }
  h3 {
    font-size: var(--type-ui);
    font-weight: 600;
  }
  a {
    color: var(--accent-text);
  }
  .soft {
    color: var(--ink-soft);
  }
  .faint {
    color: var(--ink-faint);
    font-size: var(--type-small);
  }
  .mono,
  code,
  pre {
    font-family: var(--mono);
    font-size: 0.92em;
  }
  .num {
    font-variant-numeric: tabular-nums;
    text-align: end;
  }
  .row {
    display: flex;
    align-items: center;
    gap: 10px;
  }
  .wrap {
    flex-wrap: wrap;
  }
  .stack {
    display: flex;
    flex-direction: column;
    gap: var(--gap);
  }
  .grow {
    flex: 1;
    min-width: 0;
  }
  .cut {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .card {
    background: var(--paper);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    padding: 16px;
  }
  .page {
    max-width: 1200px;
    margin: 0 auto;
    padding: 20px var(--gutter) 48px;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-size: var(--type-ui);
    font-variant-numeric: tabular-nums;
  }
  th {
    font-weight: 500;
    font-size: var(--type-small);
    color: var(--ink-faint);
    text-align: start;
  }
  th,
  td {
    padding: 8px 12px;
    border-bottom: 1px solid var(--line);
  }
  tbody tr:last-child > * {
    border-bottom: 0;
  }
  th.num {
    text-align: end;
  }
  tbody tr:hover {
    background: var(--fill);
  }
  .scroll {
    overflow-x: auto;
  }
  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (max-width: 760px) {
    .page {
      padding: 16px 16px 32px;
    }
  }
  @media (prefers-reduced-motion: reduce) {
    *,
    *::before,
    *::after {
      animation-duration: 0.01ms !important;
      animation-iteration-count: 1 !important;
      transition-duration: 0s !important;
      scroll-behavior: auto !important;
    }
  }
`;
