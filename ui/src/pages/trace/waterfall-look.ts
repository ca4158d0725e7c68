import { css } from "lit";

/** Colours of what is drawn. */
export const waterfallLook = css`
  :host {
    display: block;
    position: relative;
    min-width: 0;
  }
  svg {
    display: block;
    width: 100%;
    touch-action: pan-y;
    user-select: none;
    cursor: default;
  }
  svg.zoomed .backdrop {
    cursor: grab;
  }
  text {
    font-size: var(--type-small);
    fill: var(--ink);
  }
  text.axis,
  text.note {
    font-size: var(--type-micro);
    fill: var(--ink-faint);
    font-variant-numeric: tabular-nums;
  }
  text.bad {
    fill: var(--bad);
  }
  text.free {
    paint-order: stroke;
    stroke: var(--raised);
    stroke-width: 4px;
    stroke-linejoin: round;
  }
  text.inside {
    fill: var(--raised);
  }
  text.pale {
    fill: var(--ink);
  }
  .backdrop {
    fill: transparent;
  }
  .grid {
    stroke: var(--line);
  }
  .cursor {
    stroke: var(--accent);
    stroke-dasharray: 2 3;
  }
  .back {
    fill: transparent;
  }
  g.row {
    cursor: pointer;
    outline: none;
  }
  g.row:hover .back {
    fill: var(--sunken);
  }
  g.row.chosen .back {
    fill: var(--accent-soft);
  }
  g.row:focus-visible .back {
    stroke: var(--accent);
    stroke-width: 2;
  }
  .bar.arrival,
  .bar.queue {
    fill: var(--ink-faint);
  }
  .bar.turn {
    fill: var(--line-strong);
  }
  .bar.model {
    fill: var(--series-2);
  }
  .bar.tools {
    fill: var(--series-4);
  }
  .bar.plugins {
    fill: var(--series-5);
  }
  .bar.compaction {
    fill: var(--series-6);
  }
  .bar.delivery {
    fill: var(--series-3);
  }
  .bar.attempt,
  .bar.bad {
    fill: var(--bad);
  }
  .bar.soft {
    fill-opacity: 0.38;
  }
  .bar.open {
    animation: breathe 1.6s ease-in-out infinite;
  }
  @keyframes breathe {
    50% {
      fill-opacity: 0.55;
    }
  }
  .tip {
    position: absolute;
    z-index: 5;
    max-width: min(380px, 92%);
    padding: 8px 12px;
    font-size: var(--type-ui);
    background: var(--raised);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-small);
    box-shadow: var(--shadow);
    pointer-events: none;
    overflow-wrap: anywhere;
  }
`;
