import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodParams, MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/disclosure.ts";
import "../../parts/select.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { missingNote, pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";

type Params = MethodParams<"route.explain">;
type Answer = MethodResult<"route.explain">;

/** Fields beyond the usual ones. */
const MORE = [
  ["parentPeerId", t("Parent chat")],
  ["threadId", t("Thread")],
  ["guildId", t("Guild")],
  ["teamId", t("Team")],
  ["roles", t("Roles, comma-separated")],
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
      oc-disclosure {
        margin: 8px 0;
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
        font-size: var(--type-row);
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
  @state() private peerKind = "direct";
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
        [t("Agent"), html`<a href=${place("agents", [agentId])}>${agentId}</a>`],
        [t("Session"), html`<a href=${place("chat", [sessionKey])}><code>${sessionKey}</code></a>`],
        [
          t("Decided by"),
          binding === undefined ? matchedBy : html`${matchedBy}, <a href=${place("config", [], { path: binding })}><code>${binding}</code></a>`,
        ],
        [t("Reason for session"), because],
        [t("Answered by"), broadcast?.map((each) => html`<div>${t`${each.agentId} in`} <code>${each.sessionKey}</code></div>`)],
      ])}
      <h3>${t("Steps, in order")}</h3>
      <ol>
        ${steps.map(({ tier, text, matched }) => this.step(tier, text, matched))}
      </ol>
      ${
        bindings.length === 0
          ? nothing
          : html`<h3>${t("Bindings checked")}</h3>
              <ol>
                ${bindings.map(({ path, agentId: to, text, matched }) => this.step(path, t`to ${to}: ${text}`, matched))}
              </ol>`
      }
    </div>`;
  }

  protected override render(): TemplateResult {
    const known = this.channels.length > 0 ? this.channels : ["webchat"];
    if (!this.context.link.has("route.explain")) return missingNote(t("Testing routes"));
    return html`<form class="card" @submit=${this.ask}>
      <div class="fields">
        <label>${t("Channel")} <input name="channel" required list="channels" value=${known[0] ?? ""} autocomplete="off" /></label>
        <datalist id="channels">${known.map((id) => html`<option value=${id}></option>`)}</datalist>
        <label>${t("Account")} <input name="accountId" placeholder=${t("default")} autocomplete="off" /></label>
        <div class="field">
          <label for="kind">${t("Chat type")}</label>
          <oc-select
            block
            id="kind"
            name="peerKind"
            label=${t("Chat type")}
            .value=${this.peerKind}
            .options=${[
              { value: "direct", label: t("direct") },
              { value: "group", label: t("group") },
              { value: "channel", label: t("channel") },
            ]}
            @choose=${(event: CustomEvent<string>) => (this.peerKind = event.detail)}
          ></oc-select>
        </div>
        <label>${t("Sender or chat")} <input name="peerId" placeholder=${t("ID")} autocomplete="off" /></label>
      </div>
      <oc-disclosure label=${t("Threads, guilds, teams, roles")}>
        <div class="fields">${MORE.map(([name, label]) => html`<label>${label} <input name=${name} autocomplete="off" /></label>`)}</div>
      </oc-disclosure>
      <button class="primary">${t("Test route")}</button>
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
