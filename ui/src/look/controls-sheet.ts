import { css } from "lit";

/** Buttons, fields, checkboxes and keys. */
export const controlsSheet = css`
  button,
  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 6px;
    min-height: var(--control);
    padding: 4px 12px;
    font: inherit;
    font-size: var(--type-ui);
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
    background: var(--fill);
    border-color: transparent;
    box-shadow: none;
    cursor: not-allowed;
  }
  button[aria-busy="true"] {
    pointer-events: none;
    color: var(--ink-faint);
  }
  button.primary,
  .button.primary {
    color: var(--primary-ink);
    background: var(--primary);
    border-color: var(--primary);
  }
  button.primary:disabled {
    color: var(--ink-faint);
    background: var(--fill);
    border-color: transparent;
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
    border-color: color-mix(in srgb, var(--bad) 40%, transparent);
  }
  button.danger.solid {
    color: var(--bad-ink);
    background: var(--bad-solid);
    border-color: var(--bad-solid);
  }
  button.danger.solid:hover:not(:disabled) {
    background: color-mix(in srgb, var(--bad-solid) 88%, var(--ink));
  }
  button.plain,
  .button.plain {
    background: none;
    border-color: transparent;
    box-shadow: none;
  }
  button.plain:hover:not(:disabled),
  .button.plain:hover {
    background: var(--fill);
  }
  button.plain.danger:hover:not(:disabled) {
    background: var(--bad-soft);
    border-color: transparent;
  }
  button.small,
  .button.small {
    min-height: 28px;
    padding: 2px 8px;
    font-size: var(--type-small);
  }
  button.icon,
  .button.icon {
    flex: none;
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
    font-size: var(--type-ui);
    color: var(--ink);
    background: var(--raised);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-small);
    transition: border-color var(--motion);
  }
  input:not([type="checkbox"], [type="radio"], [type="range"]):hover:not(:disabled),
  textarea:hover:not(:disabled) {
    border-color: var(--ink-faint);
  }
  input[type="checkbox"] {
    appearance: none;
    display: inline-grid;
    place-items: center;
    flex: none;
    width: 16px;
    height: 16px;
    margin: 0;
    vertical-align: -3px;
    background: var(--raised);
    border: 1px solid var(--ink-faint);
    border-radius: var(--radius-key);
    cursor: pointer;
  }
  input[type="checkbox"]:checked {
    background: var(--accent);
    border-color: var(--accent);
  }
  input[type="checkbox"]:checked::after {
    content: "";
    width: 9px;
    height: 5px;
    border: solid var(--accent-ink);
    border-width: 0 0 2px 2px;
    transform: rotate(-45deg) translate(1px, -1px);
  }
  input[type="checkbox"]:disabled {
    opacity: 0.6;
    cursor: not-allowed;
  }
  kbd {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    min-width: 18px;
    height: 18px;
    padding: 0 4px;
    font: 500 var(--type-micro)/1 var(--font);
    color: var(--ink-soft);
    background: var(--fill);
    border: 1px solid var(--line);
    border-radius: var(--radius-key);
    white-space: nowrap;
  }
  ::placeholder {
    color: var(--ink-faint);
    opacity: 1;
  }
  label {
    font-size: var(--type-ui);
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  @media (max-width: 760px) {
    button,
    .button,
    button.small,
    .button.small,
    input:not([type="checkbox"], [type="radio"], [type="range"]),
    select {
      min-height: 44px;
    }
    button.small.icon,
    button.icon {
      min-width: 44px;
    }
    input:not([type="checkbox"], [type="radio"], [type="range"]),
    select,
    textarea {
      font-size: var(--type-field);
    }
    input[type="checkbox"] {
      width: 20px;
      height: 20px;
    }
  }
`;
