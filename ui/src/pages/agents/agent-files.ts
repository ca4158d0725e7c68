import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { ago, bytes } from "../../base/figures.ts";
import { keep } from "../../base/keep.ts";
import { randomId } from "../../base/random-id.ts";
import { failureText, isConflict } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { failedNote, pageLook } from "../../parts/page-look.ts";
import "../../parts/segmented.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";
import "../memory/note-conflict.ts";
import type { ConflictChoice } from "../memory/note-conflict.ts";
import "./file-history.ts";

type File = MethodResult<"agents.files.list">["files"][number];

/** A file as it was read. */
interface OpenFile {
  readonly name: string;
  readonly missing: boolean;
  readonly saved: string;
  /** Empty while there is no such file; undefined when the gateway does not say. */
  readonly hash: string | undefined;
  /** Of the file that a draft was written on, when it is another by now. */
  readonly draftOn?: string;
  readonly updatedAtMs: number | undefined;
}

/** What was written and not saved, with the file that it was written on. */
interface Draft {
  readonly text: string;
  readonly hash: string | undefined;
}

/** The files that shape an agent, to be read and changed. */
export class AgentFiles extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    skeletonLook,
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
        box-shadow: none;
      }
      li button:hover {
        background: var(--fill);
      }
      li button[aria-current="true"] {
        background: var(--selected);
      }
      li button[aria-current="true"] .faint {
        color: var(--ink-soft);
      }
      h2 {
        flex: 1 0 auto;
        font-size: var(--type-ui);
      }
      textarea {
        min-height: 420px;
        font-family: var(--mono);
        font-size: var(--type-ui) !important;
        line-height: 1.5;
        resize: vertical;
      }
      @media (max-width: 760px) {
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
  @state() private open: OpenFile | undefined;
  @state() private view: "text" | "history" = "text";
  /** What someone else made of the file while it was edited. */
  @state() private conflict: OpenFile | undefined;
  @state() private text = "";
  @state() private busy = false;
  /** Answers to older questions than this are dropped. */
  private asked = 0;
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
    if (this.open && this.isChanged) keep.setJson(this.draftOf(this.open.name), { text: this.text, hash: this.open.draftOn ?? this.open.hash } satisfies Draft);
  }

  /** What was written and not saved when the page was left. */
  private draftOf(name: string): string {
    return `draft.${this.agentId}.${name}`;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("agentId")) return;
    this.asked += 1;
    void this.list();
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
      title: t("Discard changes?"),
      body: t`${this.open?.name} has unsaved changes.`,
      yes: t("Discard"),
      danger: true,
    });
  }

  /** The file as it is on disk now. */
  private async read(name: string): Promise<OpenFile> {
    const { file } = await this.context.link.request("agents.files.get", { agentId: this.agentId, name });
    const hash = file.hash ?? (file.missing && this.hasHistory ? "" : undefined);
    return { name, missing: file.missing, saved: file.content ?? "", hash, updatedAtMs: file.updatedAtMs };
  }

  private get hasHistory(): boolean {
    return this.context.link.has("agents.files.versions");
  }

  private async show(name: string): Promise<void> {
    const { open } = this;
    if (open?.name === name || !(await this.mayLeave())) return;
    const { text } = this;
    const mine = (this.asked += 1);
    try {
      const now = await this.read(name);
      // What was typed while it was read stays, and what was chosen last is opened.
      if (mine !== this.asked || (this.open === open && this.text !== text)) return;
      const draft = keep.json<Draft>(this.draftOf(name));
      keep.setJson(this.draftOf(name), undefined);
      this.text = draft?.text ?? now.saved;
      // Saving compares with what the draft was written on: a file that changed since is not overwritten.
      this.open = draft?.hash === undefined ? now : { ...now, draftOn: draft.hash };
    } catch (error) {
      this.context.toasts.warn(failureText(error));
    }
  }

  private async save(hash = this.open?.draftOn ?? this.open?.hash): Promise<void> {
    const { link, toasts } = this.context;
    const { open, text } = this;
    if (!open || this.busy) return;
    this.busy = true;
    try {
      const params = { agentId: this.agentId, name: open.name, content: text, idempotencyKey: randomId() };
      const { file } = await link.request("agents.files.set", hash === undefined ? params : { ...params, hash });
      this.open = { name: open.name, missing: false, saved: text, hash: file.hash, updatedAtMs: file.updatedAtMs };
      this.conflict = undefined;
      toasts.say(t`${open.name} was saved.`);
      await this.list();
    } catch (error) {
      if (isConflict(error)) await this.compare(open.name);
      else toasts.warn(failureText(error));
    } finally {
      this.busy = false;
    }
  }

  /** Shows what someone else wrote beside what was written here. */
  private async compare(name: string): Promise<void> {
    try {
      const now = await this.read(name);
      if (now.saved === this.text) this.take(now);
      else this.conflict = now;
    } catch (error) {
      this.context.toasts.warn(t`${name} was not saved. It was changed elsewhere, and it could not be read: ${failureText(error)}`);
    }
  }

  private take(now: OpenFile): void {
    this.open = now;
    this.text = now.saved;
    this.conflict = undefined;
    void this.list();
  }

  private choose(choice: ConflictChoice): void {
    const { conflict } = this;
    this.conflict = undefined;
    if (!conflict || choice === "edit") return this.renderRoot.querySelector("textarea")?.focus();
    if (choice === "mine") void this.save(conflict.hash);
    else this.take(conflict);
  }

  /** The file is another than it was read. What was typed stays; saving compares. */
  private async changed(discards: boolean): Promise<void> {
    if (!this.open || (this.isChanged && !discards)) return;
    try {
      this.take(await this.read(this.open.name));
    } catch (error) {
      this.context.toasts.warn(failureText(error));
    }
  }

  private keys(event: KeyboardEvent): void {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    if (this.isChanged) void this.save();
  }

  private head(open: OpenFile, writes: boolean): TemplateResult {
    const state = this.isChanged
      ? t("not saved")
      : open.missing
        ? t("does not exist yet")
        : open.updatedAtMs === undefined
          ? ""
          : t`saved ${ago(open.updatedAtMs)}`;
    return html`<div class="row wrap">
      <h2>${open.name}</h2>
      <span class="faint" role="status">${state}</span>
      ${
        this.hasHistory
          ? html`<oc-segmented
              label=${t("View")}
              .value=${this.view}
              .options=${[
                { value: "text", label: t("Text") },
                { value: "history", label: t("History") },
              ]}
              @choose=${(event: CustomEvent<"text" | "history">) => (this.view = event.detail)}
            ></oc-segmented>`
          : nothing
      }
      ${
        writes && this.view === "text"
          ? html`<button class="small" ?disabled=${!this.isChanged} @click=${() => (this.text = open.saved)}>${t("Revert")}</button>
              <button class="small primary" ?disabled=${!this.isChanged || this.busy} @click=${() => void this.save()}>${t("Save")}</button>`
          : nothing
      }
    </div>`;
  }

  private editor(): TemplateResult | typeof nothing {
    const { open } = this;
    if (!open) return nothing;
    const writes = this.context.link.may("operator.admin");
    return html`<div class="stack">
      ${this.head(open, writes)}
      ${
        this.view === "history" && this.hasHistory
          ? html`<oc-file-history
              .context=${this.context}
              .agentId=${this.agentId}
              .name=${open.name}
              .hash=${open.hash ?? ""}
              ?dirty=${this.isChanged}
              @changed=${(event: CustomEvent<{ discards: boolean } | null>) => void this.changed(event.detail?.discards === true)}
            ></oc-file-history>`
          : html`<textarea
              aria-label=${open.name}
              spellcheck="false"
              ?readonly=${!writes}
              .value=${this.text}
              @input=${(event: Event) => (this.text = (event.target as HTMLTextAreaElement).value)}
              @keydown=${(event: KeyboardEvent) => this.keys(event)}
            ></textarea>`
      }
    </div>`;
  }

  protected override render(): TemplateResult {
    const failed = this.failure === undefined ? nothing : failedNote(this.failure, () => void this.list());
    if (!this.files) return this.failure === undefined ? skeleton(6, "text") : html`${failed}`;
    const { conflict } = this;
    return html`${failed}
      <p class="faint words">${t("In")} <code>${this.workspace}</code>${t(". The agent reads these at the start of a conversation.")}</p>
      <br />
      <div class="two">
        <ul>
          ${this.files.map(
            ({ name, missing, size }) =>
              html`<li>
                <button aria-current=${this.open?.name === name} @click=${() => void this.show(name)}>
                  <span class="cut">${name}</span><span class="faint">${missing ? t("none") : bytes(size ?? 0)}</span>
                </button>
              </li>`,
          )}
        </ul>
        ${this.editor()}
      </div>
      ${
        conflict
          ? html`<oc-note-conflict
              .path=${conflict.name}
              .saved=${conflict.saved}
              .mine=${this.text}
              ?gone=${conflict.missing}
              @choose=${(event: CustomEvent<ConflictChoice>) => this.choose(event.detail)}
            ></oc-note-conflict>`
          : nothing
      }`;
  }
}
customElements.define("oc-agent-files", AgentFiles);
