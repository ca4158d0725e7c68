import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { icon, type IconName } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { place } from "../../shell/router.ts";
import type { ChosenModel } from "./pickers-models.ts";
import { t } from "../../words/words.ts";

export type Answering = MethodResult<"overview">["answering"];

/** Things that the built-in model can do: it knows rules, not language. */
const OFFLINE_EXAMPLES = [t("What can you do?"), t('write "buy milk" to todo.md'), t("how do I set a budget?")];
const EXAMPLES = [t("What can you do here?"), t("Look through the workspace and tell me what is in it"), t("Write a short note about today into notes.md")];

const STEPS: readonly { readonly step: string; readonly icon: IconName; readonly title: string; readonly text: string }[] = [
  { step: "key", icon: "key", title: t("Add a key"), text: t("Anthropic, OpenAI, Google and others") },
  { step: "local", icon: "devices", title: t("Use a local model"), text: t("Ollama, LM Studio and others") },
  { step: "channel", icon: "channels", title: t("Connect a channel"), text: t("Chat from your phone") },
];

/** What an empty conversation says: who answers, and what to do first. Says `example` {text}. */
export class Greeting extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
        height: 100%;
        overflow-y: auto;
      }
      .middle {
        min-height: 100%;
        max-width: 720px;
        margin: 0 auto;
        padding: 32px 20px;
        display: flex;
        flex-direction: column;
        justify-content: center;
        gap: 20px;
      }
      h1 {
        font-size: var(--type-figure);
        line-height: 32px;
        letter-spacing: -0.02em;
      }
      .lead {
        margin-top: -10px;
        font-size: var(--type-reading);
        line-height: 23px;
        color: var(--ink-soft);
      }
      .steps,
      .examples {
        list-style: none;
        margin: 0;
        padding: 0;
        display: grid;
        gap: 10px;
      }
      .steps {
        grid-template-columns: repeat(auto-fit, minmax(190px, 1fr));
      }
      .steps a {
        display: grid;
        grid-template-columns: auto 1fr;
        gap: 2px 10px;
        height: 100%;
        padding: 12px 14px;
        color: var(--ink);
        background: var(--raised);
        border: 1px solid var(--line);
        border-radius: var(--radius);
        text-decoration: none;
      }
      .steps a:hover {
        border-color: var(--accent);
      }
      .steps svg {
        grid-row: 1 / 3;
        margin-top: 2px;
        color: var(--accent-text);
      }
      .steps strong {
        font-weight: 600;
        font-size: var(--type-row);
      }
      .steps span {
        color: var(--ink-soft);
        font-size: var(--type-ui);
        line-height: 1.4;
      }
      .examples {
        grid-template-columns: repeat(auto-fit, minmax(200px, 1fr));
      }
      .examples li {
        display: grid;
      }
      .examples button {
        align-items: start;
        justify-content: flex-start;
        min-height: 64px;
        padding: 10px 14px;
        font-size: var(--type-row);
        font-weight: 400;
        line-height: 20px;
        text-align: start;
        border-color: var(--line);
        border-radius: var(--radius);
        box-shadow: none;
      }
      .model {
        font-weight: 500;
        color: var(--ink);
        cursor: help;
      }
    `,
  ];
  @property({ attribute: false }) answering: Answering | undefined;
  /** The model of this conversation, where it is another one. */
  @property({ attribute: false }) chosen: ChosenModel | undefined;
  /** The conversation is a new one beside others. */
  @property({ type: Boolean }) again = false;
  @property({ type: Boolean }) disabled = false;
  /** The name of who answers. */
  @property() agent = "";

  private who(): TemplateResult | typeof nothing {
    const { answering, chosen } = this;
    if (chosen?.hasKey === false) return html`<p class="note warn">${t("No model can answer: no key for")} <span class="mono">${chosen.model}</span></p>`;
    if (chosen) return this.line(chosen.model, t("It was chosen for this conversation."));
    if (!answering) return nothing;
    if (answering.offline) {
      return html`<p class="lead">
        ${t("The built-in offline model answers. It follows rules and is not a language model: it needs no key or network, but understands only simple requests.")}
      </p>`;
    }
    if (answering.model === null) return html`<p class="note warn">${t`No model available: ${answering.why}`}</p>`;
    return this.line(answering.model, answering.why);
  }

  /** Who answers in plain words; why it is that model is for those who point at it. */
  private line(model: string, why: string): TemplateResult {
    const name = model.slice(model.indexOf("/") + 1);
    return html`<p class="lead">
      ${t`${this.agent} answers with`} <span class="model" title="${model}: ${why}">${name}</span>.
      ${this.chosen ? html`<span class="visually-hidden">${model}</span> <span class="faint">${why}</span>` : nothing}
    </p>`;
  }

  protected override render(): TemplateResult {
    const { answering, chosen } = this;
    const weak = chosen ? chosen.hasKey === false : answering !== undefined && (answering.offline || answering.model === null);
    const examples = !chosen && answering?.offline ? OFFLINE_EXAMPLES : EXAMPLES;
    return html`<div class="middle">
      <h1>${this.again ? t("New chat") : t`Hello, this is ${this.agent}`}</h1>
      ${this.who()}
      ${
        weak
          ? html`<section class="stack" aria-label=${t("Next steps")}>
              <h2>${t("Next steps")}</h2>
              <ul class="steps">
                ${STEPS.map(
                  ({ step, icon: name, title, text }) =>
                    html`<li>
                      <a href=${place("start", [], { step })}>${icon(name, 20)}<strong>${title}</strong><span>${text}</span></a>
                    </li>`,
                )}
              </ul>
            </section>`
          : nothing
      }
      <section aria-label=${t("Suggestions")}>
        <ul class="examples">
          ${examples.map(
            (text) =>
              html`<li>
                <button ?disabled=${this.disabled} @click=${() => this.dispatchEvent(new CustomEvent("example", { detail: { text } }))}>
                  <span>${text}</span>
                </button>
              </li>`,
          )}
        </ul>
      </section>
      ${this.again ? nothing : html`<p><a href=${place("start", [], { step: "tour" })}>${t("Take the 60-second tour")}</a></p>`}
    </div>`;
  }
}
customElements.define("oc-greeting", Greeting);
