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
  .state {
    max-width: 220px;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .tabs {
    display: inline-flex;
    border-radius: var(--radius-small);
    background: var(--fill);
  }
  .tabs button {
    padding: 0 10px;
    color: var(--ink-soft);
    background: none;
    background-clip: padding-box;
    border: 2px solid transparent;
    box-shadow: none;
  }
  .tabs button:hover {
    color: var(--ink);
  }
  .tabs button[aria-pressed="true"] {
    color: var(--ink);
    background: var(--segment);
    background-clip: padding-box;
    filter: drop-shadow(0 0 0.5px var(--ink-faint));
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
    height: max(320px, calc(100dvh - 170px));
  }
  oc-json-editor:has(~ oc-config-issues[filled]) {
    height: max(320px, calc(100dvh - 260px));
  }
  .keys {
    margin-top: -8px;
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
    .keys {
      display: none;
    }
    .page-head .actions {
      flex: 1 1 100%;
      justify-content: flex-start;
    }
  }
`;
