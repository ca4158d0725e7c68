import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { sheet } from "../look/sheet.ts";
import { float, floatLook } from "./float.ts";

const REST_MS = 400;

/** Words about the control inside: on hover after a moment, on focus at once. The control is described by them. */
export class Tip extends LitElement {
  static override styles = [
    sheet,
    floatLook,
    css`
      :host {
        display: inline-flex;
        min-width: 0;
      }
      .float {
        max-width: min(280px, calc(100vw - 16px));
        padding: 5px 9px;
        font-size: var(--type-small);
        line-height: 16px;
        pointer-events: none;
      }
    `,
  ];
  @property() text = "";
  @state() private shown = false;
  @query(".float") private panel!: HTMLElement | null;
  private floating: Disposable | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.addEventListener("pointerenter", this.later);
    this.addEventListener("pointerleave", this.hide);
    this.addEventListener("focusin", this.focused);
    this.addEventListener("focusout", this.hide);
    this.addEventListener("keydown", this.key);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.hide();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("text")) this.firstElementChild?.toggleAttribute("aria-description", false);
    if (changed.has("text") && this.text !== "") this.firstElementChild?.setAttribute("aria-description", this.text);
    if (this.shown && !this.floating && this.panel) this.floating = float(this.panel, this, { outside: this.hide });
  }

  private readonly later = (event: PointerEvent): void => {
    if (event.pointerType === "touch") return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.shown = this.text !== ""), REST_MS);
  };

  private readonly focused = (): void => {
    if (this.querySelector(":focus-visible")) this.shown = this.text !== "";
  };

  private readonly hide = (): void => {
    clearTimeout(this.timer);
    this.floating?.[Symbol.dispose]();
    this.floating = undefined;
    this.shown = false;
  };

  private readonly key = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !this.shown) return;
    event.stopPropagation();
    this.hide();
  };

  protected override render(): TemplateResult {
    return html`<slot></slot>${this.shown ? html`<div class="float" popover="manual" role="tooltip">${this.text}</div>` : nothing}`;
  }
}
customElements.define("oc-tip", Tip);
