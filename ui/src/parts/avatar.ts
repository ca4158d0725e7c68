import { css, html, LitElement, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { sheet } from "../look/sheet.ts";
import { pictureOf, signOf, type Looks } from "./avatar-facts.ts";

/** The picture of an agent, or a sign in its place. Its name stands beside it. */
export class AgentAvatar extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: inline-grid;
        place-items: center;
        flex: none;
        width: var(--avatar, 34px);
        height: var(--avatar, 34px);
        overflow: hidden;
        border-radius: 50%;
        background: var(--sunken);
        color: var(--ink-soft);
        font-size: calc(var(--avatar, 34px) * 0.42);
        font-weight: 600;
        line-height: 1;
      }
      img {
        width: 100%;
        height: 100%;
        object-fit: cover;
      }
    `,
  ];
  @property({ attribute: false }) looks!: Looks;
  /** The picture that could not be shown. */
  @state() private failed: string | undefined;

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("looks")) this.setAttribute("aria-hidden", "true");
  }

  protected override render(): TemplateResult {
    const source = pictureOf(this.looks);
    if (source === undefined || source === this.failed) return html`<span>${signOf(this.looks)}</span>`;
    return html`<img src=${source} alt="" @error=${() => (this.failed = source)} />`;
  }
}
customElements.define("oc-avatar", AgentAvatar);
