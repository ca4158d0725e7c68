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
    font-size: 18px;
    line-height: 24px;
    font-weight: 600;
    letter-spacing: -0.01em;
  }
  h2 {
    font-size: 14px;
    font-weight: 600;
  }
  h3 {
    font-size: 13px;
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
    font-size: 12px;
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
    max-width: 1200px;
    margin: 0 auto;
    padding: 20px 24px 48px;
  }
  .page:has(> header.head:first-child) {
    padding-top: 0;
  }
  button,
  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 6px;
    min-height: var(--control);
    padding: 4px 12px;
    font: inherit;
    font-size: 13px;
    font-weight: 500;
    line-height: 18px;
    text-decoration: none;
    color: var(--ink);
    background: var(--raised);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-small);
    box-shadow: var(--shadow-small);
    cursor: pointer;
    transition:
      background var(--motion),
      border-color var(--motion);
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
    color: var(--primary-ink);
    background: var(--primary);
    border-color: var(--primary);
  }
  button.primary:hover:not(:disabled),
  .button.primary:hover {
    background: var(--primary-hover);
    border-color: var(--primary-hover);
  }
  button.danger {
    color: var(--bad);
  }
  button.danger:hover:not(:disabled) {
    background: var(--bad-soft);
    border-color: var(--bad);
  }
  button.plain {
    background: none;
    border-color: transparent;
    box-shadow: none;
  }
  button.small,
  .button.small {
    min-height: 28px;
    padding: 2px 8px;
    font-size: 12px;
  }
  button.icon {
    width: var(--control);
    padding: 0;
  }
  input:not([type="checkbox"], [type="radio"], [type="range"]),
  select,
  textarea {
    width: 100%;
    min-height: var(--control);
    padding: 5px 10px;
    font: inherit;
    font-size: 13px;
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
    font-size: 13px;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-size: 13px;
    font-variant-numeric: tabular-nums;
  }
  th {
    font-weight: 500;
    font-size: 12px;
    color: var(--ink-faint);
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
    font-size: 12px;
    line-height: 18px;
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
    font-size: 13px;
  }
  .note.warn {
    background: var(--warn-soft);
  }
  .note.bad {
    background: var(--bad-soft);
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
      min-height: 44px;
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
