import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { live } from "lit/directives/live.js";
import { sheet } from "../../look/sheet.ts";
import "../../parts/select.ts";
import { readJson5 } from "./model/json5.ts";
import type { Scalar, Shape } from "./model/shape.ts";
import { t } from "../../words/words.ts";

const inWords = (value: unknown): string => (value === true ? t("on") : value === false ? t("off") : typeof value === "string" ? value : JSON.stringify(value));

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A control for a text, a number, a switch, a choice or any JSON5. Says `put` {value}; undefined means the default. */
export class ScalarInput extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      textarea {
        min-height: 76px;
        font-family: var(--mono);
        font-size: var(--type-ui);
      }
      .wrong {
        color: var(--bad);
        font-size: var(--type-ui);
      }
    `,
  ];
  @property({ attribute: false }) shape!: Shape;
  @property({ attribute: false }) value: unknown;
  /** What holds when nothing is set. */
  @property({ attribute: false }) fallback: unknown;
  @property() label = "";
  @property() hint: string | undefined;
  @property({ type: Boolean }) required = false;
  @property({ type: Boolean }) readonly = false;
  /** While it is typed: a number in the making is no number. */
  @state() private typed: string | undefined;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("shape") && changed.get("shape")?.kind !== this.shape.kind) this.typed = undefined;
  }

  private put(value: unknown): void {
    this.dispatchEvent(new CustomEvent("put", { detail: { value } }));
  }

  private get placeholder(): string {
    if (this.hint !== undefined) return this.hint;
    return this.fallback === undefined || typeof this.fallback === "object" ? "" : t`Default: ${inWords(this.fallback)}`;
  }

  private get problem(): string | undefined {
    const { typed, shape } = this;
    if (typed === undefined || typed === "") return undefined;
    if (shape.kind === "number" && !NUMBER.test(typed)) return t("Enter a number");
    if (shape.kind === "any" && !readJson5(typed)) return t("Not valid JSON5");
    return undefined;
  }

  private type(event: InputEvent): void {
    const text = (event.target as HTMLInputElement).value;
    this.typed = text;
    if (text === "") this.put(undefined);
    else if (this.shape.kind === "text") this.put(text);
    else if (this.shape.kind === "number" && NUMBER.test(text)) this.put(Number(text));
    else if (this.shape.kind === "any") {
      const read = readJson5(text);
      if (read) this.put(read.value);
    }
  }

  private bounds(): string {
    const { shape } = this;
    if (shape.kind !== "number") return "";
    const { min, max, above } = shape;
    if (min !== undefined && max !== undefined) return t`${min} to ${max}`;
    if (min !== undefined) return t`${min} or more`;
    if (above !== undefined) return t`more than ${above}`;
    return max === undefined ? "" : t`${max} or less`;
  }

  private choice(values: readonly Scalar[]): TemplateResult {
    const at = values.indexOf(this.value as Scalar);
    const unset = this.fallback === undefined ? t("Not set") : t`Default (${inWords(this.fallback)})`;
    const pick = ({ detail }: CustomEvent<string>): void => this.put(detail === "" ? undefined : values[Number(detail)]);
    const named = values.map((value, index) => ({ value: String(index), label: value === true ? t("On") : value === false ? t("Off") : String(value) }));
    return html`<oc-select
      block
      label=${this.label}
      ?disabled=${this.readonly}
      .value=${live(at < 0 ? "" : String(at))}
      .options=${this.required && at >= 0 ? named : [{ value: "", label: unset }, ...named]}
      @choose=${pick}
    ></oc-select>`;
  }

  protected override render(): TemplateResult {
    const { shape, problem } = this;
    if (shape.kind === "choice") return this.choice(shape.values);
    if (shape.kind === "switch") return this.choice([true, false]);
    const wrong = problem === undefined ? nothing : html`<p class="wrong">${problem}</p>`;
    const shown =
      this.typed ??
      (this.value === undefined ? "" : typeof this.value === "string" && shape.kind !== "any" ? this.value : JSON.stringify(this.value, undefined, 2));
    const leave = (): void => {
      this.typed = undefined;
    };
    if (shape.kind === "any") {
      return html`<textarea
          aria-label=${t`${this.label} as JSON`}
          spellcheck="false"
          ?readonly=${this.readonly}
          placeholder=${t("JSON5")}
          .value=${live(shown)}
          @input=${this.type}
          @blur=${leave}
        ></textarea
        >${wrong}`;
    }
    const [maxLength, bounds] = [shape.kind === "text" ? shape.maxLength : undefined, this.bounds()];
    return html`<input
        type="text"
        inputmode=${shape.kind === "number" ? (shape.whole ? "numeric" : "decimal") : "text"}
        aria-label=${this.label}
        aria-invalid=${problem === undefined ? "false" : "true"}
        maxlength=${maxLength ?? nothing}
        title=${bounds === "" ? nothing : bounds}
        spellcheck="false"
        autocomplete="off"
        ?readonly=${this.readonly}
        placeholder=${[this.placeholder, bounds].filter(Boolean).join(", ")}
        .value=${live(shown)}
        @input=${this.type}
        @blur=${leave}
      />${wrong}`;
  }
}
customElements.define("oc-config-scalar", ScalarInput);
