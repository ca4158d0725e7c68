import { css, html, LitElement, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";

/** A formula. What reads TeX is loaded with the first one; until then, and where it cannot be read, its source is shown. */
export class ProseMath extends LitElement {
  static override styles = css`
    :host {
      display: inline;
    }
    :host([display]) {
      display: block;
      margin: 0 0 12px;
      padding: 4px 0;
      overflow-x: auto;
      overflow-y: hidden;
      text-align: center;
    }
    math {
      font-size: 1.1em;
    }
    :host([display]) math {
      display: block math;
    }
    code {
      font-family: var(--mono);
      font-size: 0.88em;
      overflow-wrap: anywhere;
    }
  `;
  @property() source = "";
  @property({ type: Boolean, reflect: true }) display = false;
  @state() private drawn: Element | undefined;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("source") || changed.has("display")) void this.draw();
  }

  private async draw(): Promise<void> {
    const { source, display } = this;
    const drawn = await import("./math-tree.ts").then(({ formulaOf }) => formulaOf(source, display)).catch(() => undefined);
    if (source === this.source) this.drawn = drawn;
  }

  protected override render(): TemplateResult {
    return html`${this.drawn ?? html`<code dir="ltr">${this.source}</code>`}`;
  }
}
customElements.define("oc-math", ProseMath);
