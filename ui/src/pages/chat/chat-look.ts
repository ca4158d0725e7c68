import { css } from "lit";

/** How the frame of the chat lies on the page. */
export const chatLook = css`
  .frame {
    display: grid;
    grid-template-columns: 272px minmax(0, 1fr) auto;
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
    width: 100%;
    max-width: 860px;
    margin: 0 auto;
    padding: 6px 16px 10px;
  }
  .waits {
    margin: 0 10px 6px;
    font-size: 13px;
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
      padding: 4px 8px 6px;
    }
  }
`;
