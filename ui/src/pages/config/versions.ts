import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { ago, bytes, exactly, moment } from "../../base/figures.ts";
import { sheet } from "../../look/sheet.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import "../../parts/diff-view.ts";
import "./changes-list.ts";
import { t } from "../../words/words.ts";

export type Versions = MethodResult<"config.versions">["versions"];
export type Version = MethodResult<"config.version">;

/** Earlier texts of the file, what going back would change, and the way back. Says `open` {id} and `restore` {id}. */
export class VersionsPanel extends LitElement {
  static override styles = [
    sheet,
    skeletonLook,
    css`
      :host {
        display: grid;
        grid-template-columns: minmax(240px, 300px) 1fr;
        gap: 20px;
        align-items: start;
      }
      ol {
        list-style: none;
        margin: 0;
        padding: 0;
        display: grid;
        gap: 4px;
      }
      li button {
        width: 100%;
        justify-content: flex-start;
        text-align: start;
        min-height: 44px;
      }
      li button[aria-pressed="true"] {
        border-color: var(--accent);
        background: var(--accent-soft);
      }
      @media (max-width: 820px) {
        :host {
          grid-template-columns: 1fr;
        }
      }
    `,
  ];
  @property({ attribute: false }) versions: Versions | undefined;
  @property({ attribute: false }) opened: Version | undefined;
  /** The file as it is. */
  @property() text = "";
  @property({ type: Boolean }) busy = false;
  /** There are changes that are not saved. */
  @property({ type: Boolean }) dirty = false;

  private say(what: "open" | "restore", id: string): void {
    this.dispatchEvent(new CustomEvent(what, { detail: { id } }));
  }

  private detail(): TemplateResult {
    const { opened } = this;
    const listed = this.versions?.find(({ id }) => id === opened?.id);
    if (!opened || !listed) return html`<p class="soft">${t("Choose a version to see what restoring it would change.")}</p>`;
    if (listed.current) return html`<p class="soft">${t("This is the current file.")}</p>`;
    return html`<section class="stack" aria-label=${t("What restoring would change")}>
      <div class="row wrap">
        <h2 class="grow">${t`Version from ${ago(listed.at)}`}</h2>
        <button class="primary" ?disabled=${this.busy || !listed.valid} @click=${() => this.say("restore", opened.id)}>${t("Restore this version")}</button>
      </div>
      ${listed.valid ? nothing : html`<p class="note bad">${t("This version is not valid, so it cannot be restored.")}</p>`}
      ${this.dirty ? html`<p class="note warn">${t("Restoring discards your unsaved changes.")}</p>` : nothing}
      <oc-config-changes .changes=${opened.changes}></oc-config-changes>
      <oc-diff .old=${this.text} .now=${opened.raw}></oc-diff>
    </section>`;
  }

  protected override render(): TemplateResult {
    const { versions } = this;
    if (!versions) return skeleton(4);
    if (versions.length === 0) return html`<p class="soft">${t("No versions yet. Each change saves the previous text; the last 20 are kept.")}</p>`;
    return html`<ol aria-label=${t("Versions, newest first")}>
        ${versions.map(
          ({ id, at, bytes: size, current, valid }) =>
            html`<li>
              <button aria-pressed=${this.opened?.id === id} title=${exactly(at)} @click=${() => this.say("open", id)}>
                <span class="grow">${ago(at)}<br /><span class="faint">${moment(at)}, ${bytes(size)}</span></span>
                ${current ? html`<span class="badge good">${t("In use")}</span>` : valid ? nothing : html`<span class="badge bad">${t("Invalid")}</span>`}
              </button>
            </li>`,
        )}
      </ol>
      <div>${this.detail()}</div>`;
  }
}
customElements.define("oc-config-versions", VersionsPanel);
