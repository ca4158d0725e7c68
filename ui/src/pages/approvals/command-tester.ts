import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { section, sectionLook } from "../../parts/section.ts";
import "../../parts/select.ts";
import { badge } from "../../parts/state.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";
import { VERDICTS, type Explained } from "./approval-facts.ts";

/** Shows what the rules would do with a command. Nothing runs. */
export class CommandTester extends LitElement {
  static override styles = [
    sheet,
    sectionLook,
    css`
      form {
        display: flex;
        gap: 8px;
        align-items: end;
      }
      form label {
        flex: 1;
        min-width: 0;
      }
      input {
        font-family: var(--mono);
      }
      .answer {
        margin-top: 12px;
      }
      .answer p {
        margin-top: 6px;
      }
      ul {
        margin: 8px 0 0;
        padding-inline-start: 18px;
        font-size: var(--type-ui);
      }
      @media (max-width: 760px) {
        form {
          flex-wrap: wrap;
        }
        form label {
          flex-basis: 100%;
        }
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property({ attribute: false }) agents: readonly string[] = [];
  @state() private agentId: string | undefined;
  @state() private answer: Explained | undefined;
  @state() private failure: string | undefined;

  private async test(event: Event): Promise<void> {
    event.preventDefault();
    const command = (this.renderRoot.querySelector("input")?.value ?? "").trim();
    if (command === "") return;
    try {
      this.answer = await this.context.link.request("exec.approvals.explain", { command, ...(this.agentId === undefined ? {} : { agentId: this.agentId }) });
      this.failure = undefined;
    } catch (error) {
      this.answer = undefined;
      this.failure = failureText(error);
    }
  }

  private shown({ decision, why, always, programs }: Explained): TemplateResult {
    const { tone, word } = VERDICTS[decision];
    return html`<div class="answer" role="status">
      ${badge(tone, word)}
      <p class="words">${why}</p>
      ${
        programs.length === 0
          ? nothing
          : html`<ul>
              ${programs.map(
                ({ text, path, allowedBy }) =>
                  html`<li class="words"><code>${path ?? text}</code>: ${allowedBy ?? html`<span class="soft">${t("not allowed in advance")}</span>`}</li>`,
              )}
            </ul>`
      }
      ${always === null ? nothing : html`<p class="soft words">${t("“Always allow” would store:")} ${always}</p>`}
    </div>`;
  }

  protected override render(): TemplateResult {
    const { agents } = this;
    return section({
      id: "test",
      title: t("Test a command"),
      fact: t("Nothing runs"),
      body: html`<div class="inside">
        <form @submit=${(event: Event) => void this.test(event)}>
          <label class="field"
            >${t("Command")}<input name="command" autocomplete="off" spellcheck="false" required @input=${() => (this.answer = undefined)}
          /></label>
          ${
            agents.length < 2
              ? nothing
              : html`<oc-select
                  label=${t("Agent")}
                  .value=${this.agentId ?? agents[0] ?? ""}
                  .options=${agents.map((id) => ({ value: id, label: id }))}
                  @choose=${({ detail }: CustomEvent<string>) => {
                    this.agentId = detail;
                    this.answer = undefined;
                  }}
                ></oc-select>`
          }
          <button class="primary">${t("Test")}</button>
        </form>
        ${this.answer ? this.shown(this.answer) : nothing}
        ${this.failure === undefined ? nothing : html`<div class="note bad answer" role="alert">${this.failure}</div>`}
      </div>`,
    });
  }
}
customElements.define("oc-command-tester", CommandTester);
