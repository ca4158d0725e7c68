import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { keyed } from "lit/directives/keyed.js";
import type { MethodResult } from "openclaw/client";
import { money, plural } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { emptyState } from "../../parts/empty.ts";
import "../../parts/filter-box.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { tableLook } from "../../parts/data-table.ts";
import { pageHead } from "../../parts/page-head.ts";
import { failedNote, loadingLine, missingNote, pageLook } from "../../parts/page-look.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import "./day-strip.ts";
import "./job-form.ts";
import { bands, comingText, deliveryText, fits, hourCells, scheduleText, stateOf, type Band, type HourCell, type Job, type Run } from "./job-facts.ts";
import { nextText, offNote, when } from "./job-notes.ts";
import { badge, runTable } from "./run-table.ts";
import { t } from "../../words/words.ts";

const RUNS_SHOWN = 100;
/** A run may take as long as its job lets it. */
const RUN_TIMEOUT_MS = 3_600_000;
/** Events come in bursts: what is shown is fetched once for all of them. */
const SETTLE_MS = 150;
/** Times that are so near are counted in seconds. */
const NEAR_MS = 60_000;
/** What stands in an address for a job that is not there yet. */
const NEW = "new";
/** With fewer jobs there is nothing to search. */
const SEARCHED = 10;
const ALL_JOBS = { title: t("Automation"), href: "jobs" };

interface Loaded {
  readonly jobs: readonly Job[];
  readonly status: MethodResult<"cron.status">;
  readonly coming: MethodResult<"cron.upcoming">;
  readonly cells: readonly HourCell[];
  readonly bands: readonly Band[];
}

