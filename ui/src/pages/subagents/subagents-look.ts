import { css } from "lit";

/** Lines that hang on each other. */
export const subagentsLook = css`
  header.root {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 4px 12px;
    margin-bottom: 8px;
  }
  header.root h2 {
    overflow-wrap: anywhere;
  }
  .page-head label {
    color: var(--ink-soft);
  }
  ul {
    margin: 0;
    padding: 0;
    list-style: none;
  }
  ul.tree {
    border: 1px solid var(--line);
    border-radius: var(--radius);
    background: var(--raised);
  }
  ul.tree > li + li {
    border-top: 1px solid var(--line);
  }
  li {
    padding: 10px 12px;
  }
  li li {
    padding: 10px 0 0 20px;
    margin: 8px 0 0 11px;
    border-inline-start: 2px solid var(--line-strong);
  }
  .line {
    display: flex;
    align-items: flex-start;
    gap: 8px;
  }
  .line .row {
    gap: 4px 10px;
  }
  .name {
    font-weight: 600;
    overflow-wrap: anywhere;
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
    overflow: hidden;
  }
  .task {
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
    overflow: hidden;
    overflow-wrap: anywhere;
  }
  .reason {
    color: var(--bad);
    font-size: var(--type-ui);
    overflow-wrap: anywhere;
  }
  .faint {
    overflow-wrap: anywhere;
  }
  button.fold {
    width: 24px;
    min-height: 24px;
    padding: 0;
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    justify-content: flex-end;
    gap: 6px;
  }
  form.steer {
    display: grid;
    gap: 8px;
    margin-top: 10px;
  }
  form.steer label {
    display: grid;
    gap: 4px;
  }
  @media (max-width: 760px) {
    .line {
      flex-wrap: wrap;
    }
    .line .grow {
      flex-basis: calc(100% - 40px);
    }
    .actions {
      flex-basis: 100%;
      justify-content: flex-start;
    }
    .line {
      gap: 4px;
    }
    button.fold {
      width: 20px;
    }
    li li {
      padding-inline-start: 14px;
      margin-inline-start: 9px;
    }
  }
`;
