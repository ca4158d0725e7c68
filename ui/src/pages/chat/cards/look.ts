import { css } from "lit";

/** How cards of tools look. */
export const cardLook = css`
  .tool {
    min-width: 0;
    border: 1px solid var(--line);
    border-radius: var(--radius-small);
    background: var(--raised);
    overflow: hidden;
  }
  .tool.failed {
    border-color: var(--bad);
  }
  .card-head {
    display: flex;
    justify-content: flex-start;
    gap: 8px;
    width: 100%;
    min-height: 34px;
    padding: 4px 10px;
    background: none;
    border: 0;
    border-radius: 0;
    font-size: 13.5px;
    text-align: start;
  }
  .card-head:focus-visible {
    outline-offset: -2px;
  }
  .card-head > svg {
    flex: none;
    color: var(--ink-faint);
  }
  .card-name {
    flex: none;
    font-weight: 600;
  }
  .card-about {
    flex: 1;
    min-width: 0;
    font-family: var(--mono);
    font-size: 12.5px;
    color: var(--ink-soft);
  }
  .card-state {
    display: inline-flex;
    flex: none;
    align-items: center;
    gap: 6px;
    font-size: 12.5px;
    color: var(--ink-faint);
    font-variant-numeric: tabular-nums;
  }
  .card-state.done > svg {
    color: var(--good);
  }
  .card-state.failed,
  .card-state.failed > svg {
    color: var(--bad);
  }
  .exit {
    color: var(--bad);
  }
  .card-state.denied,
  .card-state.denied > svg {
    color: var(--bad);
  }
  .card-state.asked > svg,
  .card-state.expired > svg,
  .card-state.lost > svg {
    color: var(--warn);
  }
  .tail {
    margin: 0;
    padding: 6px 12px 8px;
    max-height: 220px;
    overflow: auto;
    font-size: 12.5px;
    line-height: 1.45;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    background: var(--code);
    border-top: 1px solid var(--line);
  }
  .card-body {
    display: flex;
    flex-direction: column;
    gap: 10px;
    padding: 8px 12px 12px;
    border-top: 1px solid var(--line);
  }
  .part {
    margin: 0 0 4px;
    font-size: 12.5px;
    font-weight: 600;
    color: var(--ink-soft);
  }
  .card-body pre {
    max-height: 420px;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  @media (max-width: 720px) {
    .card-head {
      min-height: 40px;
    }
  }
`;
