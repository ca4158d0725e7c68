import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { ago } from "../../base/figures.ts";
import { editConfig } from "../../link/edit-config.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { failedNote, missingNote } from "../../parts/page-look.ts";
import { section, sectionLook } from "../../parts/section.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { badge } from "../../parts/state.ts";
import { Page } from "../../shell/page.ts";
import { t } from "../../words/words.ts";
import { fixWords, SEVERITIES, summaryWords, topicWords, type Audit, type Finding, type Fix } from "./security-facts.ts";

const LOOK_MS = 400;

/** What an attacker could use, and the repairs that are safe to make. */
export class SecurityPage extends Page {
  static override styles = [
    sheet,
    pageHeadLook,
    sectionLook,
    skeletonLook,
    emptyLook,
    css`
      .rows h3 {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
        align-items: baseline;
        font-weight: 500;
        font-size: var(--type-row);
      }
      .title {
        display: inline-block;
      }
      .title::first-letter {
        text-transform: uppercase;
      }
      .rows p {
        margin-top: 4px;
        font-size: var(--type-ui);
        overflow-wrap: anywhere;
      }
      .todo {
        display: flex;
        gap: 8px;
        align-items: baseline;
      }
      .rows .row {
        justify-content: space-between;
      }
      progress {
        width: 100%;
      }
    `,
  ];
  @state() private audit: Audit | undefined;
  @state() private failure: string | undefined;
  @state() private running: "plain" | "deep" | undefined;
  @state() private progress: { readonly done: number; readonly total: number; readonly name: string } | undefined;
  @state() private fixing: ReadonlySet<string> = new Set();

  override async load(): Promise<void> {
    if (!this.may()) return;
    await this.examine(this.audit?.deep !== undefined);
  }

  private may(): boolean {
    const { link } = this.context;
    return link.has("security.audit") && link.may("operator.admin");
  }

  private async examine(deep: boolean): Promise<void> {
    if (this.running) return;
    const { link } = this.context;
    this.running = deep ? "deep" : "plain";
    const timer = setInterval(() => void this.look(), LOOK_MS);
    try {
      this.audit = await link.request("security.audit", deep ? { deep } : {}, { timeoutMs: 300_000 });
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    } finally {
      clearInterval(timer);
      this.running = undefined;
      this.progress = undefined;
    }
  }

  private async look(): Promise<void> {
    const { running } = await this.context.link.request("security.progress", {}).catch(() => ({ running: null }));
    if (this.running) this.progress = running ?? undefined;
  }

  private async fix(fix: Fix): Promise<void> {
    const { link, toasts } = this.context;
    this.fixing = new Set([...this.fixing, fix.id]);
    const done = await this.attempt(() => link.request("security.fix", { id: fix.id }));
    this.fixing = new Set([...this.fixing].filter((id) => id !== fix.id));
    if (done && fix.kind === "config") toasts.say(t`${fix.path} is now ${fix.after}`, { label: t("Undo"), run: () => void this.undo(fix) });
    else if (done) toasts.say(t`${fix.path} is now private`);
    await this.load();
  }

  /** The configuration's versions hold the value before; only this one is put back. */
  private async undo({ path, before }: Fix): Promise<void> {
    await this.attempt(() => editConfig(this.context.link, () => ({ set: [{ path, value: before }] })), t`${path} is ${before} again`);
    await this.load();
  }

  private finding({ checkId, title, detail, remediation }: Finding): TemplateResult {
    return html`<li>
      <h3><span class="title">${title}</span> <code class="faint">${checkId}</code></h3>
      <p class="soft">${detail}</p>
      ${remediation === undefined ? nothing : html`<p class="todo">${icon("tool", 14)}<span>${remediation}</span></p>`}
    </li>`;
  }

  private fixes(fixes: readonly Fix[]): TemplateResult | typeof nothing {
    if (fixes.length === 0) return nothing;
    return section({
      id: "fixes",
      title: t("Safe fixes"),
      fact: t("Nothing changes until you press Apply"),
      body: html`<ul class="rows">
        ${fixes.map(
          (fix) =>
            html`<li class="row wrap">
              <span class="grow words">${fixWords(fix)}</span>
              <button class="small" aria-label=${t`Apply: ${fixWords(fix)}`} aria-busy=${this.fixing.has(fix.id)} @click=${() => void this.fix(fix)}>
                ${t("Apply")}
              </button>
            </li>`,
        )}
      </ul>`,
    });
  }

  private report(audit: Audit): TemplateResult {
    const { findings, fixes, deep } = audit;
    const problems = findings.filter(({ severity }) => severity !== "info").length;
    return html`${this.fixes(fixes)}
    ${problems === 0 ? section({ id: "fine", title: t("Result"), body: emptyState({ icon: "check", title: t("No problems found"), text: t("The checks found nothing that an attacker could use.") }) }) : nothing}
    ${SEVERITIES.map(({ severity, title, tone }) => {
      const own = findings.filter((finding) => finding.severity === severity);
      if (own.length === 0) return nothing;
      return section({
        id: severity,
        title,
        fact: badge(tone, String(own.length)),
        body: html`<ul class="rows">
          ${own.map((finding) => this.finding(finding))}
        </ul>`,
      });
    })}
    ${
      deep?.gateway.attempted
        ? html`<p class="faint words">
            ${deep.gateway.ok ? t`Checked from outside: the gateway answers at ${deep.gateway.url ?? ""}.` : (deep.gateway.error ?? "")}
          </p>`
        : nothing
    }`;
  }

  private working(): TemplateResult {
    const { progress } = this;
    const name = progress ? topicWords(progress.name) : "";
    return html`<div class="note" role="status">
      ${this.running === "deep" ? t("Deep audit is running") : t("Audit is running")}${name === "" ? "…" : t`: ${name}`}
      <progress max=${progress?.total || 1} .value=${progress?.done ?? 0} aria-label=${t("Progress of the audit")}></progress>
    </div>`;
  }

  protected override render(): TemplateResult {
    const { audit, failure, running } = this;
    if (!this.may())
      return html`${pageHead({ title: t("Security") })}
        <div class="page">${missingNote(t("The security audit"))}</div>`;
    return html`${pageHead({
        title: t("Security"),
        fact: audit ? `${summaryWords(audit)} · ${t`checked ${ago(audit.ts)}`}` : undefined,
        actions: html`<button ?disabled=${running !== undefined} @click=${() => void this.examine(true)}>${t("Deep audit")}</button>
          <button ?disabled=${running !== undefined} @click=${() => void this.examine(false)}>${icon("retry", 16)}${t("Check again")}</button>`,
      })}
      <div class="page" aria-busy=${running !== undefined}>
        ${failure === undefined ? nothing : failedNote(failure, () => void this.load())}
        ${running !== undefined && (audit || running === "deep") ? this.working() : nothing}
        ${audit ? this.report(audit) : failure === undefined ? skeleton(6, "text") : nothing}
      </div>`;
  }
}
customElements.define("oc-security-page", SecurityPage);
