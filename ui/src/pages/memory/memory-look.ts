import { css } from "lit";

/** The memory page. */
export const memoryLook = css`
  .page-head oc-select {
    width: auto;
  }
  .back {
    display: inline-block;
    margin-bottom: 10px;
  }
  .search {
    position: relative;
    margin-bottom: 10px;
  }
  .search svg {
    position: absolute;
    inset-inline-start: 14px;
    top: 50%;
    translate: 0 -50%;
    color: var(--ink-faint);
    pointer-events: none;
  }
  .search input:not([type="checkbox"]) {
    min-height: 44px;
    padding-inline: 42px 44px;
    font-size: var(--type-reading);
    border-radius: var(--radius);
  }
  .search kbd {
    position: absolute;
    inset-inline-end: 12px;
    top: 50%;
    translate: 0 -50%;
    padding: 0 7px;
    font: var(--type-small)/20px var(--mono);
    color: var(--ink-soft);
    border: 1px solid var(--line-strong);
    border-radius: 4px;
    pointer-events: none;
  }
  oc-memory-status {
    margin-bottom: 18px;
  }
  nav.tabs {
    display: flex;
    gap: 4px;
    margin-bottom: 18px;
    border-bottom: 1px solid var(--line);
  }
  nav.tabs a {
    padding: 8px 14px;
    color: var(--ink-soft);
    text-decoration: none;
    border-bottom: 2px solid transparent;
  }
  nav.tabs a[aria-current="page"] {
    color: var(--ink);
    border-color: var(--accent);
  }
  .two {
    display: grid;
    grid-template-columns: 250px minmax(0, 1fr);
    gap: 20px;
    align-items: start;
  }
  .groups h2 {
    display: flex;
    justify-content: space-between;
    padding: 0 10px;
    margin: 14px 0 4px;
    font-size: var(--type-ui);
    font-weight: 600;
    color: var(--ink-soft);
  }
  .groups h2:first-child {
    margin-top: 0;
  }
  .groups h2 span {
    font-weight: 400;
  }
  .groups ul {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  .groups a {
    display: flex;
    align-items: baseline;
    justify-content: space-between;
    gap: 8px;
    padding: 6px 10px;
    font-size: var(--type-row);
    color: var(--ink);
    text-decoration: none;
    border-radius: var(--radius-small);
  }
  .groups a:hover {
    background: var(--hover);
  }
  .groups a[aria-current="true"] {
    background: var(--selected);
    color: var(--accent-text);
  }
  .groups a[aria-current="true"] .faint {
    color: var(--ink-soft);
  }
  .filters {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px 12px;
    margin-bottom: 12px;
  }
  .segments {
    display: inline-flex;
    gap: 2px;
    padding: 2px;
    background: var(--sunken);
    border: 1px solid var(--line);
    border-radius: var(--radius-small);
  }
  .segments button {
    min-height: 28px;
    padding: 2px 10px;
    font-size: var(--type-ui);
    border-color: transparent;
    background: none;
  }
  .segments button[aria-pressed="true"] {
    background: var(--raised);
    border-color: var(--line-strong);
  }
  .filters .count {
    margin-inline-start: auto;
  }
  form.card {
    margin-bottom: 16px;
  }
  .understood {
    margin: 14px 2px 0;
  }
  .only-phone {
    display: none;
  }
  @media (max-width: 760px) {
    .two {
      grid-template-columns: minmax(0, 1fr);
    }
    .has-note .groups,
    .no-note > :not(.groups) {
      display: none;
    }
    .no-note .groups a {
      background: none;
      color: var(--ink);
    }
    .only-phone {
      display: inline-block;
    }
    .search kbd {
      display: none;
    }
    .groups a {
      min-height: 44px;
      align-items: center;
    }
    .segments {
      display: flex;
      flex: 1 1 100%;
    }
    .segments button {
      flex: 1;
      min-height: 36px;
      padding: 2px 4px;
    }
  }
`;
