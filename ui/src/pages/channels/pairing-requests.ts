import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { ago, exactly } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { offerOwner } from "./offer-owner.ts";
import { t } from "../../words/words.ts";

export type Stranger = MethodResult<"channels.pairing.list">["requests"][number];

const nameOf = ({ senderId, meta }: Stranger): string => meta["name"] ?? meta["username"] ?? meta["firstName"] ?? senderId;

/** Strangers that wrote to a channel and ask to be let in. Sends `decided`. */
export class PairingRequests extends LitElement {
  static override styles = [sheet, pageLook];
  @property({ attribute: false }) context!: PageContext;
  @property({ attribute: false }) requests: readonly Stranger[] = [];

  private async decide({ channel, accountId, code }: Stranger, letIn: boolean): Promise<void> {
    const { link, toasts } = this.context;
    try {
      if (letIn) {
        const { senderId, notified, hasOwner } = await link.request("channels.pairing.approve", { channel, accountId, code, notify: true });
        toasts.say(notified ? t`${senderId} was approved and notified.` : t`${senderId} was approved.`);
        if (!hasOwner) await offerOwner(this.context, { channel, senderId });
      } else {
        await link.request("channels.pairing.reject", { channel, accountId, code });
        toasts.say(t("Request rejected"));
      }
    } catch (error) {
      toasts.warn(failureText(error));
    }
    this.dispatchEvent(new CustomEvent("decided"));
  }

  private row(request: Stranger): TemplateResult {
    const { channel, accountId, senderId, code, lastSeenAtMs, expiresAtMs } = request;
    const name = nameOf(request);
    return html`<tr>
      <td>${name}${name === senderId ? nothing : html`<div class="faint mono">${senderId}</div>`}</td>
      <td>${channel}${accountId === "default" ? "" : `, ${accountId}`}</td>
      <td><code>${code}</code></td>
      <td title=${exactly(lastSeenAtMs)}>
        ${ago(lastSeenAtMs)}
        <div class="faint">${t`expires ${ago(expiresAtMs)}`}</div>
      </td>
      <td class="num">
        <button class="small" aria-label=${t`Reject ${name}`} @click=${() => void this.decide(request, false)}>${t("Reject")}</button>
        <button class="small primary" aria-label=${t`Approve ${name}`} @click=${() => void this.decide(request, true)}>${t("Approve")}</button>
      </td>
    </tr>`;
  }

  protected override render(): TemplateResult {
    if (this.requests.length === 0) return html`<p class="soft">${t("No pending requests. New senders get a code and are listed here until you decide.")}</p>`;
    return html`<div class="scroll">
      <table>
        <thead>
          <tr>
            <th>${t("Sender")}</th>
            <th>${t("Channel")}</th>
            <th>${t("Code")}</th>
            <th>${t("Last message")}</th>
            <td></td>
          </tr>
        </thead>
        <tbody>
          ${this.requests.map((request) => this.row(request))}
        </tbody>
      </table>
    </div>`;
  }
}
customElements.define("oc-pairing-requests", PairingRequests);
