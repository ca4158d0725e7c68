import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { icon, type IconName } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { place } from "../../shell/router.ts";
import type { ChosenModel } from "./pickers-models.ts";

export type Answering = MethodResult<"overview">["answering"];

/** Things that the built-in model can do: it knows rules, not language. */
const OFFLINE_EXAMPLES = ["What can you do?", 'write "buy milk" to todo.md', "how do I set a budget?"];
const EXAMPLES = ["What can you do here?", "Look through the workspace and tell me what is in it", "Write a short note about today into notes.md"];

const STEPS: readonly { readonly step: string; readonly icon: IconName; readonly title: string; readonly text: string }[] = [
  { step: "key", icon: "key", title: "Add a key", text: "Anthropic, OpenAI, Google and others" },
  { step: "local", icon: "devices", title: "Use a local model", text: "Ollama, LM Studio and the like" },
  { step: "channel", icon: "channels", title: "Connect a channel", text: "Write to it from your phone" },
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
      .lead {
        font-size: 16px;
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
        font-size: 14.5px;
      }
      .steps span {
        color: var(--ink-soft);
        font-size: 13px;
        line-height: 1.4;
      }
      .examples button {
        justify-content: flex-start;
        text-align: start;
        max-width: 100%;
      }
    `,
  ];
  @property({ attribute: false }) answering: Answering | undefined;
  /** The model of this conversation, where it is another one. */
  @property({ attribute: false }) chosen: ChosenModel | undefined;
  /** The conversation is a new one beside others. */
  @property({ type: Boolean }) again = false;
  @property({ type: Boolean }) disabled = false;

  private who(): TemplateResult | typeof nothing {
    const { answering, chosen } = this;
    if (chosen?.hasKey === false) return html`<p class="note warn">No model can answer: there is no key for <span class="mono">${chosen.model}</span></p>`;
    if (chosen)
      return html`<p class="lead"><span class="mono">${chosen.model}</span> answers. <span class="faint">It was chosen for this conversation.</span></p>`;
    if (!answering) return nothing;
    if (answering.offline) {
      return html`<p class="lead">
        The built-in offline model answers: a set of rules, no language model. It needs no key and no network, and it understands plain requests only.
      </p>`;
    }
    if (answering.model === null) return html`<p class="note warn">No model can answer: ${answering.why}</p>`;
    return html`<p class="lead"><span class="mono">${answering.model}</span> answers. <span class="faint">${answering.why}</span></p>`;
  }

  protected override render(): TemplateResult {
    const { answering, chosen } = this;
    const weak = chosen ? chosen.hasKey === false : answering !== undefined && (answering.offline || answering.model === null);
    const examples = !chosen && answering?.offline ? OFFLINE_EXAMPLES : EXAMPLES;
    return html`<div class="middle">
      <h1>${this.again ? "What is it about?" : "Hello. Your gateway is running."}</h1>
      ${this.who()}
      ${
        weak
          ? html`<section class="stack" aria-label="One step to more">
              <h2>One step to more</h2>
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
      <section class="stack" aria-label="Try it">
        <h2>Try it</h2>
        <ul class="examples">
          ${examples.map(
            (text) =>
              html`<li>
                <button ?disabled=${this.disabled} @click=${() => this.dispatchEvent(new CustomEvent("example", { detail: { text } }))}>
                  ${icon("right", 15)}<span>${text}</span>
                </button>
              </li>`,
          )}
        </ul>
      </section>
      ${this.again ? nothing : html`<p><a href=${place("start", [], { step: "tour" })}>Take the 60-second tour</a></p>`}
    </div>`;
  }
}
customElements.define("oc-greeting", Greeting);
