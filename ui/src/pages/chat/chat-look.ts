import { css } from "lit";

/** How the frame of the chat lies on the page. */
export const chatLook = css`
  .frame {
    display: grid;
    grid-template-columns: 284px minmax(0, 1fr) auto;
    grid-template-rows: minmax(0, 1fr);
    height: 100%;
  }
  .frame.alone {
    grid-template-columns: minmax(0, 1fr) auto;
  }
  aside {
    min-height: 0;
    border-inline-end: 1px solid var(--line);
  }
  .talk {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    grid-template-rows: auto minmax(0, 1fr) auto;
    min-height: 0;
    height: 100%;
  }
  .log {
    min-height: 0;
    overflow: hidden;
  }
  .log > * {
    display: block;
    height: 100%;
  }
  .foot {
    position: relative;
    width: 100%;
    max-width: 760px;
    margin: 0 auto;
    padding: 0 20px 12px;
  }
  /* What scrolls away under the box fades. */
  .foot::before {
    content: "";
    position: absolute;
    inset: -24px 0 auto;
    height: 24px;
    background: linear-gradient(transparent, var(--paper));
    pointer-events: none;
  }
  .waits:not(:empty) {
    margin: 0 10px 6px;
    font-size: var(--type-small);
  }
  dialog.drawer {
    width: min(320px, 88vw);
    height: 100dvh;
    max-height: none;
    margin: 0;
    padding: 0;
    color: var(--ink);
    background: var(--sunken);
    border: 0;
    box-shadow: var(--shadow-high);
  }
  dialog.drawer[open] {
    display: grid;
    grid-template-rows: minmax(0, 1fr) auto;
  }
  dialog.drawer::backdrop {
    background: var(--veil);
  }
  /* Beside the canvas the list would leave too little space. */
  @media (max-width: 1500px) {
    .frame:has(oc-canvas-panel[open]) {
      grid-template-columns: minmax(0, 1fr) auto;
    }
    .frame:has(oc-canvas-panel[open]) aside {
      display: none;
    }
  }
  @media (max-width: 720px) {
    .foot {
      padding: 0 8px 8px;
    }
    oc-thinking-picker {
      display: none;
    }
  }
`;
