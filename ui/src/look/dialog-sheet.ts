import { css } from "lit";

/** What every dialog looks like. Put it behind `sheet`; an element says only how wide it is. */
export const dialogSheet = css`
  dialog {
    padding: 20px;
    color: var(--ink);
    background: var(--raised);
    border: 1px solid var(--line);
    border-radius: var(--radius);
    box-shadow: var(--shadow-high);
  }
  dialog::backdrop {
    background: var(--veil);
  }
`;
