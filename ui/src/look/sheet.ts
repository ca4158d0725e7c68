import { css } from "lit";

/** What every element shares: text, controls, tables, cards. Put it first in `static styles`. */
export const sheet = css`
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
    font-size: 22px;
    line-height: 1.3;
    letter-spacing: -0.01em;
  }
  h2 {
    font-size: 16px;
  }
  h3 {
    font-size: 14px;
  }
  a {
    color: var(--accent-text);
  }
  .soft {
    color: var(--ink-soft);
  }
  .faint {
    color: var(--ink-faint);
    font-size: 13px;
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
    background: var(--raised);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    padding: 16px;
  }
  .page {
    max-width: 1120px;
    margin: 0 auto;
    padding: 24px 24px 64px;
  }
  button,
  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 6px;
    min-height: 34px;
    padding: 4px 12px;
    font: inherit;
    font-size: 14px;
    text-decoration: none;
    color: var(--ink);
    background: var(--raised);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-small);
    cursor: pointer;
  }
  button:hover:not(:disabled),
  .button:hover {
    background: var(--hover);
  }
  button:disabled {
    color: var(--ink-faint);
    cursor: not-allowed;
    opacity: 0.7;
  }
  button.primary,
  .button.primary {
    color: var(--accent-ink);
    background: var(--accent);
    border-color: var(--accent);
  }
  button.primary:hover:not(:disabled),
  .button.primary:hover {
    background: var(--accent);
    filter: brightness(1.08);
  }
  button.danger {
    color: var(--bad);
    border-color: var(--bad);
  }
  button.plain {
    background: none;
    border-color: transparent;
  }
  button.small,
  .button.small {
    min-height: 28px;
    padding: 2px 8px;
    font-size: 13px;
  }
  button.icon {
    width: 34px;
    padding: 0;
  }
  input:not([type="checkbox"], [type="radio"], [type="range"]),
  select,
  textarea {
    width: 100%;
    min-height: 34px;
    padding: 5px 10px;
    font: inherit;
    font-size: 14px;
    color: var(--ink);
    background: var(--raised);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-small);
  }
  ::placeholder {
    color: var(--ink-faint);
    opacity: 1;
  }
  label {
    font-size: 14px;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-size: 14px;
  }
  th {
    font-weight: 600;
    font-size: 13px;
    color: var(--ink-soft);
    text-align: start;
  }
  th,
  td {
    padding: 8px 10px;
    border-bottom: 1px solid var(--line);
    vertical-align: top;
  }
  th.num {
    text-align: end;
  }
  tbody tr:hover {
    background: var(--sunken);
  }
  .scroll {
    overflow-x: auto;
  }
  .badge {
    display: inline-flex;
    align-items: center;
    gap: 5px;
    padding: 1px 8px;
    font-size: 12.5px;
    border-radius: 99px;
    color: var(--ink-soft);
    background: var(--sunken);
    border: 1px solid var(--line);
    white-space: nowrap;
  }
  .badge.good {
    color: var(--good);
    background: var(--good-soft);
    border-color: transparent;
  }
  .badge.warn {
    color: var(--warn);
    background: var(--warn-soft);
    border-color: transparent;
  }
  .badge.bad {
    color: var(--bad);
    background: var(--bad-soft);
    border-color: transparent;
  }
  .badge.info {
    color: var(--info);
    background: var(--info-soft);
    border-color: transparent;
  }
  .note {
    padding: 10px 14px;
    border-radius: var(--radius-small);
    background: var(--info-soft);
    color: var(--ink);
    border-inline-start: 3px solid var(--info);
  }
  .note.warn {
    background: var(--warn-soft);
    border-color: var(--warn);
  }
  .note.bad {
    background: var(--bad-soft);
    border-color: var(--bad);
  }
  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (max-width: 720px) {
    .page {
      padding: 16px 14px 72px;
    }
    button,
    .button,
    input,
    select {
      min-height: 40px;
    }
    input:not([type="checkbox"], [type="radio"], [type="range"]),
    select,
    textarea {
      font-size: 16px;
    }
  }
  @media (prefers-reduced-motion: reduce) {
    *,
    *::before,
    *::after {
      animation-duration: 0.01ms !important;
      transition-duration: 0s !important;
      scroll-behavior: auto !important;
    }
  }
`;
