import { html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { factsLook } from "../../parts/key-value.ts";
import { pageHead } from "../../parts/page-head.ts";
import { failedNote, pageLook } from "../../parts/page-look.ts";
import "../../parts/segmented.ts";
import { skeleton } from "../../parts/skeleton.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { asksAsNode, nodeRequests, platformName } from "../nodes/node-facts.ts";
import { activityCard, activityLook } from "./activity-card.ts";
import { attentionCard, attentionLook, fixButton, type Request } from "./attention-card.ts";
import { COST_DAYS, costCard, costLook, type Budgets } from "./cost-card.ts";
import { healthCard, healthLook, type History } from "./health-card.ts";
import { channelLines, fixOf, headlineOf, summaryOf, type ChannelLine, type Fix, type Overview, type Presence } from "./overview-facts.ts";
import { problemWords } from "./problem-words.ts";
import { overviewLook } from "./overview-look.ts";
import { agentsCard, systemLine, type Agents, type Beat, type Health } from "./system-line.ts";
import "./usage-card.ts";
import { daysUntil, type UsageAnswer } from "./usage-series.ts";
import { t } from "../../words/words.ts";

const NOW_MS = 3000;
const SLOW_MS = 15_000;
const USAGE_MS = 60_000;
const PROBE_MS = 8000;
const START_MS = 30_000;
/** The periods of the history. */
const PERIODS = [24, 168, 720] as const;

/** Is it healthy, what is it doing, what does it cost? */
export class OverviewPage extends Page {
  static override styles = [sheet, pageLook, factsLook, overviewLook, healthLook, attentionLook, activityLook, costLook];
  @state() private overview: Overview | undefined;
  @state() private failure: string | undefined;
  @state() private channels: readonly ChannelLine[] | undefined;
  @state() private agents: Agents | undefined;
  @state() private health: Health | undefined;
  @state() private presence: Presence | undefined;
  @state() private beat: Beat | null | undefined;
  @state() private usage: UsageAnswer | undefined;
  @state() private allowances: MethodResult<"usage.status"> | undefined;
  @state() private recent: UsageAnswer | undefined;
  @state() private budgets: Budgets | undefined;
  @state() private history: History | undefined;
  @state() private labels: Readonly<Record<string, string>> = {};
  @state() private hours: number = PERIODS[0];
  @state() private days = 30;
  @state() private isProbing = false;
  @state() private isOpen = false;
  @state() private requests: readonly Request[] = [];

  override connectedCallback(): void {
    super.connectedCallback();
    const { link } = this.context;
    this.every(NOW_MS, () => void this.loadNow());
    this.every(SLOW_MS, () => void this.loadSlow());
    this.every(USAGE_MS, () => void this.loadUsage());
    this.every(SLOW_MS, () => void this.loadHistory());
    this.during(link.on("health", (health) => (this.health = health)));
    this.during(link.on("heartbeat", (beat) => (this.beat = beat)));
    this.during(link.on("presence", ({ presence }) => (this.presence = [...presence])));
  }

  override async load(): Promise<void> {
    await Promise.all([this.loadNow(), this.loadSlow(), this.loadUsage(), this.loadHistory()]);
  }

  private async loadHistory(): Promise<void> {
    const { hours } = this;
    await this.quietly(async () => {
      const history = await this.context.link.request("overview.history", { hours });
      if (hours === this.hours) this.history = history;
    });
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
      this.quietly(async () => this.showChannels(await link.request("channels.status", {}))),
      this.quietly(async () => void (this.agents = await link.request("agents.list", {}))),
      this.quietly(async () => void (this.health = await link.request("health", {}))),
      this.quietly(async () => void (this.presence = await link.request("system-presence", {}))),
      this.quietly(async () => void (this.beat = await link.request("last-heartbeat", {}))),
      this.quietly(() => this.loadRequests()),
    ]);
  }

  private showChannels(status: MethodResult<"channels.status">): void {
    this.channels = channelLines(status);
    this.labels = status.channelLabels;
  }

  private readonly probe = async (): Promise<void> => {
    this.isProbing = true;
    const { link } = this.context;
    const status = await this.attempt(() => link.request("channels.status", { probe: true, timeoutMs: PROBE_MS }, { timeoutMs: PROBE_MS * 3 }));
    if (status) this.showChannels(status);
    this.isProbing = false;
    if (status) this.context.toasts.say(t("Connections checked"));
  };

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
          title: t("Allow a command?"),
          detail: request.command,
          href: request.sessionKey ? place("chat", [request.sessionKey]) : place("chat"),
          action: t("Review"),
        }),
      ),
      optional(
        link.request("channels.pairing.list", {}).then(({ requests }) => requests),
        ({ channel, senderId, code, meta }) => ({
          icon: "agents",
          title: t`${meta["name"] ?? meta["username"] ?? senderId} wants to chat`,
          detail: t`${channel}, code ${code}`,
          href: place("channels"),
          action: t("Review"),
        }),
      ),
      optional(
        link.request("device.pair.list", {}).then(({ pending }) => pending.filter((device) => !asksAsNode(device))),
        ({ displayName, platform, deviceId }) => ({
          icon: "devices",
          title: t("New device wants to connect"),
          detail: [displayName ?? deviceId.slice(0, 12), platform].filter(Boolean).join(", "),
          href: place("devices"),
          action: t("Review"),
        }),
      ),
      optional(
        Promise.all([link.request("device.pair.list", {}), link.request("node.pair.list", {})]).then(([devices, own]) =>
          nodeRequests(devices.pending, own.pending),
        ),
        ({ name, platform }) => ({
          icon: "node",
          title: t("New node wants to connect"),
          detail: [name, platformName(platform)].filter(Boolean).join(", "),
          href: place("nodes"),
          action: t("Review"),
        }),
      ),
    ]);
    this.requests = found.flat();
  }

  private async loadUsage(): Promise<void> {
    const { link } = this.context;
    const { days } = this;
    const now = Date.now();
    const used = (count: number) => link.request("sessions.usage", { startDate: daysUntil(now, count)[0]!, endDate: daysUntil(now, 1)[0]!, limit: 1 });
    await Promise.all([
      this.quietly(async () => {
        const usage = await used(days);
        if (days === this.days) this.usage = usage;
      }),
      this.quietly(async () => void (this.recent = await used(COST_DAYS))),
      this.quietly(async () => void (this.budgets = await link.request("usage.budgets", {}))),
      this.quietly(async () => void (this.allowances = await link.request("usage.status", {}))),
    ]);
  }

  private readonly stop = (sessionKey: string, runId: string): void => {
    void this.attempt(async () => {
      await this.context.link.request("chat.abort", { sessionKey, runId });
      await this.loadNow();
    }, t("Run stopped"));
  };

  private readonly fix = (fix: Fix): void => {
    if (fix.kind === "link") return this.context.router.go(fix.href);
    const { channel, accountId } = fix;
    void this.attempt(async () => {
      await this.context.link.request("channels.start", { channel, accountId, restart: true }, { timeoutMs: START_MS });
      await Promise.all([this.loadNow(), this.loadSlow()]);
    }, t("Account restarted"));
  };

  private head(): TemplateResult {
    return pageHead({
      title: t("Overview"),
      actions: html`<oc-segmented
          label=${t("Period")}
          .value=${String(this.hours)}
          .options=${PERIODS.map((hours) => ({ value: String(hours), label: hours === 24 ? t("24 hours") : t`${hours / 24} days` }))}
          @choose=${({ detail }: CustomEvent<string>) => {
            this.hours = Number(detail);
            void this.loadHistory();
          }}
        ></oc-segmented>
        <button class="probe" aria-label=${t("Check connections")} aria-busy=${this.isProbing} @click=${() => void this.probe()}>
          ${icon("retry", 15)} <span>${t("Check connections")}</span>
        </button>`,
    });
  }

  /** Whether it is healthy, in one sentence; what is worst, with its fix. */
  private summary(overview: Overview): TemplateResult {
    const { level, text, more } = summaryOf(overview, this.channels ?? []);
    const worst = headlineOf(overview.problems);
    return html`<div class="summary ${level}">
      <span class="sign">${icon(level === "good" ? "check" : "warn", 20)}</span>
      <div class="grow" aria-live="polite">
        <h2>${text}</h2>
        <p class="soft two">${worst ? html`${problemWords(worst.text)}${/[.!?]$/.test(worst.text) ? "" : "."} ${problemWords(worst.todo ?? "")}` : more}</p>
      </div>
      ${worst ? fixButton(fixOf(worst, this.context.link.may("operator.admin")), this.fix, "primary") : nothing}
    </div>`;
  }

  private cards(overview: Overview): TemplateResult {
    const { link } = this.context;
    const worst = headlineOf(overview.problems);
    const attention = {
      requests: this.requests,
      problems: overview.problems.filter((problem) => problem !== worst),
      now: overview.ts,
      mayChange: link.may("operator.admin"),
      isOpen: this.isOpen,
      open: () => (this.isOpen = true),
      run: this.fix,
    };
    const stop = link.may("operator.write") ? this.stop : undefined;
    return html`<div class="cards">
      ${healthCard(overview, this.channels, this.history, this.hours)}${attentionCard(attention)}
      ${activityCard({ overview, history: this.history, labels: this.labels, stop })}${costCard(this.recent, this.budgets)}
    </div>`;
  }

  protected override render(): TemplateResult {
    const { overview, failure } = this;
    if (!overview)
      return html`${this.head()}
        <div class="page">${failure === undefined ? skeleton(6) : failedNote(failure, () => void this.load())}</div>`;
    return html`${this.head()}
      <div class="page">
        ${failure === undefined ? nothing : html`<p class="note warn">${t`This may be out of date: ${failure}`}</p>`}
        ${this.summary(overview)}${this.cards(overview)}
        <oc-usage-card
          .usage=${this.usage}
          .allowances=${this.allowances}
          .days=${this.days}
          @days=${({ detail }: CustomEvent<number>) => {
            this.days = detail;
            void this.loadUsage();
          }}
        ></oc-usage-card>
        ${agentsCard(this.agents, this.health, this.beat)}${systemLine(overview, this.presence)}
      </div>`;
  }
}
customElements.define("oc-overview-page", OverviewPage);
