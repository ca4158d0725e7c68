import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodParams, MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { missingNote, pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";

type Params = MethodParams<"route.explain">;
type Answer = MethodResult<"route.explain">;

/** Fields beyond the usual ones. */
const MORE = [
  ["parentPeerId", "Parent chat"],
  ["threadId", "Thread"],
  ["guildId", "Guild"],
  ["teamId", "Team"],
  ["roles", "Roles, with commas"],
] as const;

/** The question in a form; empty fields are not asked about. The gateway checks what is asked. */
function questionOf(form: FormData): Params {
  const question: Record<string, unknown> = {};
  for (const [name, value] of form) {
    const word = typeof value === "string" ? value.trim() : "";
    if (word !== "") question[name] = name === "roles" ? word.split(/\s*,\s*/).filter(Boolean) : word;
  }
  return question as Params;
}

/** Says which agent and session a message would go to, and why. */
export class RouteTester extends LitElement {
  static override styles = [
    sheet,
    factsLook,
    pageLook,
    css`
      details {
        margin: 10px 0;
      }
      summary {
        cursor: pointer;
        color: var(--ink-soft);
        font-size: 14px;
      }
      details .fields {
        margin-top: 8px;
      }
      .answer {
        margin-top: 16px;
        padding-top: 16px;
        border-top: 1px solid var(--line);
      }
      ol {
        margin: 14px 0 0;
        padding: 0;
        list-style: none;
        display: grid;
        gap: 4px;
        font-size: 14px;
      }
      li {
        display: grid;
        grid-template-columns: 20px minmax(120px, 190px) minmax(0, 1fr);
        gap: 8px;
        color: var(--ink-soft);
        overflow-wrap: anywhere;
      }
      li.matched {
        color: var(--ink);
        font-weight: 600;
      }
      h3 {
        margin-top: 14px;
      }
    `,
  ];
  @property({ attribute: false }) context!: Pick<PageContext, "link">;
  @property({ attribute: false }) channels: readonly string[] = [];
  @state() private answer: Answer | undefined;
  @state() private failure: string | undefined;

  private async ask(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    this.failure = undefined;
    try {
      this.answer = await this.context.link.request("route.explain", questionOf(new FormData(event.target as HTMLFormElement)));
    } catch (error) {
      this.answer = undefined;
      this.failure = failureText(error);
    }
  }

  private step(tier: string, text: string, matched: boolean): TemplateResult {
    return html`<li class=${matched ? "matched" : ""}><span>${matched ? icon("check", 15) : nothing}</span><code>${tier}</code><span>${text}</span></li>`;
  }

  private answerView({ agentId, sessionKey, matchedBy, because, binding, broadcast, steps, bindings }: Answer): TemplateResult {
    return html`<div class="answer">
      ${facts([
        ["Agent", html`<a href=${place("agents", [agentId])}>${agentId}</a>`],
        ["Session", html`<a href=${place("chat", [sessionKey])}><code>${sessionKey}</code></a>`],
        ["Decided by", binding === undefined ? matchedBy : html`${matchedBy}, <a href=${place("config", [], { path: binding })}><code>${binding}</code></a>`],
        ["Session because", because],
        ["Answered by", broadcast?.map((each) => html`<div>${each.agentId} in <code>${each.sessionKey}</code></div>`)],
      ])}
      <h3>Steps, in order</h3>
      <ol>
        ${steps.map(({ tier, text, matched }) => this.step(tier, text, matched))}
      </ol>
      ${
        bindings.length === 0
          ? nothing
          : html`<h3>What became of each binding</h3>
              <ol>
                ${bindings.map(({ path, agentId: to, text, matched }) => this.step(path, `to ${to}: ${text}`, matched))}
              </ol>`
      }
    </div>`;
  }

  protected override render(): TemplateResult {
    const known = this.channels.length > 0 ? this.channels : ["webchat"];
    if (!this.context.link.has("route.explain")) return missingNote("Testing routes");
    return html`<form class="card" @submit=${this.ask}>
      <div class="fields">
        <label>Channel <input name="channel" required list="channels" value=${known[0] ?? ""} autocomplete="off" /></label>
        <datalist id="channels">${known.map((id) => html`<option value=${id}></option>`)}</datalist>
        <label>Account <input name="accountId" placeholder="default" autocomplete="off" /></label>
        <label
          >Kind of chat
          <select name="peerKind">
            <option value="direct">direct</option>
            <option value="group">group</option>
            <option value="channel">channel</option>
          </select></label
        >
        <label>Sender or chat <input name="peerId" placeholder="its id" autocomplete="off" /></label>
      </div>
      <details>
        <summary>Threads, guilds, teams, roles</summary>
        <div class="fields">${MORE.map(([name, label]) => html`<label>${label} <input name=${name} autocomplete="off" /></label>`)}</div>
      </details>
      <button class="primary">Test route</button>
      <div aria-live="polite">
        ${
          this.failure === undefined
            ? nothing
            : html`<br />
                <div class="note bad">${this.failure}</div>`
        }${this.answer ? this.answerView(this.answer) : nothing}
      </div>
    </form>`;
  }
}
customElements.define("oc-route-tester", RouteTester);
