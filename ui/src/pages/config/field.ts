import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { copyText } from "../../base/copy-text.ts";
import { plural } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/select.ts";
import { fieldLook } from "./field-look.ts";
import { tellEdit, type Form } from "./form.ts";
import type { Issue } from "./issues.ts";
import { describeKey, type KeyDescription } from "./model/hints.ts";
import { same } from "./model/operations.ts";
import { dottedPath, formatPath, isFields, isWithin, valueAt, type ValuePath } from "./model/path.ts";
import { emptyOf, fits, shapeOf, type SchemaNode, type Shape } from "./model/shape.ts";
import "./list-input.ts";
import "./object-input.ts";
import "./scalar-input.ts";
import "./secret-input.ts";
import { t } from "../../words/words.ts";

/** A number as it was typed; anything else stays text, and is reported as wrong. */
const asNumber = (text: unknown): unknown => (typeof text === "string" && /^-?\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : text);

/** A key of the configuration: its name, its control, what it means and what is wrong with it. */
export class ConfigField extends LitElement {
  static override styles = [sheet, fieldLook];
  @property({ attribute: false }) form!: Form;
  @property({ attribute: false }) path!: ValuePath;
  @property({ attribute: false }) schema!: SchemaNode;
  @property({ type: Boolean }) required = false;
  /** Without its name: the one of what it stands in is enough. */
  @property({ type: Boolean, reflect: true }) bare = false;
  /** What is inside is shown without being asked for. */
  @property({ type: Boolean }) unfold = false;
  @state() private unfolded = false;
  @state() private sought = false;
  @state() private kind: number | undefined;

  protected override willUpdate(changed: PropertyValues<this>): void {
    const elsewhere = changed.has("path") && !same(changed.get("path"), this.path);
    if (elsewhere) {
      this.unfolded = this.unfold;
      this.kind = undefined;
    }
    const { target } = this.form;
    if (!changed.has("form") || changed.get("form")?.target === target) return;
    this.sought = target !== undefined && same(target.path, this.path);
    if (target && isWithin(dottedPath(target.path), this.path)) this.unfolded = true;
  }

  protected override updated(changed: PropertyValues<this>): void {
    const { target } = this.form;
    if (!target || !this.sought || !changed.has("form") || changed.get("form")?.target === target) return;
    this.renderRoot.querySelector(".sought")?.scrollIntoView({ block: "center" });
  }

  private get value(): unknown {
    return valueAt(this.form.value, this.path);
  }

  private get own(): readonly Issue[] {
    const name = dottedPath(this.path);
    return this.form.issues.filter(({ path }) => path === name);
  }

  private unset(): void {
    tellEdit(this, { do: "unset", path: this.path });
  }

  private async copy(): Promise<void> {
    const text = await copyText(formatPath(this.path)).then(
      () => t("Path copied"),
      (error: unknown) => failureText(error),
    );
    this.dispatchEvent(new CustomEvent("notice", { detail: { text }, bubbles: true, composed: true }));
  }

  private pathButton(): TemplateResult {
    const path = formatPath(this.path);
    return html`<button class="path" title=${t`Copy ${path}`} aria-label=${t`Copy path ${path}`} @click=${this.copy}>${path}</button>`;
  }

  private reset(about: KeyDescription): TemplateResult | typeof nothing {
    if (this.value === undefined || this.form.readonly) return nothing;
    const word = this.required ? t("Remove") : t("Reset to default");
    return html`<button class="plain small" title=${word} aria-label="${word}: ${about.label}" @click=${this.unset}>${icon("retry", 15)}</button>`;
  }

  private issues(): TemplateResult[] {
    return this.own.map(
      ({ message, fix, bad }) =>
        html`<p class="issue ${bad ? "" : "doubtful"}" role=${bad ? "alert" : "note"}>${message}${fix === undefined ? "" : ` ${fix}`}</p>`,
    );
  }

  private help(about: KeyDescription): TemplateResult | typeof nothing {
    return about.help === undefined || this.bare ? nothing : html`<p class="help" id="help">${about.help}</p>`;
  }

  private simple(about: KeyDescription, control: TemplateResult): TemplateResult {
    const wrong = this.own.some(({ bad }) => bad);
    return html`<div class="field ${wrong ? "wrong" : ""} ${this.sought ? "sought" : ""}">
      ${
        this.bare
          ? nothing
          : html`<div class="head">
              <span class="name">${about.label}</span>
              ${this.required ? html`<span class="badge">${t("Required")}</span>` : nothing}
              ${this.value === undefined || about.secret ? nothing : html`<span class="badge info">${t("Set")}</span>`} ${this.pathButton()}
            </div>`
      }
      <div class="control">${control}${this.bare ? nothing : this.reset(about)}</div>
      ${this.help(about)}${this.issues()}
    </div>`;
  }

