import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { copyText } from "../../base/copy-text.ts";
import { ago, exactly } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/copy-button.ts";
import "../../parts/disclosure.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { failedNote, missingNote } from "../../parts/page-look.ts";
import { section, sectionLook } from "../../parts/section.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { stateDot } from "../../parts/state.ts";
import { Page } from "../../shell/page.ts";
import { t } from "../../words/words.ts";
import { prose } from "../chat/markdown/draw.ts";
import { proseLook } from "../chat/markdown/look.ts";
import { availability, type UpdateStatus } from "./update-facts.ts";

/** The version that runs, newer ones, and how to get there. */
export class UpdatePage extends Page {
  static override styles = [
    sheet,
    pageHeadLook,
    sectionLook,
    factsLook,
    skeletonLook,
    proseLook,
    css`
      .prose {
        font-size: var(--type-ui);
        overflow-wrap: anywhere;
      }
      .known {
        margin-bottom: 12px;
        font-size: var(--type-row);
      }
      .known .state {
        white-space: normal;
      }
      ul.incoming {
        margin: 12px 0 0;
        padding-inline-start: 18px;
        font-size: var(--type-ui);
      }
    `,
  ];
  @state() private status: UpdateStatus | undefined;
  @state() private failure: string | undefined;
  @state() private busy: "check" | "restart" | undefined;
  /** The gateway whose restart was asked for. */
  private restarting: number | undefined;

  private may(): boolean {
    const { link } = this.context;
    return link.has("update.status") && link.may("operator.admin");
  }

  /** Also called when the page is connected again after the restart. */
  override async load(): Promise<void> {
    if (!this.may()) return;
    try {
      this.status = await this.context.link.request("update.status", {});
      this.failure = undefined;
    } catch (error) {
      if (this.context.link.state.value.kind === "open") this.failure = failureText(error);
      return;
    }
    if (this.restarting === undefined || this.status.startedAtMs <= this.restarting) return;
    this.restarting = undefined;
    this.busy = undefined;
    this.context.toasts.say(t("The gateway restarted and is connected again"));
  }

  private async check(): Promise<void> {
    this.busy = "check";
    const status = await this.attempt(() => this.context.link.request("update.check", { confirm: true }, { timeoutMs: 120_000 }));
    this.busy = undefined;
    if (status) this.status = status;
  }

  private async restart(): Promise<void> {
    const { dialogs, link } = this.context;
    const body = t("Running answers get up to 30 seconds to finish and continue after the restart if needed. This page reconnects automatically.");
    if (!(await dialogs.confirm({ title: t("Restart the gateway?"), body, yes: t("Restart") }))) return;
    this.busy = "restart";
    this.restarting = this.status?.startedAtMs;
    if (!(await this.attempt(() => link.request("update.restart", { confirm: true })))) {
      this.busy = undefined;
      this.restarting = undefined;
    }
  }

  private version(status: UpdateStatus): TemplateResult {
    const { version, onDisk, git, startedAtMs, node, isService, root } = status;
    const { tone, text } = availability(status);
    return section({
      id: "version",
      title: t("This version"),
      body: html`<div class="inside">
        <p class="known" role="status">${stateDot(tone, text)}</p>
        ${facts([
          [t("Version"), version],
          [t("On disk"), onDisk === version ? undefined : onDisk],
          [t("Commit"), git ? html`<code>${git.commit.slice(0, 12)}</code> ${git.subject}` : undefined],
          [t("Branch"), git ? (git.branch ?? t("No branch")) : undefined],
          [t("Upstream"), git?.upstream],
          [t("Last fetched"), git?.fetchedAtMs ? html`<span title=${exactly(git.fetchedAtMs)}>${ago(git.fetchedAtMs)}</span>` : undefined],
          [t("Changed files"), git?.dirty ? t("The program’s own files were changed by hand") : undefined],
          [t("Gateway started"), html`<span title=${exactly(startedAtMs)}>${ago(startedAtMs)}</span>`],
          [t("Runs as"), isService ? t("A service") : t("A process in a terminal")],
          [t("Folder"), root],
          ["Node", node],
        ])}
        ${status.problem === null ? nothing : html`<div class="note bad" role="alert">${status.problem}</div>`}
        ${
          git && git.incoming.length > 0
            ? html`<oc-disclosure label=${t("Newer commits")} fact=${String(git.behind ?? git.incoming.length)}
                ><ul class="incoming">
                  ${git.incoming.map((subject) => html`<li class="words">${subject}</li>`)}
                </ul></oc-disclosure
              >`
            : nothing
        }
      </div>`,
    });
  }

  private command(text: string): TemplateResult {
    return html`<div class="cmd"><code>${text}</code><oc-copy-button what=${t("the command")} .text=${text}></oc-copy-button></div>`;
  }

  private howTo({ commands, restartCommand, git }: UpdateStatus): TemplateResult {
    return section({
      id: "how",
      title: t("Update"),
      fact: git ? t("This is a Git checkout: update it in a terminal") : undefined,
      body: html`<div class="inside">
        ${
          commands.length === 0
            ? html`<p class="soft">${t("Update the program the way it was installed, then start it again:")}</p>
                ${this.command(restartCommand)}`
            : commands.map((line) => this.command(line))
        }
        <p class="faint">
          ${t("“Restart gateway” loads configuration, plugins and channels again within the running process. A new build is used only by a new process: the last command starts one.")}
        </p>
      </div>`,
    });
  }

  private changes({ changes }: UpdateStatus): TemplateResult | typeof nothing {
    if (changes.length === 0) return nothing;
    const copy = (text: string): void => void this.attempt(() => copyText(text), t("Copied"));
    // A level of headings up: the changelog's versions are labels here.
    return section({
      id: "changes",
      title: t("What changed"),
      body: html`<div class="inside">
        ${changes.map(
          ({ version, text }, at) =>
            html`<oc-disclosure label=${version === "Unreleased" ? t("Unreleased") : version} ?open=${at === 0}
              ><div class="prose">${prose(text.replaceAll(/^### /gm, "## "), { copy })}</div></oc-disclosure
            >`,
        )}
      </div>`,
    });
  }

  protected override render(): TemplateResult {
    if (!this.may())
      return html`${pageHead({ title: t("Update") })}
        <div class="page">${missingNote(t("Viewing the version"))}</div>`;
    const { status, failure, busy } = this;
    return html`${pageHead({
        title: t("Update"),
        fact: status?.version,
        actions: html`<button ?disabled=${busy !== undefined} aria-busy=${busy === "restart"} @click=${() => void this.restart()}>
            ${busy === "restart" ? html`<i class="spin"></i>${t("Restarting…")}` : t("Restart gateway")}
          </button>
          ${
            status?.git?.upstream
              ? html`<button ?disabled=${busy !== undefined} aria-busy=${busy === "check"} @click=${() => void this.check()}>
                  ${busy === "check" ? html`<i class="spin"></i>${t("Checking…")}` : html`${icon("retry", 16)}${t("Check for updates")}`}
                </button>`
              : nothing
          }`,
      })}
      <div class="page">
        ${failure === undefined ? nothing : failedNote(failure, () => void this.load())}
        ${status ? html`${this.version(status)}${this.howTo(status)}${this.changes(status)}` : failure === undefined ? skeleton(6, "text") : nothing}
      </div>`;
  }
}
customElements.define("oc-update-page", UpdatePage);
