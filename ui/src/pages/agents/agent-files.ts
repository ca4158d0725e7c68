import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { ago, bytes } from "../../base/figures.ts";
import { keep } from "../../base/keep.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { failedNote, loadingLine, pageLook } from "../../parts/page-look.ts";
import type { PageContext } from "../../shell/context.ts";

type File = MethodResult<"agents.files.list">["files"][number];

/** The files that shape an agent, to be read and changed. */
export class AgentFiles extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    css`
      .two {
        display: grid;
        grid-template-columns: 220px minmax(0, 1fr);
        gap: 16px;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
      }
      li button {
        width: 100%;
        justify-content: space-between;
        border-color: transparent;
        background: none;
      }
      li button[aria-current="true"] {
        background: var(--selected);
      }
      textarea {
        min-height: 420px;
        font-family: var(--mono);
        font-size: 13px !important;
        line-height: 1.5;
        resize: vertical;
      }
      @media (max-width: 720px) {
        .two {
          grid-template-columns: minmax(0, 1fr);
        }
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property() agentId = "";
  @state() private files: readonly File[] | undefined;
  @state() private workspace = "";
  @state() private failure: string | undefined;
  @state() private open: { readonly name: string; readonly missing: boolean; readonly saved: string; readonly updatedAtMs: number | undefined } | undefined;
  @state() private text = "";
  @state() private busy = false;
  private readonly guard = (event: BeforeUnloadEvent): void => {
    if (this.isChanged) event.preventDefault();
  };

  private get isChanged(): boolean {
    return this.open !== undefined && this.text !== this.open.saved;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("beforeunload", this.guard);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("beforeunload", this.guard);
    if (this.open && this.isChanged) keep.setText(this.draftOf(this.open.name), this.text);
  }

  /** What was written and not saved when the page was left. */
  private draftOf(name: string): string {
    return `file.${this.agentId}.${name}`;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("agentId")) void this.list();
  }

  private async list(): Promise<void> {
    try {
      const { files, workspace } = await this.context.link.request("agents.files.list", { agentId: this.agentId });
      this.files = files;
      this.workspace = workspace;
      this.failure = undefined;
      const first = files.find(({ missing }) => !missing) ?? files[0];
      if (!this.open && first) await this.show(first.name);
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  private async mayLeave(): Promise<boolean> {
    if (!this.isChanged) return true;
    return this.context.dialogs.confirm({
      title: "Discard changes?",
      body: `${this.open?.name} has changes that are not saved.`,
      yes: "Discard",
      danger: true,
    });
  }

  private async show(name: string): Promise<void> {
    if (!(await this.mayLeave())) return;
    try {
      const { file } = await this.context.link.request("agents.files.get", { agentId: this.agentId, name });
      const saved = file.content ?? "";
      const draft = keep.text(this.draftOf(name));
      keep.setText(this.draftOf(name), undefined);
      this.text = draft ?? saved;
      this.open = { name, missing: file.missing, saved, updatedAtMs: file.updatedAtMs };
    } catch (error) {
      this.context.toasts.warn(failureText(error));
    }
  }

  /** Asks first when the file was changed elsewhere since it was opened. */
  private async save(): Promise<void> {
    const { link, toasts, dialogs } = this.context;
    const { open } = this;
    if (!open || this.busy) return;
    this.busy = true;
    try {
      const { file: now } = await link.request("agents.files.get", { agentId: this.agentId, name: open.name });
      const body = "The file was changed since you opened it, by the agent or by someone else. Saving replaces that.";
      if ((now.content ?? "") !== open.saved && !(await dialogs.confirm({ title: `Replace ${open.name}?`, body, yes: "Replace", danger: true }))) return;
      const { file } = await link.request("agents.files.set", { agentId: this.agentId, name: open.name, content: this.text });
      this.open = { name: open.name, missing: false, saved: this.text, updatedAtMs: file.updatedAtMs };
      toasts.say(`${open.name} was saved.`);
      await this.list();
    } catch (error) {
      toasts.warn(failureText(error));
    } finally {
      this.busy = false;
    }
  }

  private editor(): TemplateResult | typeof nothing {
    const { open } = this;
    if (!open) return nothing;
    const writes = this.context.link.may("operator.admin");
    return html`<div class="stack">
      <div class="row wrap">
        <h3 class="grow">${open.name}</h3>
        <span class="faint" role="status"
          >${this.isChanged ? "not saved" : open.missing ? "is not there yet" : open.updatedAtMs === undefined ? "" : `saved ${ago(open.updatedAtMs)}`}</span
        >
        ${
          writes
            ? html`<button class="small" ?disabled=${!this.isChanged} @click=${() => (this.text = open.saved)}>Revert</button>
                <button class="small primary" ?disabled=${!this.isChanged || this.busy} @click=${() => void this.save()}>Save</button>`
            : nothing
        }
      </div>
      <textarea
        aria-label=${open.name}
        spellcheck="false"
        ?readonly=${!writes}
        .value=${this.text}
        @input=${(event: Event) => (this.text = (event.target as HTMLTextAreaElement).value)}
      ></textarea>
    </div>`;
  }

  protected override render(): TemplateResult {
    if (this.failure !== undefined) return failedNote(this.failure, () => void this.list());
    if (!this.files) return loadingLine();
    return html`<p class="faint words">In <code>${this.workspace}</code>. The agent reads these at the start of a conversation.</p>
      <br />
      <div class="two">
        <ul>
          ${this.files.map(
            ({ name, missing, size }) =>
              html`<li>
                <button aria-current=${this.open?.name === name} @click=${() => void this.show(name)}>
                  <span class="cut">${name}</span><span class="faint">${missing ? "none" : bytes(size ?? 0)}</span>
                </button>
              </li>`,
          )}
        </ul>
        ${this.editor()}
      </div>`;
  }
}
customElements.define("oc-agent-files", AgentFiles);
