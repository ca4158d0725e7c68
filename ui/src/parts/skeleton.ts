import { css, html, type TemplateResult } from "lit";
import { t } from "../words/words.ts";

/** For `static styles` of elements that use `skeleton`. It is not seen in the first 300 ms: a fast answer does not flicker. */
export const skeletonLook = css`
  .skeleton {
    display: grid;
    gap: 14px;
    padding: 12px 0;
    animation: appear 0s 300ms both;
  }
  .skeleton i {
    display: block;
    height: 12px;
    border-radius: 6px;
    background: linear-gradient(90deg, var(--fill) 25%, var(--fill-strong) 50%, var(--fill) 75%) 0 0 / 300% 100%;
    animation: shimmer 1.6s linear infinite;
  }
  .skeleton i:nth-of-type(3n + 1) {
    width: 42%;
  }
  .skeleton i:nth-of-type(3n) {
    width: 76%;
  }
  .skeleton.table i {
    width: auto;
    height: 16px;
    margin: 8px 0;
  }
  @keyframes appear {
    from {
      visibility: hidden;
    }
    to {
      visibility: visible;
    }
  }
  @keyframes shimmer {
    from {
      background-position: 100% 0;
    }
    to {
      background-position: -50% 0;
    }
  }
`;

/** The shape of what is being fetched: rows of a table, or lines of text. */
export const skeleton = (lines = 5, kind: "table" | "text" = "table"): TemplateResult =>
  html`<div class="skeleton ${kind}" role="status">
    <span class="visually-hidden">${t("Loading…")}</span>${Array.from({ length: lines }, () => html`<i></i>`)}
  </div>`;
