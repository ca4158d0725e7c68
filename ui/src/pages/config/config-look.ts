import { css } from "lit";

/** How the configuration page looks. */
export const configLook = css`
  .page {
    display: flex;
    max-width: 1240px;
  }
  oc-config-issues:not([filled]) {
    display: none;
  }
  .bar {
    position: sticky;
    top: 0;
    z-index: 5;
    display: flex;
    align-items: center;
    gap: 10px;
    padding: 10px 0;
    background: var(--paper);
    border-bottom: 1px solid var(--line);
  }
  .state {
    max-width: 46%;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .tabs {
    display: flex;
  }
  .tabs button {
    border-radius: 0;
    margin-inline-start: -1px;
  }
  .tabs button:first-child {
    border-start-start-radius: var(--radius-small);
    border-end-start-radius: var(--radius-small);
  }
  .tabs button:last-child {
    border-start-end-radius: var(--radius-small);
    border-end-end-radius: var(--radius-small);
  }
  .tabs button[aria-pressed="true"] {
    color: var(--accent-text);
    background: var(--accent-soft);
    font-weight: 600;
  }
  .columns {
    display: grid;
    grid-template-columns: 230px minmax(0, 1fr);
    gap: 28px;
    align-items: start;
  }
  aside {
    position: sticky;
    top: 68px;
    max-height: calc(100dvh - 90px);
    overflow-y: auto;
    padding: 3px;
    gap: 8px;
  }
  .content {
    min-width: 0;
  }
  oc-json-editor {
    height: max(320px, calc(100dvh - 250px));
  }
  .found {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  .found li {
    border-bottom: 1px solid var(--line);
  }
  .found button {
    width: 100%;
    flex-direction: column;
    align-items: flex-start;
    gap: 2px;
    padding: 8px;
    text-align: start;
  }
  .found code {
    overflow-wrap: anywhere;
  }
  @media (max-width: 820px) {
    .columns {
      grid-template-columns: minmax(0, 1fr);
      gap: 14px;
    }
    aside {
      position: static;
      max-height: none;
    }
    .bar {
      flex-wrap: wrap;
    }
  }
`;
