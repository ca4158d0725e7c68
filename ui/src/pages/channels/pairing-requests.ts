import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { ago, exactly } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { offerOwner } from "./offer-owner.ts";

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
        toasts.say(`${senderId} approved${notified ? " and was notified" : ""}.`);
        if (!hasOwner) await offerOwner(this.context, { channel, senderId });
      } else {
        await link.request("channels.pairing.reject", { channel, accountId, code });
        toasts.say("Request rejected");
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
        <div class="faint">ends ${ago(expiresAtMs)}</div>
      </td>
      <td class="num">
        <button class="small" aria-label=${`Reject ${name}`} @click=${() => void this.decide(request, false)}>Reject</button>
        <button class="small primary" aria-label=${`Approve ${name}`} @click=${() => void this.decide(request, true)}>Approve</button>
      </td>
    </tr>`;
  }

  protected override render(): TemplateResult {
    if (this.requests.length === 0)
      return html`<p class="soft">No pending requests. Someone who writes to a channel for the first time gets a code and is listed here until you decide.</p>`;
    return html`<div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Who</th>
            <th>Channel</th>
            <th>Code</th>
            <th>Wrote</th>
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
