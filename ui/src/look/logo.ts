import { svg, type SVGTemplateResult } from "lit";

/** The mark of OpenClaw, as in `icon.svg`. Drawn by the page itself, so that it is there while the gateway is away. Without a `label` it is decoration. */
export const logo = (size: number, label = ""): SVGTemplateResult =>
  svg`<svg class="logo" width=${size} height=${size} viewBox="0 0 32 32" role="img" aria-label=${label} aria-hidden=${label === ""} focusable="false"><rect width="32" height="32" rx="8" fill="#e4512f"/><path d="M9 22c-2-6 0-12 5-15 0 3 1 5 2 6 1-1 2-3 2-6 5 3 7 9 5 15-2 2-4 3-7 3s-5-1-7-3Z" fill="#fff"/></svg>`;
