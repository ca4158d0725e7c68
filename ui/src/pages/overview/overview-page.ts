import { html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { pageLook } from "../../parts/page-look.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import {
  activityCard,
  agentsCard,
  attentionCard,
  healthCard,
  presenceCard,
  systemLine,
  type Agents,
  type Beat,
  type Health,
  type Request,
} from "./overview-cards.ts";
import { channelLines, summaryOf, type ChannelLine, type Overview, type Presence } from "./overview-facts.ts";
import { overviewLook } from "./overview-look.ts";
import "./usage-card.ts";
import { daysUntil, type UsageAnswer } from "./usage-series.ts";

const NOW_MS = 3000;
const SLOW_MS = 15_000;
const USAGE_MS = 60_000;

/** Is it healthy, what is it doing, what does it cost? */
export class OverviewPage extends Page {
  static override styles = [sheet, pageLook, overviewLook];
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
  @state() private requests: readonly Request[] = [];

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
      this.quietly(() => this.loadRequests()),
    ]);
  }

  /** Who waits for a decision: commands, senders, devices. What this browser may not see is left out. */
  private async loadRequests(): Promise<void> {
    const { link } = this.context;
    const optional = async <T>(list: Promise<readonly T[]>, show: (item: T) => Request): Promise<readonly Request[]> =>
      list.then((items) => items.map(show)).catch(() => []);
    const found = await Promise.all([
      optional(
        link.request("exec.approval.list", {}).then(({ approvals }) => approvals),
        ({ request }) => ({
          icon: "key",
          title: "Allow a command?",
          detail: request.command,
          href: request.sessionKey ? place("chat", [request.sessionKey]) : place("chat"),
          action: "Review",
        }),
      ),
      optional(
        link.request("channels.pairing.list", {}).then(({ requests }) => requests),
        ({ channel, senderId, code, meta }) => ({
          icon: "agents",
          title: `${meta["name"] ?? meta["username"] ?? senderId} wants to chat`,
          detail: `${channel}, code ${code}`,
          href: place("channels"),
          action: "Review",
        }),
      ),
      optional(
        link.request("device.pair.list", {}).then(({ pending }) => pending),
        ({ displayName, platform, deviceId }) => ({
          icon: "devices",
          title: "New device wants to connect",
          detail: [displayName ?? deviceId.slice(0, 12), platform].filter(Boolean).join(", "),
          href: place("devices"),
          action: "Review",
        }),
      ),
    ]);
    this.requests = found.flat();
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
    }, "Run stopped");
  };

  protected override render(): TemplateResult {
    const { overview, failure } = this;
    if (!overview) {
      return html`<div class="page">
        <header class="head"><h1>Overview</h1></header>
        ${failure === undefined ? nothing : html`<p class="note bad">${failure}</p>`}
      </div>`;
    }
    const summary = summaryOf(overview, this.channels ?? []);
    const stop = this.context.link.may("operator.write") ? this.stop : undefined;
    return html`<div class="page">
      <header class="head"><h1>Overview</h1></header>
      ${failure === undefined ? nothing : html`<p class="note warn">This may be out of date: ${failure}</p>`}
      <div class="summary ${summary.level}">
        <span class="sign">${icon(summary.level === "good" ? "check" : "warn", 20)}</span>
        <div class="grow" aria-live="polite">
          <h2>${summary.text}</h2>
          <p class="soft">${summary.more}</p>
        </div>
      </div>
      <div class="cards">
        ${healthCard(overview, this.channels)}${attentionCard(overview, this.requests)}${activityCard(overview, stop)}${agentsCard(this.agents, this.health, this.beat)}
      </div>
      <oc-usage-card .usage=${this.usage} .allowances=${this.allowances} .days=${this.days} @days=${this.chooseDays}></oc-usage-card>
      <div class="cards last">${presenceCard(this.presence)}</div>
      ${systemLine(overview)}
    </div>`;
  }

  private chooseDays({ detail }: CustomEvent<number>): void {
    this.days = detail;
    void this.loadUsage();
  }
}
customElements.define("oc-overview-page", OverviewPage);
