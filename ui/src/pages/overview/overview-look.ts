import { css } from "lit";

export const overviewLook = css`
  .page.stack {
    display: flex;
  }
  .verdict {
    display: flex;
    align-items: center;
    gap: 16px;
    padding: 18px 20px;
  }
  .verdict h1 {
    font-size: 24px;
  }
  .sign {
    display: grid;
    place-items: center;
    flex: none;
    width: 46px;
    height: 46px;
    border-radius: 50%;
    color: var(--good);
    background: var(--good-soft);
  }
  .verdict.warn .sign {
    color: var(--warn);
    background: var(--warn-soft);
  }
  .verdict.bad .sign {
    color: var(--bad);
    background: var(--bad-soft);
  }
  .tiles {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(170px, 1fr));
    gap: 1px;
    margin: 0;
    overflow: hidden;
    background: var(--line);
    border: 1px solid var(--line);
    border-radius: var(--radius);
  }
  .tile {
    min-width: 0;
    padding: 12px 16px;
    background: var(--raised);
  }
  .tile dt {
    font-size: 12.5px;
    color: var(--ink-faint);
  }
  .tile dd {
    margin: 0;
    font-size: 17px;
    font-variant-numeric: tabular-nums;
    overflow-wrap: anywhere;
  }
  .tile dd.faint {
    font-size: 12.5px;
  }
  .tile:first-child {
    grid-column: span 2;
  }
  .tile.bad dd:not(.faint) {
    color: var(--bad);
  }
  .tile.warn dd:not(.faint) {
    color: var(--warn);
  }
  .cards {
    display: grid;
    grid-template-columns: repeat(3, minmax(0, 1fr));
    gap: var(--gap);
    align-items: start;
  }
  .wide {
    grid-column: 1 / -1;
  }
  .flush {
    padding: 0;
    overflow: hidden;
  }
  .title {
    padding: 12px 16px 8px;
  }
  .more {
    font-size: 13px;
    font-weight: 400;
  }
  .empty {
    padding: 2px 16px 14px;
  }
  .lines {
    list-style: none;
    margin: 0;
    padding: 0;
    font-size: 14px;
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
    background: var(--info);
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
    .tiles {
      grid-template-columns: 1fr 1fr;
    }
    .tile:first-child {
      grid-column: 1 / -1;
    }
    .lines li {
      flex-wrap: wrap;
    }
    .problem .grow {
      flex-basis: 70%;
    }
  }
`;
