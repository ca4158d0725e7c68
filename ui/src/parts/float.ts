import { css } from "lit";

const GAP_PX = 6;
const EDGE_PX = 8;

/** For `static styles` of elements that float a panel: it is `popover="manual"` with the class `float`. */
export const floatLook = css`
  .float {
    position: fixed;
    inset: auto;
    margin: 0;
    padding: 5px;
    max-width: min(420px, calc(100vw - 16px));
    overflow: hidden auto;
    overscroll-behavior: contain;
    color: var(--ink);
    background: var(--raised);
    border: 0;
    border-radius: var(--radius);
    box-shadow: var(--shadow);
    scrollbar-width: thin;
    scrollbar-color: var(--line-strong) transparent;
  }
  .float::backdrop {
    background: none;
    pointer-events: none;
  }
  @media (max-width: 760px) {
    .float.sheet {
      inset: auto 0 0 !important;
      width: 100vw;
      max-width: none;
      max-height: 70dvh !important;
      padding: 12px 12px calc(16px + env(safe-area-inset-bottom));
      border-radius: var(--radius-panel) var(--radius-panel) 0 0;
      box-shadow: var(--shadow-high);
    }
    .float.sheet::backdrop {
      background: var(--veil);
    }
  }
  @media (prefers-contrast: more) {
    .float {
      border: 1px solid var(--line-strong);
    }
  }
`;

interface FloatOptions {
  /** Which edge of the anchor the panel keeps to. */
  readonly side?: "start" | "end";
  /** At least as wide as the anchor. */
  readonly wide?: boolean;
  /** Called for a press outside of both. */
  readonly outside: () => void;
}

/** Shows a panel in the top layer below its anchor, or above it where there is more space. The end hides it. */
export function float(panel: HTMLElement, anchor: HTMLElement, { side = "start", wide = false, outside }: FloatOptions): Disposable {
  const put = (): void => {
    const box = anchor.getBoundingClientRect();
    const below = innerHeight - box.bottom - GAP_PX - EDGE_PX;
    const above = box.top - GAP_PX - EDGE_PX;
    const { style } = panel;
    if (wide) style.setProperty("min-width", `${box.width}px`);
    style.removeProperty("max-height");
    const down = panel.offsetHeight <= below || below >= above;
    style.setProperty("max-height", `${Math.max(120, down ? below : above)}px`);
    const left = side === "start" ? box.left : box.right - panel.offsetWidth;
    style.setProperty("left", `${Math.max(EDGE_PX, Math.min(left, innerWidth - panel.offsetWidth - EDGE_PX))}px`);
    style.setProperty("top", `${down ? box.bottom + GAP_PX : box.top - GAP_PX - panel.offsetHeight}px`);
  };
  const pressed = (event: Event): void => {
    const path = event.composedPath();
    if (!path.includes(panel) && !path.includes(anchor)) outside();
  };
  const scrolled = (event: Event): void => {
    if (!event.composedPath().includes(panel)) put();
  };
  panel.showPopover();
  put();
  document.addEventListener("pointerdown", pressed, true);
  addEventListener("scroll", scrolled, true);
  addEventListener("resize", put);
  return {
    [Symbol.dispose]() {
      document.removeEventListener("pointerdown", pressed, true);
      removeEventListener("scroll", scrolled, true);
      removeEventListener("resize", put);
      if (panel.matches(":popover-open")) panel.hidePopover();
    },
  };
}
