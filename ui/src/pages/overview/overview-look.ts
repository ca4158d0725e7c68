import { css } from "lit";

export const overviewLook = css`
  .summary {
    display: flex;
    align-items: center;
    gap: 14px;
    margin-bottom: 16px;
  }
  .summary h2 {
    font-size: var(--type-title);
    line-height: 24px;
  }
  .sign {
    display: grid;
    place-items: center;
    flex: none;
    width: 40px;
    height: 40px;
    border-radius: var(--radius);
    color: var(--good);
    background: var(--good-soft);
  }
  .summary.warn .sign {
    color: var(--warn);
    background: var(--warn-soft);
  }
  .summary.bad .sign {
    color: var(--bad);
    background: var(--bad-soft);
  }
  .quiet {
    color: var(--ink);
    font-weight: 500;
    text-decoration: none;
  }
  .quiet:hover {
    text-decoration: underline;
  }
  .system {
    margin-top: 16px;
  }
  .system .warn {
    color: var(--warn);
  }
  .system .bad {
    color: var(--bad);
  }
  oc-usage-card {
    display: block;
    margin-bottom: var(--gap);
  }
  .cards {
    display: grid;
    grid-template-columns: minmax(0, 7fr) minmax(0, 5fr);
    gap: var(--gap);
    align-items: stretch;
    margin-bottom: var(--gap);
  }
  .cards > section,
  .flush > h2 {
    margin-bottom: 0;
  }
  .flush {
    padding: 0;
    overflow: hidden;
  }
  .title {
    font-size: var(--type-ui);
    min-height: 44px;
    padding: 8px 16px;
    border-bottom: 1px solid var(--line);
  }
  .title .faint,
  .more {
    margin-inline-start: 4px;
    font-size: var(--type-small);
    font-weight: 400;
  }
  .foot {
    padding: 6px 16px 10px;
    font-size: var(--type-small);
  }
  .empty {
    padding: 14px 16px;
    text-align: start;
    border: 0;
  }
  .lines {
    list-style: none;
    margin: 0;
    padding: 0;
    font-size: var(--type-ui);
  }
  .lines li:first-child {
    border-top: 0;
  }
  .lines li {
    display: flex;
    align-items: center;
    gap: 12px;
    padding: 8px 16px;
    border-top: 1px solid var(--line);
  }
  .lines .badge {
    flex: none;
  }
  @media (max-width: 960px) {
    .cards {
      grid-template-columns: minmax(0, 1fr);
    }
  }
  @media (max-width: 760px) {
    .lines li {
      flex-wrap: wrap;
    }
    .lines .grow {
      flex-basis: 60%;
    }
    .summary {
      flex-wrap: wrap;
    }
    .summary .two {
      -webkit-line-clamp: 5;
    }
    .summary > .primary {
      flex-basis: 100%;
    }
    .probe span {
      display: none;
    }
  }
`;