  /** Folded: what is inside is drawn when it is opened. */
  private nested(about: KeyDescription, content: () => TemplateResult, count: string): TemplateResult {
    const open = this.unfolded || this.form.onlySet;
    const below = this.form.issues.filter(({ path, bad }) => bad && isWithin(path, this.path)).length;
    if (this.bare) return html`<div class="rows">${content()}${this.issues()}</div>`;
    return html`<details
      class="nested ${this.sought ? "sought" : ""}"
      ?open=${open}
      @toggle=${(event: Event) => (this.unfolded = (event.target as HTMLDetailsElement).open)}
    >
      <summary>
        <span class="name">${about.label}</span>
        ${below > 0 ? html`<span class="badge bad">${plural(below, t("problem"), t("problems"))}</span>` : nothing}
        <span class="faint grow cut">${count === "" ? (open ? "" : (about.help ?? "")) : count}</span>
      </summary>
      ${
        open
          ? html`<div class="inside">
              <div class="head">${this.help(about)}${this.pathButton()}${this.reset(about)}</div>
              ${this.issues()}${content()}
            </div>`
          : nothing
      }
    </details>`;
  }

  private scalar(shape: Shape, about: KeyDescription): TemplateResult {
    const fallback = valueAt(this.form.used, this.path) ?? this.schema["default"];
    return html`<oc-config-scalar
      .shape=${shape}
      .value=${this.value}
      .fallback=${fallback}
      .label=${about.label}
      .hint=${about.placeholder}
      .required=${this.required}
      ?readonly=${this.form.readonly}
      @put=${(event: CustomEvent<{ value: unknown }>) =>
        event.detail.value === undefined ? this.unset() : tellEdit(this, { do: "set", path: this.path, value: event.detail.value })}
    ></oc-config-scalar>`;
  }

  /** The kinds a value may be of, and a field for the one it is of. */
  private union(shape: Extract<Shape, { kind: "union" }>, about: KeyDescription): TemplateResult {
    const { root } = this.form;
    const holds = shape.branches.findIndex(({ schema }) => this.value !== undefined && fits(this.value, shapeOf(schema, root), root));
    const at = this.kind ?? Math.max(0, holds);
    const branch = shape.branches[at]!;
    const choose = ({ detail }: CustomEvent<string>): void => {
      this.kind = Number(detail);
      const next = shapeOf(shape.branches[this.kind]!.schema, root);
      if (this.value !== undefined && !fits(this.value, next, root)) tellEdit(this, { do: "set", path: this.path, value: emptyOf(next, root) });
    };
    const inner = shapeOf(branch.schema, root);
    const chooser = html`<oc-select
      label=${t`Type of ${about.label}`}
      ?disabled=${this.form.readonly}
      .value=${String(at)}
      .options=${shape.branches.map(({ label }, index) => ({ value: String(index), label }))}
      @choose=${choose}
    ></oc-select>`;
    const flat = inner.kind !== "object" && inner.kind !== "list" && inner.kind !== "union";
    if (flat) return this.simple(about, html`<div class="rows">${chooser}${this.scalar(inner, about)}</div>`);
    return this.nested(about, () => html`<div class="rows">${chooser}${this.container(inner)}</div>`, this.counted());
  }

  private container(shape: Shape): TemplateResult {
    if (shape.kind === "list") return html`<oc-config-list .form=${this.form} .path=${this.path} .item=${shape.item}></oc-config-list>`;
    if (shape.kind === "object")
      return html`<oc-config-object .form=${this.form} .path=${this.path} .shape=${shape} ?top=${this.bare || this.unfold}></oc-config-object>`;
    return this.scalar(shape, { label: "", advanced: false, secret: false });
  }

  private counted(): string {
    const { value } = this;
    if (Array.isArray(value)) return plural(value.length, t("entry"), t("entries"));
    if (isFields(value)) return t`${Object.keys(value).length} set`;
    return "";
  }

  protected override render(): TemplateResult | typeof nothing {
    const { form, path, schema, value } = this;
    if (form.onlySet && value === undefined) return nothing;
    const about = describeKey(form.hints, path, schema);
    const found = shapeOf(schema, form.root);
    // Of a list or a group each part is a secret of its own.
    if (about.secret && found.kind !== "list" && found.kind !== "object") {
      const put = (text: unknown): void => tellEdit(this, { do: "set", path, value: found.kind === "number" ? asNumber(text) : text });
      const control = html`<oc-config-secret
        .value=${value}
        .base=${valueAt(form.base, path)}
        .label=${about.label}
        .hint=${about.placeholder}
        ?readonly=${form.readonly}
        @put=${(event: CustomEvent<{ value: unknown }>) => (event.detail.value === undefined ? this.unset() : put(event.detail.value))}
      ></oc-config-secret>`;
      return this.simple(about, control);
    }
    const members = found.kind === "any" && isFields(value) ? { kind: "object" as const, members: [], others: {} } : found;
    const shape: Shape = value === undefined || fits(value, members, form.root) ? members : { kind: "any" };
    if (shape.kind === "union") return this.union(shape, about);
    if (shape.kind === "list" || shape.kind === "object") return this.nested(about, () => this.container(shape), this.counted());
    return this.simple(about, this.scalar(shape, about));
  }
}
customElements.define("oc-config-field", ConfigField);
