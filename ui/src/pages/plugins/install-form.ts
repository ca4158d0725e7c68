import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";

type Installed = Extract<MethodResult<"plugins.install">, { readonly ok: true }>;
/** Fetching and unpacking may take that long. */
const PATIENCE_MS = 10 * 60_000;

/** Installs a plugin by its name, archive or folder. Sends `installed`. */
export class InstallForm extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    css`
      form {
        display: flex;
        gap: 10px;
        margin: 12px 0;
      }
      .note {
        margin-bottom: 0;
      }
    `,
  ];
  @property({ attribute: false }) context!: Pick<PageContext, "link">;
  @state() private stage: "asked" | "running" | undefined;
  @state() private done: Installed | undefined;
  @state() private failure: string | undefined;

  private async install(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const spec = (event.target as HTMLFormElement).querySelector("input")?.value.trim() ?? "";
    if (spec === "" || this.stage !== undefined) return;
    this.stage = "asked";
    this.done = undefined;
    this.failure = undefined;
    try {
      const onAccepted = (): void => void (this.stage = "running");
      this.done = (await this.context.link.request("plugins.install", { spec }, { timeoutMs: PATIENCE_MS, expectFinal: true, onAccepted })) as Installed;
      this.dispatchEvent(new CustomEvent("installed"));
    } catch (error) {
      this.failure = failureText(error);
    } finally {
      this.stage = undefined;
    }
  }

  private result(): TemplateResult | typeof nothing {
    if (this.stage !== undefined)
      return html`<p>
        ${this.stage === "asked" ? t("Contacting the gateway…") : t("Downloading, checking and unpacking the plugin. This may take a minute.")}
      </p>`;
    if (this.failure !== undefined) return html`<div class="note bad">${t`Installation failed: ${this.failure}`}</div>`;
    if (!this.done) return nothing;
    const { id, version, source, warnings, problem, does } = this.done;
    return html`<div class="note ${problem === undefined ? "" : "bad"}">
      <strong>${id}${version === undefined ? "" : ` ${version}`}</strong> ${t("was installed from")} ${source}. ${does}
      ${warnings.map((text, index) => html`<div>${index === 0 && problem !== undefined ? "" : t("Note: ")}${text}</div>`)}
    </div>`;
  }

  protected override render(): TemplateResult {
    return html`<div class="card">
      <h2>${t("Install a plugin")}</h2>
      <p class="note warn">
        ${t("Plugins run code with the gateway’s permissions: they can read files and use keys and the network. Install only plugins you trust.")}
      </p>
      <form @submit=${this.install}>
        <input
          name="spec"
          required
          aria-label=${t("Plugin to install")}
          placeholder=${t("Package name, archive or folder on the gateway")}
          autocomplete="off"
          spellcheck="false"
        />
        <button class="primary" ?disabled=${this.stage !== undefined}>${t("Install")}</button>
      </form>
      <div role="status">${this.result()}</div>
    </div>`;
  }
}
customElements.define("oc-install-form", InstallForm);
