import { css } from "lit";

export const overviewLook = css`
  .summary {
    display: flex;
    align-items: center;
    gap: 14px;
    margin-bottom: 20px;
  }
  .summary h2 {
    font-size: 18px;
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
  .mark {
    display: grid;
    place-items: center;
    flex: none;
    width: 32px;
    height: 32px;
    border-radius: var(--radius-small);
    color: var(--warn);
    background: var(--warn-soft);
  }
  .mark.bad {
    color: var(--bad);
    background: var(--bad-soft);
  }
  .strong {
    font-weight: 600;
  }
  .quiet {
    color: var(--ink);
    font-weight: 500;
    text-decoration: none;
  }
  .quiet:hover {
    text-decoration: underline;
  }
  .state {
    display: flex;
    align-items: center;
    gap: 8px;
    flex: none;
    min-width: 110px;
    font-size: 12px;
    color: var(--ink-soft);
  }
  .dot {
    width: 8px;
    height: 8px;
    border-radius: 50%;
    background: var(--line-strong);
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
    align-items: start;
    margin-bottom: var(--gap);
  }
  .cards.last {
    grid-template-columns: minmax(0, 1fr);
    margin-bottom: 0;
  }
  .wide {
    grid-column: 1 / -1;
  }
  .cards > section,
  .cards > section > h2 {
    margin-bottom: 0;
  }
  .flush {
    padding: 0;
    overflow: hidden;
  }
  .title {
    padding: 12px 16px;
    border-bottom: 1px solid var(--line);
  }
  .more {
    font-size: 12px;
    font-weight: 400;
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
    font-size: 13px;
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
  .problem {
    overflow-wrap: anywhere;
  }
  .lines .problem {
    align-items: flex-start;
  }
  .side {
    flex: none;
    text-align: end;
    white-space: nowrap;
  }
  .wrong {
    color: var(--bad);
    font-size: 13px;
    overflow-wrap: anywhere;
  }
  .pulse {
    flex: none;
    width: 9px;
    height: 9px;
    border-radius: 50%;
    background: var(--accent);
    animation: pulse 1.6s ease-in-out infinite;
  }
  @keyframes pulse {
    50% {
      opacity: 0.35;
    }
  }
  @media (max-width: 960px) {
    .cards {
      grid-template-columns: minmax(0, 1fr);
    }
  }
  @media (max-width: 720px) {
    .lines li {
      flex-wrap: wrap;
    }
    .problem .grow {
      flex-basis: 70%;
    }
  }
`;
