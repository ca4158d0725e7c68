import { css, html, nothing, type TemplateResult } from "lit";
import { icon, type IconName } from "../look/icons.ts";

/** For `static styles` of elements that use `emptyState`. */
export const emptyLook = css`
  .empty-state {
    display: grid;
    justify-items: center;
    gap: 6px;
    padding: 40px 24px;
    text-align: center;
    font-size: var(--type-ui);
    color: var(--ink-soft);
  }
  .empty-state > svg {
    color: var(--ink-faint);
  }
  .empty-state strong {
    color: var(--ink);
    font-weight: 600;
  }
  .empty-state p {
    max-width: 52ch;
  }
  .empty-state .act {
    margin-top: 8px;
  }
`;

interface Empty {
  readonly icon: IconName;
  /** The fact: "No jobs yet". */
  readonly title: string;
  /** One sentence about what would be here. */
  readonly text?: string | TemplateResult | undefined;
  /** One button or link. */
  readonly action?: TemplateResult | typeof nothing | undefined;
}

/** Said where a list has nothing in it. */
export const emptyState = ({ icon: name, title, text, action }: Empty): TemplateResult =>
  html`<div class="empty-state">
    ${icon(name, 22)}<strong>${title}</strong>${text === undefined ? nothing : html`<p>${text}</p>`}
    ${action === undefined || action === nothing ? nothing : html`<div class="act">${action}</div>`}
  </div>`;
