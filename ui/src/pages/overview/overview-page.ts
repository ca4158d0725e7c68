import { html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { Page } from "../../shell/page.ts";
import { agentsCard, channelsCard, presenceCard, problemsCard, runsCard, tiles, type Agents, type Beat, type Health } from "./overview-cards.ts";
import { channelLines, verdictOf, type ChannelLine, type Overview, type Presence } from "./overview-facts.ts";
import { overviewLook } from "./overview-look.ts";
import "./usage-card.ts";
import { daysUntil, type UsageAnswer } from "./usage-series.ts";

const NOW_MS = 3000;
const SLOW_MS = 15_000;
const USAGE_MS = 60_000;

/** Is everything all right? And what it does, who is there, what it costs. */
export class OverviewPage extends Page {
  static override styles = [sheet, overviewLook];
  @state() private overview: Overview | undefined;
  @state() private failure: string | undefined;
  @state() private channels: readonly ChannelLine[] | undefined;
  @state() private agents: Agents | undefined;
  @state() private health: Health | undefined;
  @state() private presence: Presence | undefined;
  @state() private beat: Beat | null | undefined;
  @state() private usage: UsageAnswer | undefined;
  @state() private allowances: MethodResult<"usage.status"> | undefined;
  @state() private days = 30;

  override connectedCallback(): void {
    super.connectedCallback();
    const { link } = this.context;
    this.every(NOW_MS, () => void this.loadNow());
    this.every(SLOW_MS, () => void this.loadSlow());
    this.every(USAGE_MS, () => void this.loadUsage());
    this.during(link.on("health", (health) => (this.health = health)));
    this.during(link.on("heartbeat", (beat) => (this.beat = beat)));
    this.during(link.on("presence", ({ presence }) => (this.presence = [...presence])));
  }

  override async load(): Promise<void> {
    await Promise.all([this.loadNow(), this.loadSlow(), this.loadUsage()]);
  }

  private async loadNow(): Promise<void> {
    try {
      this.overview = await this.context.link.request("overview", {});
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  /** What one method does not tell, the others still do. */
  private async quietly(work: () => Promise<void>): Promise<void> {
    await work().catch(() => undefined);
  }

  private async loadSlow(): Promise<void> {
    const { link } = this.context;
    await Promise.all([
      this.quietly(async () => void (this.channels = channelLines(await link.request("channels.status", {})))),
      this.quietly(async () => void (this.agents = await link.request("agents.list", {}))),
      this.quietly(async () => void (this.health = await link.request("health", {}))),
      this.quietly(async () => void (this.presence = await link.request("system-presence", {}))),
      this.quietly(async () => void (this.beat = await link.request("last-heartbeat", {}))),
    ]);
  }

  private async loadUsage(): Promise<void> {
    const { link } = this.context;
    const { days } = this;
    const [startDate, endDate] = [daysUntil(Date.now(), days)[0]!, daysUntil(Date.now(), 1)[0]!];
    await Promise.all([
      this.quietly(async () => {
        const usage = await link.request("sessions.usage", { startDate, endDate, limit: 1 });
        if (days === this.days) this.usage = usage;
      }),
      this.quietly(async () => void (this.allowances = await link.request("usage.status", {}))),
    ]);
  }

  private readonly stop = (sessionKey: string, runId: string): void => {
    void this.attempt(async () => {
      await this.context.link.request("chat.abort", { sessionKey, runId });
      await this.loadNow();
    }, "The run is stopped.");
  };

  protected override render(): TemplateResult {
    const { overview, failure } = this;
    if (!overview) {
      return html`<div class="page stack">
        <h1>Overview</h1>
        ${failure === undefined ? nothing : html`<p class="note bad">${failure}</p>`}
      </div>`;
    }
    const verdict = verdictOf(overview, this.channels ?? []);
    const stop = this.context.link.may("operator.write") ? this.stop : undefined;
    return html`<div class="page stack">
      ${failure === undefined ? nothing : html`<p class="note warn">What is shown may be old: ${failure}</p>`}
      <header class="card verdict ${verdict.level}">
        <span class="sign">${icon(verdict.level === "good" ? "check" : "warn", 26)}</span>
        <div class="grow" aria-live="polite">
          <h1>${verdict.text}</h1>
          <p class="soft">${verdict.more}</p>
        </div>
      </header>
      ${tiles(overview, this.health?.durationMs)}
      <div class="cards">
        ${problemsCard(overview)}${runsCard(overview, stop)}${channelsCard(this.channels)}${agentsCard(this.agents, this.health, this.beat)}${presenceCard(this.presence)}
      </div>
      <oc-usage-card .usage=${this.usage} .allowances=${this.allowances} .days=${this.days} @days=${this.chooseDays}></oc-usage-card>
    </div>`;
  }

  private chooseDays({ detail }: CustomEvent<number>): void {
    this.days = detail;
    void this.loadUsage();
  }
}
customElements.define("oc-overview-page", OverviewPage);