/** Work that runs at set times: what comes, how it went, and what to do about it. */
export class JobsPage extends Page {
  static override styles = [
    sheet,
    factsLook,
    pageLook,
    tableLook,
    css`
      td.name {
        max-width: 340px;
      }
      .time,
      thead th {
        white-space: nowrap;
      }
      .phone {
        display: none;
      }
      @media (max-width: 760px) {
        .phone {
          display: block;
          margin-top: 4px;
        }
        td.name {
          width: 100%;
          max-width: 0;
        }
        table.data tbody tr {
          display: grid;
          padding-bottom: 6px;
          border-bottom: 1px solid var(--line);
        }
        table.data tbody td {
          height: auto;
          border: 0;
        }
        table.data td.name {
          padding-top: 12px;
          max-width: none;
        }
        td.actions .row {
          flex-wrap: wrap;
          justify-content: flex-start;
          gap: 0;
          margin-inline-start: -8px;
        }
      }
      .row.end {
        justify-content: flex-end;
      }
      .reason {
        max-width: 420px;
        overflow-wrap: anywhere;
      }
    `,
  ];
  @state() private loaded: Loaded | undefined;
  @state() private runs: { readonly id: string; readonly entries: readonly Run[] } | undefined;
  @state() private failure: string | undefined;
  @state() private filter = "";
  /** Jobs that were asked to run, and have not begun. */
  private readonly starting = new Map<string, string>();
  private settling: ReturnType<typeof setTimeout> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    const { link, toasts } = this.context;
    this.during(
      link.on("cron", ({ jobId, action }) => {
        const name = this.starting.get(jobId);
        if (action === "started" && this.starting.delete(jobId)) toasts.say(t`${name} was started.`);
        this.changed();
      }),
    );
    // What can be done depends on the connection.
    this.during(link.state.subscribe(() => this.requestUpdate()));
    this.during({ [Symbol.dispose]: () => clearTimeout(this.settling) });
    // Times are shown relative to now.
    this.every(30_000, () => void this.load());
    this.every(1000, () => this.hasNearTime() && this.requestUpdate());
  }

  private get isOnline(): boolean {
    return this.context.link.state.value.kind === "open";
  }

  private hasNearTime(): boolean {
    const isNear = (at: number | undefined): boolean => at !== undefined && Math.abs(at - Date.now()) < NEAR_MS;
    return this.loaded?.jobs.some(({ state: { nextRunAtMs, lastRunAtMs } }) => isNear(nextRunAtMs) || isNear(lastRunAtMs)) ?? false;
  }

  private changed(): void {
    this.settling ??= setTimeout(() => {
      this.settling = undefined;
      void this.load();
    }, SETTLE_MS);
  }

  private get jobId(): string | undefined {
    const [id] = this.route.rest;
    return id === NEW ? undefined : id;
  }

  private get isAdmin(): boolean {
    return this.context.link.may("operator.admin");
  }

  override async load(): Promise<void> {
    const { link } = this.context;
    if (!link.has("cron.list")) return;
    const id = this.jobId;
    try {
      const [{ jobs }, status, coming, runs] = await Promise.all([
        link.request("cron.list", { includeDisabled: true }),
        link.request("cron.status", {}),
        link.request("cron.upcoming", {}),
        id === undefined ? undefined : link.request("cron.runs", { id, limit: RUNS_SHOWN }).catch(() => ({ entries: [] })),
      ]);
      const now = Date.now();
      const names = new Map(jobs.map((job) => [job.id, job.name]));
      this.loaded = { jobs, status, coming, cells: hourCells(coming.times, names, now), bands: bands(coming.frequent, jobs, now) };
      this.runs = id === undefined || !runs ? undefined : { id, entries: runs.entries.toReversed() };
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  private async change(work: () => Promise<unknown>, done?: string): Promise<void> {
    await this.attempt(work, done);
    if (this.isOnline) await this.load();
  }

  private run({ id, name }: Job): void {
    const { link, toasts } = this.context;
    // A request would wait for the connection, and run the job when nobody expects it any more.
    if (!this.isOnline) return toasts.warn(t`${name} was not started: there is no connection to the gateway.`);
    this.starting.set(id, name);
    void this.attempt(async () => {
      try {
        const { ran, reason } = await link.request("cron.run", { id }, { timeoutMs: RUN_TIMEOUT_MS });
        if (!ran) toasts.warn(reason === "already-running" ? t`${name} is already running.` : t`${name} did not run.`);
      } finally {
        this.starting.delete(id);
      }
    });
  }

  private turn({ id, name, enabled }: Job): Promise<void> {
    const { link } = this.context;
    const put = (on: boolean): Promise<unknown> => link.request("cron.update", { id, patch: { enabled: on } });
    const undo = { label: t("Undo"), run: () => void this.change(() => put(enabled)) };
    return this.change(async () => {
      await put(!enabled);
      this.context.toasts.say(enabled ? t`${name} was disabled.` : t`${name} was enabled.`, undo);
    });
  }

  private async deleteJob({ id, name }: Job): Promise<void> {
    const { dialogs, link, router } = this.context;
    const body = t("The job will no longer run. A run in progress will finish.");
    if (!(await dialogs.confirm({ title: t`Delete ${name}?`, body, yes: t("Delete"), danger: true }))) return;
    await this.change(() => link.request("cron.remove", { id }), t`${name} was deleted.`);
    if (this.jobId === id) router.go("jobs");
  }

  private actions(job: Job): TemplateResult | typeof nothing {
    if (!this.isAdmin) return nothing;
    const isRunning = job.state.runningAtMs !== undefined;
    const isOffline = !this.isOnline;
    return html`<div class="row end">
      <button class="small plain" aria-label=${t`Run now: ${job.name}`} ?disabled=${isRunning || isOffline} @click=${() => this.run(job)}>
        ${t("Run now")}
      </button>
      <a class="button plain small" aria-label=${t`Edit ${job.name}`} href=${place("jobs", [job.id, "edit"])}>${t("Edit")}</a>
      <button
        class="small plain"
        aria-label=${`${job.enabled ? t("Disable") : t("Enable")} ${job.name}`}
        ?disabled=${isOffline}
        @click=${() => void this.turn(job)}
      >
        ${job.enabled ? t("Disable") : t("Enable")}
      </button>
      <button class="small plain danger" aria-label=${t`Delete ${job.name}`} ?disabled=${isOffline} @click=${() => void this.deleteJob(job)}>
        ${t("Delete")}
      </button>
    </div>`;
  }

  private row(job: Job): TemplateResult {
    const next = job.enabled ? when(job.state.nextRunAtMs, "–") : html`<span class="badge">${t("Disabled")}</span>`;
    return html`<tr>
      <td class="name">
        <div class="cut"><a href=${place("jobs", [job.id])}>${job.name}</a></div>
        <div class="faint cut">${scheduleText(job)}</div>
        <div class="phone">${next}</div>
        <div class="phone">${badge(stateOf(job))}</div>
      </td>
      <td class="less time">${next}</td>
      <td class="less">${badge(stateOf(job))}</td>
      <td class="less time">${when(job.state.lastRunAtMs, "–")}</td>
      <td class="actions">${this.actions(job)}</td>
    </tr>`;
  }

  private table(jobs: readonly Job[]): TemplateResult {
    if (jobs.length === 0) {
      return emptyState({
        icon: "automation",
        title: t("No jobs yet"),
        text: t("Add one here, or ask in a chat: “Remind me every weekday at 9.”"),
        action: html`<a class="button" href="chat">${t("Open chat")}</a>`,
      });
    }
    return html`<div class="scroll data-card">
      <table class="data">
        <thead>
          <tr>
            <th>${t("Job")}</th>
            <th class="less">${t("Next run")}</th>
            <th class="less">${t("Last result")}</th>
            <th class="less">${t("Last run")}</th>
            <th><span class="visually-hidden">${t("Actions")}</span></th>
          </tr>
        </thead>
        <tbody>
          ${jobs.map((job) => this.row(job))}
        </tbody>
      </table>
    </div>`;
  }

  private all({ jobs, status, coming, cells, bands: often }: Loaded): TemplateResult {
    const shown = this.filter.trim() === "" ? jobs : jobs.filter((job) => fits(job, this.filter.trim()));
    const head = pageHead({
      title: t("Automation"),
      fact: html`<span role="status">${plural(jobs.length, t("job"), t("jobs"))}</span>`,
      actions: this.isAdmin ? html`<a class="button primary" href=${place("jobs", [NEW])}>${t("New job")}</a>` : nothing,
    });
    return this.framed(
      head,
      html`${offNote(status)}
        ${
          jobs.length === 0
            ? nothing
            : html`<section>
                <h2>${t("Next 24 hours")}</h2>
                <p class="soft">${comingText(coming)}</p>
                ${coming.runs === 0 ? nothing : html`<p class="faint">${t`Times in ${Intl.DateTimeFormat().resolvedOptions().timeZone}`}</p>`}
                ${coming.runs === 0 ? nothing : html`<oc-day-strip .cells=${cells} .bands=${often}></oc-day-strip>`}
              </section>`
        }
        <section>
          ${
            jobs.length < SEARCHED
              ? nothing
              : html`<div class="row">
                  <oc-filter-box label=${t("Search jobs")} @filter=${(event: CustomEvent<string>) => (this.filter = event.detail)}></oc-filter-box>
                  ${shown.length === jobs.length ? nothing : html`<span class="faint" role="status">${t`${plural(shown.length, t("job"), t("jobs"))} found`}</span>`}
                </div>`
          }
          ${shown.length === 0 && jobs.length > 0 ? html`<div class="empty">${t("No matching jobs")}</div>` : this.table(shown)}
        </section>`,
    );
  }

  private framed(head: TemplateResult, body: TemplateResult): TemplateResult {
    const failed = this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load());
    return html`${head}
      <div class="page">${failed}${body}</div>`;
  }

  private one(job: Job | undefined, id: string): TemplateResult {
    const entries = this.runs?.id === id ? this.runs.entries : undefined;
    const spent = entries?.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0) ?? 0;
    const history = entries
      ? html`<section aria-live="polite">
          <h2>${t("Runs")}</h2>
          ${runTable(entries)}
        </section>`
      : loadingLine();
    if (!job)
      return this.framed(
        pageHead({ title: id, parent: ALL_JOBS }),
        html`<div class="note">${t("The job")} <code>${id}</code> ${t("no longer exists.")}</div>
          ${entries === undefined || entries.length > 0 ? history : nothing}`,
      );
    const { payload, state: facted } = job;
    const failures = facted.consecutiveErrors ?? 0;
    const head = pageHead({
      title: job.name,
      parent: ALL_JOBS,
      fact: html`${job.enabled ? nothing : html`<span class="badge">${t("Disabled")}</span> `}${badge(stateOf(job))}`,
      actions: this.actions(job),
    });
    return this.framed(
      head,
      html`<section class="card">
          ${facts([
            [t("Runs"), scheduleText(job)],
            [t("Next run"), nextText(job)],
            [t("Instructions"), payload.kind === "agentTurn" ? payload.message : payload.text],
            [t("Result"), deliveryText(job)],
            [t("Agent"), job.agentId],
            [t("Model"), payload.kind === "agentTurn" ? payload.model : undefined],
            [t("Description"), job.description],
            [t("Consecutive failures"), failures === 0 ? undefined : String(failures)],
            [t("Cost"), spent === 0 ? undefined : t`${money(spent)} in the runs below`],
            ["Id", html`<code>${job.id}</code>`],
          ])}
        </section>
        ${history}`,
    );
  }

  private form(job: Job | undefined): TemplateResult {
    const { router, toasts, link } = this.context;
    const saved = ({ detail: { id, name } }: CustomEvent<{ readonly id: string; readonly name: string }>): void => {
      toasts.say(job ? t`${name} was changed.` : t`${name} was added.`);
      router.go(place("jobs", [id]));
    };
    return this.framed(
      pageHead({ title: job ? t`Edit ${job.name}` : t("New job"), parent: job ? { title: job.name, href: place("jobs", [job.id]) } : ALL_JOBS }),
      html`${keyed(
        job?.id ?? NEW,
        html`<oc-job-form
          .link=${link}
          .job=${job}
          ?offline=${!this.isOnline}
          @saved=${saved}
          @left=${() => router.go(job ? place("jobs", [job.id]) : "jobs")}
        ></oc-job-form>`,
      )}`,
    );
  }

  private shown(loaded: Loaded): TemplateResult {
    const [id, then] = this.route.rest;
    const job = loaded.jobs.find((one) => one.id === id);
    if (this.isAdmin && (id === NEW || (job && then === "edit"))) return this.form(job);
    return this.jobId === undefined ? this.all(loaded) : this.one(job, this.jobId);
  }

  protected override render(): TemplateResult {
    const { loaded, failure } = this;
    if (loaded) return this.shown(loaded);
    const isThere = this.context.link.has("cron.list");
    return this.framed(
      pageHead({ title: t("Automation") }),
      html`${isThere ? (failure === undefined ? loadingLine() : nothing) : missingNote(t("Scheduling jobs"))}`,
    );
  }
}
customElements.define("oc-jobs-page", JobsPage);
