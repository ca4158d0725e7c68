import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { live } from "lit/directives/live.js";
import { sheet } from "../../look/sheet.ts";
import { isFields } from "./model/path.ts";
import { isReference, secretState, type SecretState } from "./model/secrets.ts";
import { t } from "../../words/words.ts";

const WORDS: Readonly<Record<SecretState, string>> = {
  unset: t("Not set"),
  set: t("Set"),
  new: t("New, not saved yet"),
  env: t("From environment"),
  file: t("From a file"),
  exec: t("From a command"),
};

/** A secret: how it stands with it, and a place for a new one. What it is now is never here. Says `put` {value}. */
export class SecretInput extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      .row {
        flex-wrap: wrap;
      }
      input:not([type="checkbox"]) {
        flex: 1;
        min-width: 180px;
      }
    `,
  ];
  @property({ attribute: false }) value: unknown;
  /** What the file has. */
  @property({ attribute: false }) base: unknown;
  @property() label = "";
  /** What one looks like. */
  @property({ attribute: false }) hint: string | undefined;
  @property({ type: Boolean }) readonly = false;
  @state() private typed = "";

  private put(value: unknown): void {
    this.dispatchEvent(new CustomEvent("put", { detail: { value } }));
  }

  private type(event: InputEvent): void {
    this.typed = (event.target as HTMLInputElement).value;
    this.put(this.typed === "" ? this.base : this.typed);
  }

  private back(): void {
    this.typed = "";
    this.put(this.base);
  }

  /** Saved, or taken back elsewhere: what was typed is no more. */
  protected override willUpdate(): void {
    if ((typeof this.value !== "string" && typeof this.value !== "number") || String(this.value) !== this.typed) this.typed = "";
  }

  protected override render(): TemplateResult {
    const stands = secretState(this.value);
    const isNew = stands === "new";
    const from = isFields(this.value) ? [this.value["id"], this.value["path"], this.value["command"]].find((part) => typeof part === "string") : this.value;
    const source = isReference(stands) ? String(from) : undefined;
    return html`<div class="row">
      <span class="badge ${isNew ? "warn" : stands === "unset" ? "" : "good"}" aria-live="polite">${WORDS[stands]}</span>
      ${source === undefined ? nothing : html`<code class="cut">${source}</code>`}
      <input
        type="password"
        autocomplete="new-password"
        spellcheck="false"
        aria-label=${t`New value for ${this.label}`}
        placeholder=${stands === "unset" ? (this.hint ?? t("Enter a value, or ${NAME} for an environment variable")) : t("New value")}
        ?readonly=${this.readonly}
        .value=${live(this.typed)}
        @input=${this.type}
      />
      ${isNew ? html`<button class="small" @click=${this.back}>${t("Undo")}</button>` : nothing}
    </div>`;
  }
}
customElements.define("oc-config-secret", SecretInput);
