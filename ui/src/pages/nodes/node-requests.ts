import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { ago, exactly } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";
import { platformName, type NodeRequest } from "./node-facts.ts";
import { offersOf } from "./node-offers.ts";

/** Approves or rejects a request, as it was made. */
export async function decideNode(link: PageContext["link"], { requestId, kind }: NodeRequest, decision: "approve" | "reject"): Promise<void> {
  if (kind === "device") await link.request(decision === "approve" ? "device.pair.approve" : "device.pair.reject", { requestId });
  else await link.request(decision === "approve" ? "node.pair.approve" : "node.pair.reject", { requestId });
}

/** Machines that ask to be nodes. Sends `decided`. */
export class NodeRequests extends LitElement {
  static override styles = [
    sheet,
    factsLook,
    pageLook,
    css`
      .card > .row {
        margin-bottom: 10px;
      }
      .card > .actions {
        margin: 12px 0 0;
        justify-content: flex-end;
      }
      .card > p {
        margin-top: 10px;
        font-size: var(--type-ui);
      }
      .offers {
        margin-top: 12px;
        font-size: var(--type-ui);
      }
      h4 {
        margin: 0 0 4px;
        font-size: var(--type-ui);
        font-weight: 600;
      }
      .offers ul {
        margin: 0 0 6px;
        padding-inline-start: 18px;
      }
      .offers code {
        overflow-wrap: anywhere;
      }
      h3 {
        overflow-wrap: anywhere;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property({ attribute: false }) requests: readonly NodeRequest[] = [];
  @state() private busy: ReadonlySet<string> = new Set();

  private async decide(request: NodeRequest, decision: "approve" | "reject"): Promise<void> {
    const { link, toasts } = this.context;
    this.busy = new Set([...this.busy, request.requestId]);
    try {
      await decideNode(link, request, decision);
      toasts.say(decision === "approve" ? t`${request.name} was approved.` : t`${request.name} was rejected.`);
    } catch (error) {
      toasts.warn(failureText(error));
    }
    this.busy = new Set([...this.busy].filter((id) => id !== request.requestId));
    this.dispatchEvent(new CustomEvent("decided"));
  }

  private offers(request: NodeRequest): TemplateResult {
    const offers = offersOf(request);
    if (offers.length === 0) return html`<p class="soft">${t("It does not say what it can do.")}</p>`;
    return html`<div class="offers">
      <h4>${t("Agents could ask it to")}</h4>
      <ul>
        ${offers.map(({ words, commands }) => html`<li>${words} ${commands.map((command) => html`<code class="faint">${command}</code> `)}</li>`)}
      </ul>
      <p class="soft">${t("Which of these are allowed is decided by the configuration of the gateway. A node can offer more later.")}</p>
    </div>`;
  }

  private card(request: NodeRequest): TemplateResult {
    const { name, isRepair, ts, platform, version, remoteIp, nodeId, requestId } = request;
    const isBusy = this.busy.has(requestId);
    return html`<li class="card">
      <div class="row">
        <h3 class="grow">${name}</h3>
        <span class="badge warn">${isRepair ? t("Asks again") : t("Waiting")}</span>
      </div>
      ${facts([
        [t("Requested"), html`<span title=${exactly(ts)}>${ago(ts)}</span>`],
        [t("Platform"), platformName(platform)],
        [t("Version"), version],
        [t("From"), remoteIp],
        [t("Node"), html`<code>${nodeId}</code>`],
      ])}
      ${this.offers(request)}
      <p class="soft">${t("A node receives the events of all chats. Approve only a machine that may read them. The request is valid for 5 minutes.")}</p>
      <div class="row actions">
        <button class="small" ?disabled=${isBusy} aria-label=${t`Reject ${name}`} @click=${() => void this.decide(request, "reject")}>${t("Reject")}</button>
        <button class="small primary" ?disabled=${isBusy} aria-label=${t`Approve ${name}`} @click=${() => void this.decide(request, "approve")}>
          ${t("Approve")}
        </button>
      </div>
    </li>`;
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.requests.length === 0) return nothing;
    return html`<section>
      <h2>${t("Pending requests")}</h2>
      <ul class="cards list">
        ${this.requests.map((request) => this.card(request))}
      </ul>
    </section>`;
  }
}
customElements.define("oc-node-requests", NodeRequests);
