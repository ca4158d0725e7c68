import { css } from "lit";

/** Settings one below the other: what it is at the left, its control at the right. */
export const settingLook = css`
  .settings {
    border: 1px solid var(--line);
    border-radius: var(--radius);
  }
  .setting {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(220px, 360px);
    gap: 24px;
    align-items: center;
    padding: 12px 16px;
    border-top: 1px solid var(--line);
  }
  .setting:first-child {
    border-top: 0;
  }
  .setting b {
    display: block;
    font-size: var(--type-ui);
    font-weight: 500;
    line-height: 20px;
  }
  .setting p {
    max-width: 62ch;
    font-size: var(--type-small);
    line-height: 16px;
    color: var(--ink-faint);
    overflow-wrap: anywhere;
  }
  .setting > .control {
    min-width: 0;
  }
  .setting.narrow {
    grid-template-columns: minmax(0, 1fr) auto;
  }
  @media (max-width: 760px) {
    .setting:not(.narrow) {
      grid-template-columns: minmax(0, 1fr);
      gap: 10px;
    }
  }
`;
