import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { ago, bytes, exactly, moment } from "../../base/figures.ts";
import { randomId } from "../../base/random-id.ts";
import { failureText, isConflict } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/diff-view.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import { failedNote } from "../../parts/page-look.ts";
import "../../parts/segmented.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";

type Version = MethodResult<"agents.files.versions">["versions"][number];
type Opened = MethodResult<"agents.files.version">;

/** What a version is compared with. */
type Against = "before" | "now";

const WHO: Readonly<Record<Version["by"], string>> = { page: t("Saved here"), agent: t("By the agent"), outside: t("Outside this page") };

/** The texts that a file of an agent had, what each changed, and the way back. Says `changed` when the file is another than the editor has. */
export class FileHistory extends LitElement {
  static override styles = [
    sheet,
    skeletonLook,
    emptyLook,
    css`
      :host {
        display: block;
      }
      .two {
        display: grid;
        grid-template-columns: minmax(180px, 240px) minmax(0, 1fr);
        gap: 16px;
        align-items: start;
      }
      ol {
        list-style: none;
        margin: 0;
        padding: 2px;
        display: grid;
        gap: 2px;
        max-height: 60vh;
        overflow-y: auto;
        scrollbar-width: thin;
      }
      li button {
        width: 100%;
        min-height: 48px;
        justify-content: flex-start;
        text-align: start;
        border-color: transparent;
        background: none;
        box-shadow: none;
      }
      li button:hover {
        background: var(--fill);
      }
      li button[aria-pressed="true"] {
        background: var(--selected);
      }
      li button[aria-pressed="true"] .faint {
        color: var(--ink-soft);
      }
      @media (max-width: 760px) {
        .two {
          grid-template-columns: minmax(0, 1fr);
        }
        ol {
          max-height: 34vh;
        }
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property() agentId = "";
  @property() name = "";
  /** Of the file as the editor has it. */
  @property() hash = "";
  /** What was written here is not saved. */
  @property({ type: Boolean }) dirty = false;
  @state() private versions: readonly Version[] | undefined;
  @state() private opened: Opened | undefined;
  /** The file as it is. */
  @state() private now = { text: "", hash: "" };
  @state() private against: Against = "before";
  @state() private failure: string | undefined;
  @state() private busy = false;
  private asked = 0;

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("agentId") || changed.has("name") || changed.has("hash")) void this.load();
  }

  private async load(): Promise<void> {
    const mine = (this.asked += 1);
    const { agentId, name } = this;
    try {
      const { link } = this.context;
      const { file } = await link.request("agents.files.get", { agentId, name });
      const { versions } = await link.request("agents.files.versions", { agentId, name });
      if (mine !== this.asked) return;
      this.versions = versions;
      this.now = { text: file.content ?? "", hash: file.hash ?? "" };
      if (this.now.hash !== this.hash) this.dispatchEvent(new CustomEvent("changed"));
      this.failure = undefined;
      const first = versions.find(({ current }) => !current) ?? versions[0];
      const known = versions.some(({ id }) => id === this.opened?.id);
      if (!known) this.opened = undefined;
      if (!known && first) await this.show(first.id);
    } catch (error) {
      if (mine === this.asked) this.failure = failureText(error);
    }
  }

  private async show(id: string): Promise<void> {
    const { agentId, name } = this;
    try {
      const opened = await this.context.link.request("agents.files.version", { agentId, name, id });
      if (this.agentId === agentId && this.name === name) this.opened = opened;
    } catch (error) {
      this.context.toasts.warn(failureText(error));
    }
  }

  private async restore({ id }: Version): Promise<void> {
    const { agentId, name } = this;
    const { hash } = this.now;
    const { link, toasts, dialogs } = this.context;
    const body = t("Restoring discards your unsaved changes.");
    if (this.dirty && !(await dialogs.confirm({ title: t`Restore ${name}?`, body, yes: t("Restore"), danger: true }))) return;
    this.busy = true;
    try {
      await link.request("agents.files.restore", { agentId, name, id, hash, idempotencyKey: randomId() });
      toasts.say(t`${name} was restored. Its previous text is in the history.`);
      // What was written and not saved goes with it, as was said.
      this.dispatchEvent(new CustomEvent("changed", { detail: { discards: true } }));
    } catch (error) {
      toasts.warn(isConflict(error) ? t`${name} has just changed. Review it before restoring.` : failureText(error));
      if (isConflict(error)) await this.load();
    } finally {
      this.busy = false;
    }
  }

  private row({ id, at, by, bytes: size, current }: Version): TemplateResult {
    return html`<li>
      <button aria-pressed=${this.opened?.id === id} title=${exactly(at)} @click=${() => void this.show(id)}>
        <span class="grow">${ago(at)}<br /><span class="faint">${WHO[by]} · ${bytes(size)}</span></span
        >${current ? html`<span class="badge good">${t("Now")}</span>` : nothing}
      </button>
    </li>`;
  }

  private detail(opened: Opened, listed: Version): TemplateResult {
    const { at, by, runId, current } = listed;
    const isFirst = opened.before === undefined;
    const against: Against = current || (!isFirst && this.against === "before") ? "before" : "now";
    const options = [
      { value: "before", label: t("Changes in this version") },
      { value: "now", label: t("Compared with now") },
    ];
    return html`<section class="stack" aria-label=${t`Version from ${moment(at)}`}>
      <div class="row wrap">
        <div class="grow">
          <h4>${t`Version from ${moment(at)}`}</h4>
          <span class="faint">${WHO[by]}${runId === undefined ? nothing : html` · <a href=${place("trace", [runId])}>${t("Trace of this run")}</a>`}</span>
        </div>
        ${
          current || isFirst
            ? nothing
            : html`<oc-segmented
                label=${t("Compare")}
                .value=${against}
                .options=${options}
                @choose=${(event: CustomEvent<Against>) => (this.against = event.detail)}
              ></oc-segmented>`
        }
        ${
          current || !this.context.link.may("operator.admin")
            ? nothing
            : html`<button class="small" ?disabled=${this.busy} @click=${() => void this.restore(listed)}>${t("Restore")}</button>`
        }
      </div>
      ${
        against === "before" && isFirst
          ? html`<p class="soft">${t("This is the first known version.")}</p>`
          : html`<oc-diff .old=${against === "now" ? this.now.text : (opened.before ?? "")} .now=${opened.content}></oc-diff>`
      }
    </section>`;
  }

  protected override render(): TemplateResult {
    const { versions, opened } = this;
    if (this.failure !== undefined) return failedNote(this.failure, () => void this.load());
    if (!versions) return skeleton(4, "text");
    if (versions.length === 0)
      return emptyState({
        icon: "clock",
        title: t("No versions yet"),
        text: t("Changes to this file are kept for 90 days, whether made here, by the agent or elsewhere."),
      });
    const listed = versions.find(({ id }) => id === opened?.id);
    return html`<div class="two">
      <ol aria-label=${t("Versions, newest first")}>
        ${versions.map((version) => this.row(version))}
      </ol>
      <div>${opened && listed ? this.detail(opened, listed) : skeleton(4, "text")}</div>
    </div>`;
  }
}
customElements.define("oc-file-history", FileHistory);
