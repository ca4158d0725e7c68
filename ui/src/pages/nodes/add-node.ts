import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { sheet } from "../../look/sheet.ts";
import "../../parts/copy-button.ts";
import { sectionLook } from "../../parts/section.ts";
import { t } from "../../words/words.ts";
import { joinCommands, type Address } from "./node-facts.ts";

const TOKEN = "OPENCLAW_GATEWAY_TOKEN";
/** Puts the token into the environment, unseen and not in the history. */
const READ_TOKEN = ["read", "-rs", TOKEN, "&&", "export", TOKEN].join(" ");

/** How another machine becomes a node: what to run there. */
export class AddNode extends LitElement {
  static override styles = [
    sheet,
    sectionLook,
    css`
      :host {
        display: block;
        max-width: 720px;
        text-align: start;
      }
      ol {
        display: grid;
        gap: 12px;
        margin: 0;
        padding-inline-start: 20px;
        font-size: var(--type-ui);
        line-height: 20px;
      }
      li::marker {
        color: var(--ink-faint);
      }
      .cmd {
        margin: 6px 0 0;
      }
    `,
  ];
  @property({ attribute: false }) address: Address = location;

  private line(what: string, command: string): TemplateResult {
    return html`<div class="cmd"><code>${command}</code><oc-copy-button what=${what} .text=${command}></oc-copy-button></div>`;
  }

  protected override render(): TemplateResult {
    const { run, tunnel } = joinCommands(this.address);
    return html`<ol>
      <li>${t("Install OpenClaw on the other machine. On the gateway’s own machine, go to the last step.")}</li>
      ${
        tunnel === undefined
          ? nothing
          : html`<li>
              ${t("This page has no TLS, so connect the machines with a tunnel. Run this on the other machine, with your user and the gateway’s address:")}
              ${this.line(t("the tunnel command"), tunnel)}
            </li>`
      }
      <li>
        ${t("For the first connection, the node needs the gateway’s token. Run this, then paste the token and press Enter; it is not shown:")}
        ${this.line(t("the command that reads the token"), READ_TOKEN)}
      </li>
      <li>
        ${t("Start the node. Its request appears on this page; a node that connects through this machine needs none:")}
        ${this.line(t("the command that starts the node"), run)}
      </li>
    </ol>`;
  }
}
customElements.define("oc-add-node", AddNode);
