import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { dialogSheet } from "../../look/dialog-sheet.ts";
import { sheet } from "../../look/sheet.ts";
import { modal } from "../../parts/modal.ts";
import { sectionLook } from "../../parts/section.ts";
import { t } from "../../words/words.ts";
import type { Backup } from "./backup-facts.ts";

/** What is wanted of backups. */
export type BackupWish = { readonly kind: "create" } | { readonly kind: "verify" | "restore"; readonly backup: Backup };

/** Asks for what a job needs: options, a passphrase, and agreement to a restore. Sends `agree` or `cancel`. */
export class BackupDialog extends LitElement {
  static override styles = [
    sheet,
    dialogSheet,
    sectionLook,
    css`
      dialog {
        width: min(520px, calc(100vw - 32px));
      }
      form {
        display: grid;
        gap: 14px;
        margin-top: 14px;
      }
      ol {
        margin: 0;
        padding-inline-start: 20px;
        display: grid;
        gap: 4px;
        font-size: var(--type-ui);
      }
      .check {
        display: flex;
        gap: 8px;
        align-items: center;
        min-height: var(--control);
      }
      .row {
        justify-content: flex-end;
      }
    `,
  ];
  @property({ attribute: false }) wish!: BackupWish;
  @property() stateDir = "";
  @state() private encrypted = false;
  @state() private problem: string | undefined;

  private cancel(): void {
    this.dispatchEvent(new CustomEvent("cancel"));
  }

  private agree(event: Event): void {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const text = (name: string): string => {
      const value = data.get(name);
      return typeof value === "string" ? value : "";
    };
    const [passphrase, again] = [text("passphrase"), text("again")];
    const asks = this.asksPassphrase();
    if (asks && passphrase === "") return void (this.problem = t("Enter a passphrase."));
    if (asks && this.wish.kind === "create" && passphrase !== again) return void (this.problem = t("The passphrases do not match."));
    this.dispatchEvent(new CustomEvent("agree", { detail: { passphrase: asks ? passphrase : undefined, includeWorkspace: data.get("workspace") === "on" } }));
  }

  private asksPassphrase(): boolean {
    return this.wish.kind === "create" ? this.encrypted : this.wish.backup.encrypted;
  }

  private passphrase(): TemplateResult | typeof nothing {
    if (!this.asksPassphrase()) return nothing;
    const field = (name: string, label: string): TemplateResult =>
      html`<label class="field">${label}<input type="password" name=${name} autocomplete=${this.wish.kind === "create" ? "new-password" : "off"} /></label>`;
    return html`${field("passphrase", t("Passphrase"))}
      ${
        this.wish.kind === "create"
          ? html`${field("again", t("Passphrase again"))}
              <p class="faint">${t("It is not stored. Without it, nobody can open the backup.")}</p>`
          : nothing
      }
      <p role="alert" class="state bad">${this.problem ?? ""}</p>`;
  }

  private createBody(): TemplateResult {
    return html`<p class="soft">
        ${t("The backup contains conversations, memory, settings, credentials and paired devices. Keep it where only you can read it.")}
      </p>
      <label class="check"><input type="checkbox" name="workspace" /> ${t("Include the agents’ workspaces")}</label>
      <label class="check"
        ><input
          type="checkbox"
          name="encrypt"
          .checked=${this.encrypted}
          @change=${(event: Event) => (this.encrypted = (event.target as HTMLInputElement).checked)}
        />
        ${t("Encrypt with a passphrase")}</label
      >`;
  }

  private restoreBody(): TemplateResult {
    return html`<ol>
        <li>${t("The backup is unpacked beside the state folder and every file is verified. The gateway keeps running.")}</li>
        <li>${t("The gateway restarts from the backup. Running answers get up to 30 seconds to finish. This page reconnects automatically.")}</li>
        <li>${t("If the backup cannot be opened, the gateway goes back to the state it has now.")}</li>
      </ol>
      <p class="note warn words">
        ${t`Everything since the backup will be missing: messages, memory, settings. The current state is kept next to ${this.stateDir}. Browsers paired since then have to sign in again.`}
      </p>`;
  }

  protected override render(): TemplateResult {
    const { wish } = this;
    const title = wish.kind === "create" ? t("Create backup") : wish.kind === "verify" ? t`Verify ${wish.backup.name}` : t`Restore ${wish.backup.name}?`;
    const yes = wish.kind === "create" ? t("Create backup") : wish.kind === "verify" ? t("Verify") : t("Restore and restart");
    return html`<dialog ${modal()} aria-labelledby="title" @close=${() => this.cancel()}>
      <h2 id="title" class="words">${title}</h2>
      <form novalidate @submit=${(event: Event) => this.agree(event)}>
        ${wish.kind === "create" ? this.createBody() : wish.kind === "restore" ? this.restoreBody() : nothing} ${this.passphrase()}
        <div class="row">
          <button type="button" @click=${() => this.cancel()}>${t("Cancel")}</button>
          <button class=${wish.kind === "restore" ? "danger solid" : "primary"}>${yes}</button>
        </div>
      </form>
    </dialog>`;
  }
}
customElements.define("oc-backup-dialog", BackupDialog);
