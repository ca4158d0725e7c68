import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { ago, exactly } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { pageLook } from "../../parts/page-look.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";

/** A sender who may write. */
export type Allowed = MethodResult<"channels.pairing.allowed">["senders"][number];

const POLICIES: Readonly<Record<string, string>> = {
  pairing: t("Approved senders; others get a code"),
  allowlist: t("Only senders on the list"),
  open: t("Senders on the list, without a code"),
  disabled: t("Nobody"),
};

const SOURCES: Readonly<Record<string, string>> = { pairing: t("paired with a code"), command: t("added manually"), import: t("imported") };

/** Who may write to an account: whom the configuration names, and who was let in. Says `revoke` with the id of who is to go. */
export class SendersList extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    css`
      ul {
        list-style: none;
        margin: 6px 0;
        padding: 0;
        max-height: 220px;
        overflow-y: auto;
      }
      li {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0 8px;
        min-height: 30px;
      }
      li .mono {
        overflow-wrap: anywhere;
      }
      li .faint {
        white-space: nowrap;
      }
      li button {
        margin-inline-start: auto;
        min-height: 26px;
        padding: 2px 6px;
      }
    `,
  ];
  @property() policy: string | undefined;
  /** The configuration's list. */
  @property({ attribute: false }) named: readonly string[] = [];
  @property({ attribute: false }) paired: readonly Allowed[] = [];
  /** Where the configuration's list stands. */
  @property() path = "";
  /** Senders may be removed here. */
  @property({ type: Boolean }) may = false;

  private written(who: string): TemplateResult {
    const name = who === "*" ? html`<span class="badge warn">${t("Everyone")}</span>` : html`<span class="mono">${who}</span>`;
    return html`<li>${name} <span class="faint">${t("in the configuration")}</span></li>`;
  }

  private letIn({ senderId, source, addedAtMs }: Allowed): TemplateResult {
    const when = addedAtMs === undefined ? nothing : html`<span title=${exactly(addedAtMs)}>, ${ago(addedAtMs)}</span>`;
    return html`<li>
      <span class="mono">${senderId}</span> <span class="faint">${SOURCES[source] ?? source}${when}</span>
      ${
        this.may
          ? html`<button
              class="small"
              title=${t("Remove")}
              aria-label=${t`Remove ${senderId}`}
              @click=${() => this.dispatchEvent(new CustomEvent("revoke", { detail: senderId }))}
            >
              ${icon("trash", 15)}
            </button>`
          : nothing
      }
    </li>`;
  }

  protected override render(): TemplateResult {
    const { policy, named, paired } = this;
    return html`${policy === undefined ? nothing : html`<div>${POLICIES[policy] ?? policy}</div>`}
      ${
        named.length + paired.length === 0
          ? nothing
          : html`<ul aria-label=${t("Allowed senders")}>
              ${named.map((who) => this.written(who))} ${paired.map((sender) => this.letIn(sender))}
            </ul>`
      } <a class="faint" href=${place("config", [], { path: this.path })}>${t("Change the list in the configuration")}</a>`;
  }
}
customElements.define("oc-senders-list", SendersList);
