import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { fieldLook } from "./field-look.ts";
import { tellEdit, type Form } from "./form.ts";
import { hintFor } from "./model/hints.ts";
import { valueAt, type ValuePath } from "./model/path.ts";
import { emptyOf, shapeOf, type SchemaNode } from "./model/shape.ts";
import { t } from "../../words/words.ts";

/** The entries of a list, each with its field. */
export class ListInput extends LitElement {
  static override styles = [sheet, fieldLook];
  @property({ attribute: false }) form!: Form;
  @property({ attribute: false }) path!: ValuePath;
  @property({ attribute: false }) item!: SchemaNode;

  private get items(): readonly unknown[] {
    const value = valueAt(this.form.value, this.path);
    return Array.isArray(value) ? value : [];
  }

  private set(items: readonly unknown[]): void {
    tellEdit(this, { do: "set", path: this.path, value: items });
  }

  private move(at: number, by: number): void {
    const items = [...this.items];
    [items[at], items[at + by]] = [items[at + by], items[at]];
    this.set(items);
  }

  private row(at: number, simple: boolean): TemplateResult {
    const { form, items } = this;
    return html`<li class="item">
      <oc-config-field .form=${form} .path=${[...this.path, at]} .schema=${this.item} ?bare=${simple} required></oc-config-field>
      ${
        form.readonly
          ? nothing
          : html`${at > 0 ? html`<button class="plain small" aria-label=${t`Move entry ${at + 1} up`} @click=${() => this.move(at, -1)}>${icon("up", 15)}</button>` : nothing}
              <button class="plain small" aria-label=${t`Remove entry ${at + 1}`} @click=${() => this.set(items.filter((_, index) => index !== at))}>
                ${icon("trash", 15)}
              </button>`
      }
    </li>`;
  }

  protected override render(): TemplateResult {
    const { form, items } = this;
    const shape = shapeOf(this.item, form.root);
    const template: unknown = hintFor(form.hints, this.path)?.itemTemplate;
    const next = (): unknown => (template === undefined ? emptyOf(shape, form.root) : structuredClone(template));
    const simple = shape.kind !== "object" && shape.kind !== "list";
    return html`${items.length === 0 ? html`<p class="faint">${t("No entries")}</p>` : nothing}
      <ul class="rows plain-list">
        ${items.map((_, at) => this.row(at, simple))}
      </ul>
      ${
        form.readonly
          ? nothing
          : html`<div class="add">
              <button class="small" @click=${() => this.set([...items, next()])}>${icon("plus", 15)} ${t("Add an entry")}</button>
            </div>`
      }`;
  }
}
customElements.define("oc-config-list", ListInput);
