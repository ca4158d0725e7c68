import { css } from "lit";

export const paletteLook = css`
  dialog {
    display: flex;
    flex-direction: column;
    width: min(640px, calc(100vw - 24px));
    max-width: none;
    max-height: 76vh;
    margin: 12vh auto 0;
    padding: 0;
    overflow: hidden;
    border: 0;
    border-radius: var(--radius-panel);
  }
  .input {
    display: flex;
    align-items: center;
    gap: 10px;
    flex: none;
    min-height: 54px;
    padding: 0 14px 0 16px;
    border-bottom: 1px solid var(--line);
  }
  .input > svg {
    flex: none;
    color: var(--ink-faint);
  }
  .input input:not([type="checkbox"]) {
    flex: 1;
    min-width: 0;
    padding: 0;
    font-size: var(--type-field);
    line-height: 24px;
    background: none;
    border: 0;
    outline: none;
  }
  button.scope {
    flex: none;
    max-width: 40%;
    min-height: 24px;
    padding: 0 4px 0 8px;
    font-size: var(--type-small);
    color: var(--ink-soft);
    background: var(--fill-strong);
    border: 0;
    border-radius: 6px;
    box-shadow: none;
  }
  .list {
    flex: 1;
    min-height: 0;
    padding: 4px 8px 8px;
    overflow-y: auto;
    scrollbar-width: thin;
    scrollbar-color: var(--line-strong) transparent;
  }
  .heading {
    padding: 10px 8px 4px;
    font-size: var(--type-small);
    line-height: 16px;
    font-weight: 500;
    color: var(--ink-faint);
  }
  .option {
    display: grid;
    grid-template-columns: auto auto minmax(0, 1fr) auto;
    align-items: center;
    gap: 10px;
    min-height: 40px;
    padding: 0 10px 0 6px;
    font-size: var(--type-ui);
    border-radius: var(--radius-small);
    cursor: pointer;
  }
  .option[aria-selected="true"] {
    background: var(--fill-strong);
  }
  .option[aria-selected="true"] .hint {
    color: var(--ink-soft);
  }
  .tile {
    display: grid;
    place-items: center;
    width: 28px;
    height: 28px;
    color: var(--ink-soft);
    background: var(--fill);
    border-radius: 8px;
  }
  .tile.warn {
    color: var(--warn);
    background: var(--warn-soft);
  }
  .hint {
    font-size: var(--type-small);
    line-height: 20px;
    color: var(--ink-faint);
  }
  .label {
    max-width: 46ch;
  }
  mark {
    color: var(--accent-text);
    font-weight: 600;
    background: none;
  }
  .keys {
    display: flex;
    gap: 3px;
  }
  .none {
    padding: 16px;
    text-align: center;
  }
  footer {
    display: flex;
    align-items: center;
    gap: 16px;
    flex: none;
    min-height: 40px;
    padding: 0 14px;
    font-size: var(--type-small);
    color: var(--ink-soft);
    background: var(--sunken);
    border-top: 1px solid var(--line);
  }
  footer span {
    display: inline-flex;
    align-items: center;
    gap: 5px;
    white-space: nowrap;
  }
  footer .end {
    margin-inline-start: auto;
  }
  @media (max-width: 760px) {
    dialog {
      margin-top: 8px;
      max-height: calc(100dvh - 16px);
    }
    .option {
      grid-template-columns: auto minmax(0, 1fr);
      min-height: 52px;
      row-gap: 0;
    }
    .tile {
      grid-row: span 2;
    }
    .label {
      max-width: none;
      align-self: end;
    }
    .hint {
      grid-column: 2;
      align-self: start;
    }
    .keys,
    footer {
      display: none;
    }
    button.scope {
      min-height: 32px;
    }
  }
`;
