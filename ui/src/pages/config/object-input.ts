import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { plural } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { fieldLook } from "./field-look.ts";
import { tellEdit, type Form } from "./form.ts";
import { hintFor, inOrder, describeKey } from "./model/hints.ts";
import { dottedPath, isFields, isWithin, valueAt, type ValuePath } from "./model/path.ts";
import { emptyOf, resolved, shapeOf, type Member, type SchemaNode, type Shape } from "./model/shape.ts";
import { t } from "../../words/words.ts";

const KIND_OF: Readonly<Record<string, string>> = { string: "string", number: "number", boolean: "boolean" };

const MOST_UNFOLDED = 2;

/** A schema for a value that nobody described. */
const guessed = (value: unknown): SchemaNode => {
  const type = KIND_OF[typeof value];
  return type === undefined ? {} : { type };
};

/** The keys of an object: those it has a place for, and those that it may have besides. */
export class ObjectInput extends LitElement {
  static override styles = [sheet, fieldLook];
  @property({ attribute: false }) form!: Form;
  @property({ attribute: false }) path!: ValuePath;
  @property({ attribute: false }) shape!: Extract<Shape, { kind: "object" }>;
  /** The whole of a section: with one or two groups in it, they are shown at once. */
  @property({ type: Boolean }) top = false;
  @state() private name = "";
  @state() private more = false;

  private field({ key, schema, required }: Member, unfold = false): TemplateResult {
    const path = [...this.path, key];
    return html`<oc-config-field .form=${this.form} .path=${path} .schema=${schema} ?required=${required} ?unfold=${unfold}></oc-config-field>`;
  }

  private isGroup({ schema }: Member): boolean {
    const { kind } = shapeOf(schema, this.form.root);
    return kind === "object" || kind === "list";
  }

  /** Keys that are in the text and that the schema does not list. */
  private get others(): Member[] {
    const value = valueAt(this.form.value, this.path);
    const known = new Set(this.shape.members.map(({ key }) => key));
    const { others } = this.shape;
    if (!isFields(value)) return [];
    return Object.keys(value)
      .filter((key) => !known.has(key))
      .map((key) => {
        const schema = others && Object.keys(others).length > 0 ? resolved(others, this.form.root) : guessed(value[key]);
        return { key, schema, required: false };
      });
  }

  private add(event: Event): void {
    event.preventDefault();
    const key = this.name.trim();
    const { others = {} } = this.shape;
    if (key === "" || valueAt(this.form.value, [...this.path, key]) !== undefined) return;
    this.name = "";
    // What nobody described begins as JSON.
    const value = Object.keys(others).length > 0 ? emptyOf(shapeOf(others, this.form.root), this.form.root) : null;
    tellEdit(this, { do: "set", path: [...this.path, key], value });
  }

  private adding(): TemplateResult | typeof nothing {
    if (!this.shape.others || this.form.readonly) return nothing;
    return html`<form class="add" @submit=${this.add}>
      <input
        type="text"
        aria-label=${t("New entry name")}
        placeholder=${t("Name")}
        autocomplete="off"
        .value=${this.name}
        @input=${(event: InputEvent) => (this.name = (event.target as HTMLInputElement).value)}
      />
      <button class="small" ?disabled=${this.name.trim() === ""}>${icon("plus", 15)} ${t("Add")}</button>
    </form>`;
  }

  protected override render(): TemplateResult {
    const { form, path } = this;
    const set = (key: string): boolean => valueAt(form.value, [...path, key]) !== undefined;
    const members = inOrder(this.shape.members, ({ key }) => hintFor(form.hints, [...path, key])?.order);
    const advanced = members.filter(({ key, schema }) => describeKey(form.hints, [...path, key], schema).advanced && !set(key));
    const usual = members.filter((member) => !advanced.includes(member));
    const { others } = this;
    const unfold = this.top && [...usual, ...others].filter((member) => this.isGroup(member)).length <= MOST_UNFOLDED;
    const sought = form.target !== undefined && advanced.some(({ key }) => isWithin(dottedPath(form.target!.path), [...path, key]));
    return html`${repeat(
      usual,
      ({ key }) => key,
      (member) => this.field(member, unfold),
    )}
    ${repeat(
      others,
      ({ key }) => key,
      (member) => this.field(member, unfold),
    )}
    ${this.adding()}
    ${
      advanced.length === 0 || form.onlySet
        ? nothing
        : html`<details class="more" ?open=${this.more || sought} @toggle=${(event: Event) => (this.more = (event.target as HTMLDetailsElement).open)}>
            <summary>${t`Advanced: ${plural(advanced.length, t("key"), t("keys"))}`}</summary>
            ${
              this.more || sought
                ? repeat(
                    advanced,
                    ({ key }) => key,
                    (member) => this.field(member),
                  )
                : nothing
            }
          </details>`
    }`;
  }
}
customElements.define("oc-config-object", ObjectInput);
