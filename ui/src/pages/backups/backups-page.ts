import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { randomId } from "../../base/random-id.ts";
import { ago, bytes, exactly } from "../../base/figures.ts";
import { saveFile } from "../../base/save-file.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { dataTable, tableLook } from "../../parts/data-table.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { failedNote, missingNote } from "../../parts/page-look.ts";
import { section, sectionLook } from "../../parts/section.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { badge } from "../../parts/state.ts";
import { Page } from "../../shell/page.ts";
import { t } from "../../words/words.ts";
import { decodePart, endWords, jobWords, type Backup, type BackupJob, type Backups } from "./backup-facts.ts";
import type { BackupWish } from "./backup-dialog.ts";
import "./backup-dialog.ts";
import "../../parts/copy-button.ts";

const LOOK_MS = 500;

/** Copies of the whole state: made, checked, taken along and brought back. */
export class BackupsPage extends Page {
  static override styles = [
    sheet,
    pageHeadLook,
    sectionLook,
    tableLook,
    emptyLook,
    skeletonLook,
    css`
      progress {
        display: block;
        width: 100%;
        margin-top: 8px;
      }
      .note ul {
        margin: 6px 0 0;
        padding-inline-start: 18px;
      }
      .name {
        font-family: var(--mono);
        font-size: var(--type-small);
      }
    `,
  ];
  @state() private backups: Backups | undefined;
  @state() private failure: string | undefined;
  @state() private wish: BackupWish | undefined;
  @state() private fetching: { readonly name: string; readonly done: number; readonly total: number } | undefined;
  /** A job whose end was seen and put away. */
  @state() private dismissed: string | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.every(LOOK_MS, () => {
      if (this.backups?.job?.state === "running") void this.load();
    });
  }

  private may(): boolean {
    const { link } = this.context;
    return link.has("backup.list") && link.may("operator.admin");
  }

  override async load(): Promise<void> {
    if (!this.may()) return;
    try {
      this.backups = await this.context.link.request("backup.list", {});
      this.failure = undefined;
    } catch (error) {
      if (this.context.link.state.value.kind === "open") this.failure = failureText(error);
    }
  }

  private async carryOut(wish: BackupWish, passphrase: string | undefined, includeWorkspace: boolean): Promise<void> {
    const { link } = this.context;
    this.wish = undefined;
    this.dismissed = undefined;
    const secret = passphrase === undefined ? {} : { passphrase };
    const idempotencyKey = randomId();
    await this.attempt(async () => {
      if (wish.kind === "create") return link.request("backup.create", { ...secret, includeWorkspace, idempotencyKey });
      if (wish.kind === "verify") return link.request("backup.verify", { name: wish.backup.name, ...secret, idempotencyKey });
      return link.request("backup.restore", { name: wish.backup.name, ...secret, confirm: true, idempotencyKey });
    });
    await this.load();
  }

  private async download({ name }: Backup): Promise<void> {
    const { link } = this.context;
    const parts: BlobPart[] = [];
    let done = 0;
    await this.attempt(async () => {
      for (;;) {
        const { data, total } = await link.request("backup.read", { name, offset: done });
        const part = decodePart(data);
        // As a blob of its own the browser may put it on disk.
        parts.push(new Blob([part]));
        done += part.length;
        this.fetching = { name, done, total };
        if (done >= total) break;
        if (part.length === 0) throw new Error(t`${name} ended after ${bytes(done)} of ${bytes(total)}. Verify it, then download it again.`);
      }
      saveFile(name, "application/octet-stream", parts);
    });
    this.fetching = undefined;
  }

  private async discard({ name }: Backup): Promise<void> {
    const { link, dialogs } = this.context;
    const sure = await dialogs.confirm({
      title: t`Delete ${name}?`,
      body: t("The file is deleted from the gateway’s machine. This cannot be undone."),
      yes: t("Delete"),
      danger: true,
    });
    if (!sure) return;
    await this.attempt(() => link.request("backup.remove", { name }), t("Backup deleted"));
    await this.load();
  }

  /** Verifying and restoring need the passphrase of an encrypted backup, and a restore an answer to what it does. */
  private begin(wish: BackupWish): void {
    if (wish.kind === "verify" && !wish.backup.encrypted) void this.carryOut(wish, undefined, false);
    else this.wish = wish;
  }

  private working(job: BackupJob): TemplateResult | typeof nothing {
    if (job.state === "running") {
      return html`<div class="note" role="status">
        <div>${jobWords(job)}</div>
        <progress max=${job.total || 1} .value=${job.done} aria-label=${jobWords(job)}></progress>
        <div class="faint cut">${job.label}</div>
      </div>`;
    }
    if (this.dismissed === job.id) return nothing;
    const { good, text, lines } = endWords(job);
    return html`<div class="note ${good ? "" : "bad"}" role=${good ? "status" : "alert"}>
      <div class="row wrap">
        <span class="grow words">${text}</span
        ><button class="small plain" aria-label=${t("Dismiss")} @click=${() => (this.dismissed = job.id)}>${icon("close", 14)}</button>
      </div>
      ${
        lines.length === 0
          ? nothing
          : html`<ul>
              ${lines.map((line) => html`<li class="words">${line}</li>`)}
            </ul>`
      }
    </div>`;
  }

  private origin({ restored, failed }: Backups): TemplateResult | typeof nothing {
    if (failed) {
      return html`<div class="note bad" role="alert">
        ${t`The last restore failed. The previous state is in use: ${failed.reason}`}
        ${failed.path === null ? nothing : html`<div class="faint words">${t`The restored files are in ${failed.path}.`}</div>`}
      </div>`;
    }
    if (!restored) return nothing;
    return html`<div class="note">
      <span title=${exactly(restored.atMs)}>${t`This state was restored ${ago(restored.atMs)} from ${restored.backup}.`}</span>
      ${restored.kept === null ? nothing : html`<div class="faint words">${t`The previous state is in ${restored.kept}. Delete that folder when you no longer need it.`}</div>`}
      ${restored.notes.map((note) => html`<div class="words">${note}</div>`)}
    </div>`;
  }

  private list(backups: Backups): TemplateResult {
    const busy = backups.job?.state === "running";
    return html`${backups.job ? this.working(backups.job) : nothing}${this.origin(backups)}
    ${
      this.fetching
        ? html`<div class="note" role="status">
            ${t`Downloading ${this.fetching.name}: ${bytes(this.fetching.done)} of ${bytes(this.fetching.total)}`}
            <progress max=${this.fetching.total || 1} .value=${this.fetching.done} aria-label=${t("Progress of the download")}></progress>
          </div>`
        : nothing
    }
    ${section({
      id: "list",
      title: t("Backups"),
      fact: html`<span class="words">${backups.folder}</span>`,
      body:
        backups.backups.length === 0
          ? emptyState({
              icon: "download",
              title: t("No backups yet"),
              text: t("A backup is one file with the whole state: conversations, memory, settings, devices. It is made while the gateway runs."),
              action: html`<button ?disabled=${backups.job?.state === "running"} @click=${() => this.begin({ kind: "create" })}>
                ${t("Create the first backup")}
              </button>`,
            })
          : dataTable<Backup>({
              label: t("Backups"),
              rows: backups.backups,
              keyOf: ({ name }) => name,
              columns: [
                {
                  head: t("Created"),
                  cell: ({ createdAtMs, name }) =>
                    html`<span title=${exactly(createdAtMs)}>${ago(createdAtMs)}</span>
                      <div class="faint words">${name}</div>`,
                },
                { head: t("Size"), isNumber: true, cell: ({ bytes: size }) => bytes(size) },
                {
                  head: t("Kind"),
                  isWide: true,
                  cell: ({ encrypted, form }) => (encrypted ? badge("", t("Encrypted")) : form === "folder" ? t("Folder") : t("Archive file")),
                },
              ],
              actions: (backup) => this.actions(backup, busy),
            }),
    })}
    ${section({
      id: "commands",
      title: t("In a terminal"),
      fact: t("For scripts and schedules"),
      body: html`<div class="inside">
        <div class="cmd">
          <code>${backups.commands.create}</code><oc-copy-button what=${t("the command")} .text=${backups.commands.create}></oc-copy-button>
        </div>
        <p class="faint">${t("The gateway has no schedule of its own for backups: run this command from cron or a systemd timer.")}</p>
      </div>`,
    })}`;
  }

  private actions(backup: Backup, busy: boolean): TemplateResult {
    return html`<button class="small plain" ?disabled=${busy} aria-label=${t`Verify ${backup.name}`} @click=${() => this.begin({ kind: "verify", backup })}>
        ${t("Verify")}
      </button>
      ${
        backup.form === "folder"
          ? nothing
          : html`<button class="small plain" aria-label=${t`Download ${backup.name}`} @click=${() => void this.download(backup)}>${t("Download")}</button>`
      }
      <button class="small plain" ?disabled=${busy} aria-label=${t`Restore ${backup.name}`} @click=${() => this.begin({ kind: "restore", backup })}>
        ${t("Restore…")}
      </button>
      <button class="small plain danger" ?disabled=${busy} aria-label=${t`Delete ${backup.name}`} @click=${() => void this.discard(backup)}>
        ${t("Delete")}
      </button>`;
  }

  protected override render(): TemplateResult {
    if (!this.may())
      return html`${pageHead({ title: t("Backups") })}
        <div class="page">${missingNote(t("Viewing backups"))}</div>`;
    const { backups, failure, wish } = this;
    return html`${pageHead({
        title: t("Backups"),
        fact: backups ? (backups.backups[0] ? t`Last one ${ago(backups.backups[0].createdAtMs)}` : t("None yet")) : undefined,
        actions: html`<button class="primary" ?disabled=${backups?.job?.state === "running"} @click=${() => this.begin({ kind: "create" })}>
          ${t("Create backup")}
        </button>`,
      })}
      <div class="page">
        ${failure === undefined ? nothing : failedNote(failure, () => void this.load())}
        ${backups ? this.list(backups) : failure === undefined ? skeleton() : nothing}
      </div>
      ${
        wish
          ? html`<oc-backup-dialog
              .wish=${wish}
              .stateDir=${backups?.stateDir ?? ""}
              @cancel=${() => (this.wish = undefined)}
              @agree=${({ detail }: CustomEvent<{ passphrase: string | undefined; includeWorkspace: boolean }>) =>
                void this.carryOut(wish, detail.passphrase, detail.includeWorkspace)}
            ></oc-backup-dialog>`
          : nothing
      }`;
  }
}
customElements.define("oc-backups-page", BackupsPage);
