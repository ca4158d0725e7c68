import { css } from "lit";

/** Badges, dots and counts: a state has a colour and always a word. */
export const stateSheet = css`
  .badge {
    display: inline-flex;
    align-items: center;
    gap: 5px;
    min-height: 20px;
    padding: 0 7px;
    font-size: var(--type-small);
    font-weight: 500;
    line-height: 20px;
    border-radius: 6px;
    color: var(--ink-soft);
    background: var(--fill);
    white-space: nowrap;
  }
  .badge.good {
    color: var(--good);
    background: var(--good-soft);
  }
  .badge.warn {
    color: var(--warn);
    background: var(--warn-soft);
  }
  .badge.bad {
    color: var(--bad);
    background: var(--bad-soft);
  }
  .badge.info {
    color: var(--info);
    background: var(--info-soft);
  }
  .state {
    display: inline-flex;
    align-items: center;
    gap: 7px;
    white-space: nowrap;
  }
  .state.bad {
    color: var(--bad);
  }
  .state.warn {
    color: var(--warn);
  }
  .dot {
    flex: none;
    width: 7px;
    height: 7px;
    border-radius: 99px;
    background: var(--quiet-solid);
  }
  .dot.good {
    background: var(--good-solid);
  }
  .dot.warn {
    background: var(--warn-solid);
  }
  .dot.bad {
    background: var(--bad-solid);
  }
  .dot.info {
    background: var(--accent);
  }
  .counter {
    display: inline-grid;
    place-items: center;
    min-width: 18px;
    height: 18px;
    padding: 0 5px;
    font: 600 var(--type-micro)/1 var(--font);
    border-radius: 99px;
    color: var(--ink-soft);
    background: var(--fill-strong);
  }
  .counter.warn {
    color: var(--warn-ink);
    background: var(--warn-fill);
  }
  .counter.info {
    color: var(--accent-ink);
    background: var(--accent);
  }
  .counter.bad {
    color: var(--bad-ink);
    background: var(--bad-solid);
  }
  .spin {
    flex: none;
    display: inline-block;
    width: 14px;
    height: 14px;
    border: 2px solid color-mix(in srgb, var(--accent) 25%, transparent);
    border-top-color: var(--accent);
    border-radius: 99px;
    animation: spin 0.9s linear infinite;
  }
  @keyframes spin {
    to {
      transform: rotate(1turn);
    }
  }
  .note {
    padding: 10px 14px;
    border-radius: var(--radius);
    background: var(--info-soft);
    color: var(--ink);
    font-size: var(--type-ui);
  }
  .note.warn {
    background: var(--warn-soft);
  }
  .note.bad {
    background: var(--bad-soft);
  }
`;
