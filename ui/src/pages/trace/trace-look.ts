import { css } from "lit";

export const traceLook = css`
  .asked,
  .start {
    overflow-wrap: anywhere;
  }
  .page.stack {
    display: flex;
  }
  .page.wide {
    max-width: 1440px;
  }
  .flush {
    padding: 0;
    overflow: hidden;
  }
  .filters {
    gap: 8px;
  }
  .filters oc-select {
    width: auto;
    min-width: 140px;
  }
  .story {
    display: flex;
    flex-direction: column;
    gap: 10px;
  }
  .verdict {
    overflow-wrap: anywhere;
  }
  dl.facts {
    display: flex;
    flex-wrap: wrap;
    gap: 8px 28px;
    margin: 0;
  }
  dt {
    font-size: var(--type-small);
    color: var(--ink-faint);
  }
  dd {
    margin: 0;
    font-variant-numeric: tabular-nums;
    overflow-wrap: anywhere;
  }
  .both {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: var(--gap);
    align-items: start;
  }
  .both.open {
    grid-template-columns: minmax(0, 1fr) 340px;
  }
  .chart {
    padding: 12px;
  }
  .legend {
    margin-top: 10px;
    padding-top: 10px;
    border-top: 1px solid var(--line);
    gap: 4px 16px;
    font-size: var(--type-small);
    color: var(--ink-soft);
  }
  .legend label {
    font-size: var(--type-small);
    gap: 6px;
  }
  .key {
    display: inline-flex;
    align-items: center;
    gap: 6px;
  }
  .dot {
    width: 10px;
    height: 10px;
    border-radius: 2px;
  }
  .dot.queue {
    background: var(--ink-faint);
    opacity: 0.45;
  }
  .dot.plugins {
    background: var(--series-5);
  }
  .dot.model {
    background: var(--series-2);
  }
  .dot.tools {
    background: var(--series-4);
  }
  .dot.compaction {
    background: var(--series-6);
  }
  .dot.delivery {
    background: var(--series-3);
  }
  .dot.attempt {
    background: var(--bad);
  }
  @media (max-width: 900px) {
    .both.open {
      grid-template-columns: minmax(0, 1fr);
    }
  }
  @media (max-width: 760px) {
    .filters {
      width: 100%;
    }
    .filters oc-select {
      flex: 1;
      min-width: 0;
    }
    .chart {
      padding: 8px 4px;
    }
  }
`;
