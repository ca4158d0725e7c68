import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { duration, exactly } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { place } from "../../shell/router.ts";
import { askedOf, attemptText, factsOf, gaveOf, restOf, waitsFor, type Gave } from "./step-facts.ts";
import { stepPanelLook } from "./step-panel-look.ts";
import type { TraceRow } from "./story-rows.ts";
import { valueTree } from "./value-tree.ts";
import { locale, t } from "../../words/words.ts";

const fact = (name: string, value: string, title = ""): TemplateResult =>
  html`<dt>${name}</dt>
    <dd title=${title}>${value}</dd>`;

/** Everything known of a step. Says `close`, `copy`, `zoom`, and `whole` with the position of a result that is wanted whole. */
export class StepPanel extends LitElement {
  static override styles = [sheet, stepPanelLook];
  @property({ attribute: false }) row!: TraceRow;
  /** All that the tool gave, once it was asked for. */
  @property({ attribute: false }) whole: string | undefined;

  private say(name: string, detail?: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  protected override render(): TemplateResult {
    const { row } = this;
    const { step, point, open } = row;
    const rest = restOf(step);
    return html`<section class="card" aria-label=${t`Step: ${row.name}`}>
      <div class="row">
        <h2 class="grow">${row.name}</h2>
        ${row.bad ? html`<span class="badge bad">${t("Failed")}</span>` : open ? html`<span class="badge info">${t("Running")}</span>` : nothing}
        <button class="plain small icon" aria-label=${t("Close")} @click=${() => this.say("close")}>${icon("close", 16)}</button>
      </div>
      <p class="text">${row.text}</p>
      ${this.facts()}${this.attempts()}${this.queue()}${this.asked()}${this.gave()}
      ${
        Object.keys(rest).length === 0
          ? nothing
          : html`<h3>${t("Details")}</h3>
              ${valueTree(rest)}`
      }
      <div class="row wrap acts">
        <button class="small" @click=${() => this.say("copy")}>${icon("copy", 14)} ${t("Copy as JSON")}</button>
        ${point ? nothing : html`<button class="small" @click=${() => this.say("zoom")}>${icon("search", 14)} ${t("Zoom to step")}</button>`}
      </div>
    </section>`;
  }

  private facts(): TemplateResult {
    const { step, start, end, first, point, open } = this.row;
    return html`<dl>
      ${fact(t("Started"), t`${new Date(step.at).toLocaleTimeString(locale)}, after ${duration(start)}`, exactly(step.at))}
      ${point ? nothing : fact(t("Duration"), `${duration(end - start)}${open ? t(" so far") : ""}`)}
      ${first === undefined ? nothing : fact(step.kind === "delivery" ? t("Last attempt") : t("First token"), t`after ${duration(first - start)}`)}
      ${factsOf(step).map(([name, value]) => fact(name, value))}
    </dl>`;
  }

  private attempts(): TemplateResult | typeof nothing {
    const failed = this.row.parts.filter(({ kind }) => kind === "attempt");
    if (failed.length === 0) return nothing;
    return html`<h3>${t("Failed attempts")}</h3>
      <ol class="attempts">
        ${failed.map(attemptText).map(({ who, what }) => html`<li><span class="mono">${who}</span><br />${what}</li>`)}
      </ol>`;
  }

  private queue(): TemplateResult | typeof nothing {
    const messages = waitsFor(this.row.step);
    if (messages.length === 0) return nothing;
    return html`<h3>${t("Ahead in the queue")}</h3>
      <ul class="queue">
        ${messages.map((name) => html`<li><a href=${place("trace", [name])}>${name}</a></li>`)}
      </ul>`;
  }

  private asked(): TemplateResult | typeof nothing {
    const asked = askedOf(this.row.step);
    if (!asked || asked.text === "{}") return nothing;
    const name = asked.command ? t("Command") : t("Input");
    return html`<h3>${name}</h3>
      <pre tabindex="0" role="region" aria-label=${name}>${asked.text}</pre>`;
  }

  private gave(): TemplateResult | typeof nothing {
    const gave = gaveOf(this.row.step);
    if (!gave) return nothing;
    const text = this.whole ?? gave.text;
    return html`<div class="row came">
        <h3 class="grow">${t("Result")}</h3>
        ${gave.notes.map(({ text: note, isEnd }) => html`<span class="badge ${gave.failed && isEnd ? "bad" : ""}">${note}</span>`)}
      </div>
      ${text.trim() === "" ? html`<p class="soft">${t("No text")}</p>` : html`<pre class=${this.whole === undefined ? "" : "all"} tabindex="0" role="region" aria-label=${t("Result")}>${text}</pre>`}
      ${this.more(gave)}`;
  }

  private more({ cut, chars, seq }: Gave): TemplateResult | typeof nothing {
    if (!cut || this.whole !== undefined) return nothing;
    const all = `${chars.toLocaleString(locale)} characters`;
    return seq === undefined
      ? html`<p class="soft">${t`The full result (${all}) is in an archived conversation.`}</p>`
      : html`<button class="small" @click=${() => this.say("whole", seq)}>${t`Show all (${all})`}</button>`;
  }
}
customElements.define("oc-step-panel", StepPanel);
