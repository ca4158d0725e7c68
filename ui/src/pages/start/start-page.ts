import { css, html, nothing, type LitElement, type TemplateResult } from "lit";
import { query, state } from "lit/decorators.js";
import type { MethodParams, MethodResult } from "openclaw/client";
import { plural } from "../../base/figures.ts";
import { keep } from "../../base/keep.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { answeringText } from "../../parts/answering.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import "./channel-card.ts";
import type { ChannelCard, PairingRequest } from "./channel-card.ts";
import "./key-card.ts";
import type { KeyCard, KeyWish } from "./key-card.ts";
import { offerOwner } from "../channels/offer-owner.ts";
import "./local-card.ts";
import { checklist, keyOutcome, type Outcome, type SetupStatus } from "./outcome.ts";
import "./tour.ts";
import { t } from "../../words/words.ts";

type Step = "key" | "local" | "channel";

const SEEN = "tour.seen";
const LOOK_MS = 3000;

/** First steps: what answers and why, three ways to more, and a tour. */
export class StartPage extends Page {
  static override styles = [
    sheet,
    pageHeadLook,
    skeletonLook,
    css`
      .page {
        display: flex;
      }
      .cards {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr));
        gap: var(--gap);
        align-items: start;
      }
      .cards > * {
        scroll-margin-top: 16px;
      }
      .list {
        list-style: none;
        margin: 0;
        padding: 0;
        display: grid;
        gap: 8px;
      }
      .list li {
        display: flex;
        gap: 10px;
        align-items: baseline;
      }
      .list a {
        white-space: nowrap;
      }
      .mark {
        flex: none;
        width: 18px;
        height: 18px;
        align-self: center;
        border: 1.5px solid var(--line-strong);
        border-radius: 50%;
        display: grid;
        place-items: center;
      }
      .mark.done {
        color: var(--good);
        border-color: var(--good);
        background: var(--good-soft);
      }
      .lead {
        font-size: var(--type-reading);
        line-height: 24px;
        max-width: 72ch;
      }
    `,
  ];
  @state() private status: SetupStatus | undefined;
  @state() private failure: string | undefined;
  @state() private busy: Step | undefined;
  @state() private outcomes: Partial<Record<Step, Outcome>> = {};
  @state() private added: string | undefined;
  @state() private unlinked: string | undefined;
  @state() private requests: readonly PairingRequest[] = [];
  @state() private tourSeen = keep.text(SEEN) !== undefined;
  @query("oc-start-key") private keyCard!: KeyCard | null;
  @query("oc-start-channel") private channelCard!: ChannelCard | null;
  private shownStep: string | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.every(LOOK_MS, () => void this.look());
  }

  override async load(): Promise<void> {
    try {
      this.status = await this.context.link.request("setup.status", {});
      this.noteProgress(this.status);
      this.failure = undefined;
      await this.look();
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  protected override routeChanged(): void {}

  private get step(): string | null {
    return this.route.query.get("step");
  }

  /** The card that the address names is shown, once, and reading goes on there. */
  protected override updated(): void {
    if (!this.status || this.step === this.shownStep) return;
    this.shownStep = this.step;
    if (this.step === null || this.step === "tour") return;
    const card = this.renderRoot.querySelector<LitElement>(`oc-start-${CSS.escape(this.step)}`);
    // Its content is drawn a moment later; before, there is nothing to go to.
    void card?.updateComplete.then(() => {
      card.scrollIntoView({ block: "start" });
      card.shadowRoot?.querySelector<HTMLElement>("#title")?.focus({ preventScroll: true });
    });
  }

  /** Who waits to be let in, and whether the channel that was added is connected. */
  private async look(): Promise<void> {
    const { link } = this.context;
    try {
      if (link.has("channels.pairing.list")) this.requests = (await link.request("channels.pairing.list", {})).requests;
      if (this.added !== undefined) this.tellChannel(this.added, await link.request("channels.status", {}));
    } catch {
      // It is asked again soon; what is shown stays.
    }
  }

  private tellChannel(id: string, { channelAccounts }: MethodResult<"channels.status">): void {
    const accounts = channelAccounts[id] ?? [];
    const label = this.status?.channels.find((channel) => channel.id === id)?.label ?? id;
    this.unlinked = accounts.find(({ linked, enabled }) => linked === false && enabled !== false)?.accountId;
    if (this.unlinked !== undefined) return this.tell("channel", { look: "warn", text: t`${label} is saved. Link your phone with a code.` });
    const failed = accounts.find(({ lastError, connected }) => typeof lastError === "string" && lastError !== "" && connected !== true);
    if (accounts.some(({ connected, running, lastError }) => connected === true || (connected === undefined && running === true && !lastError))) {
      this.tell("channel", { look: "good", text: t`${label} is connected.` });
    } else if (failed) this.tell("channel", { look: "bad", text: t`${label} could not connect.`, detail: String(failed.lastError) });
    else this.tell("channel", { look: "warn", text: t`${label} is saved. Connecting…` });
  }

  private tell(step: Step, outcome: Outcome | undefined): void {
    this.outcomes = { ...this.outcomes, [step]: outcome };
  }

  /** Does a step and tells how it ended. */
  private async take(step: Step, work: () => Promise<Outcome>): Promise<void> {
    this.busy = step;
    this.tell(step, undefined);
    try {
      this.tell(step, await work());
    } catch (error) {
      this.tell(step, { look: "bad", text: failureText(error) });
    }
    this.busy = undefined;
    await this.load();
  }

  private addKey({ provider, label, key, model }: KeyWish): Promise<void> {
    return this.take("key", async () => {
      const given = { provider, ...(key === undefined ? {} : { key }), ...(model === undefined ? {} : { model, check: false }) };
      const answer = await this.context.link.request("setup.key", given);
      this.keyCard?.clear();
      return keyOutcome(label, answer);
    });
  }

  private useLocal(given: MethodParams<"setup.local">): Promise<void> {
    return this.take("local", async () => {
      const { model } = await this.context.link.request("setup.local", given);
      return { look: "good", text: t`${model} is now in use.` };
    });
  }

  private addChannel({ channel, label, fields }: { readonly channel: string; readonly label: string; readonly fields: Record<string, string> }): Promise<void> {
    return this.take("channel", async () => {
      const { reload } = await this.context.link.request("setup.channel", { channel, fields });
      this.channelCard?.clear();
      this.added = channel;
      this.unlinked = undefined;
      return { look: "warn", text: t`${label} is saved${reload.kind === "restart" ? t("; the gateway is restarting") : ""}. Connecting…` };
    });
  }

  private async decide(what: "approve" | "reject", { channel, code, accountId }: PairingRequest): Promise<void> {
    const { link } = this.context;
    if (what === "approve")
      await this.attempt(async () => {
        const { senderId, hasOwner } = await link.request("channels.pairing.approve", { channel, code, accountId, notify: true });
        if (!hasOwner) await offerOwner(this.context, { channel, senderId });
      }, t("Approved. They can now send messages."));
    else await this.attempt(() => link.request("channels.pairing.reject", { channel, code, accountId }), t("Rejected."));
    await this.look();
  }

  private endTour(finished: boolean): void {
    keep.setText(SEEN, "yes");
    this.tourSeen = true;
    this.context.router.go(finished ? place("chat") : place("start"), { replace: true });
  }

  private who({ answering }: SetupStatus): TemplateResult {
    if (answering.model === null) return html`<p class="note warn">${t`No model available: ${answering.why}`}</p>`;
    const offline = answering.offline
      ? t(" It is rule-based, not a language model: it needs no key and no network, but only understands simple requests.")
      : "";
    return html`<p class="lead">
      <span class="mono">${answering.model}</span> ${t`is in use.${offline}`} <span class="soft">(${answeringText(answering)})</span>
    </p>`;
  }

  /** Once everything is set up, the page is no longer in the menu. The tour is optional. */
  private noteProgress(status: SetupStatus): void {
    const isDone = checklist(status, true).every(({ done }) => done);
    keep.setText("started", isDone ? "yes" : undefined);
  }

  private list(status: SetupStatus): TemplateResult {
    return html`<ul class="list" aria-label=${t("Setup progress")}>
      ${checklist(status, this.tourSeen).map(
        ({ label, done, detail, step }) =>
          html`<li>
            <span class="mark ${done ? "done" : ""}">${done ? icon("check", 13) : nothing}</span>
            <span
              ><strong>${label}</strong><span class="visually-hidden">${done ? t(", done") : t(", not done yet")}</span>
              <span class="soft">${detail}</span></span
            >
            ${step === undefined || (done && step !== "tour") ? nothing : html`<a href=${place("start", [], { step })}>${step === "tour" ? (done ? t("Repeat tour") : t("Start tour")) : t("Start")}</a>`}
          </li>`,
      )}
    </ul>`;
  }

  private cards({ providers, local, channels }: SetupStatus): TemplateResult {
    const { step, busy, outcomes } = this;
    return html`<div class="cards">
      <oc-start-key
        .providers=${providers}
        .outcome=${outcomes.key}
        ?busy=${busy === "key"}
        ?wanted=${step === "key"}
        @key=${(event: CustomEvent<KeyWish>) => this.addKey(event.detail)}
      ></oc-start-key>
      <oc-start-local
        .servers=${local}
        .outcome=${outcomes.local}
        ?busy=${busy === "local"}
        ?wanted=${step === "local"}
        @local=${(event: CustomEvent<MethodParams<"setup.local">>) => this.useLocal(event.detail)}
        @look=${() => this.load()}
      ></oc-start-local>
      <oc-start-channel
        .context=${this.context}
        .channels=${channels}
        .outcome=${outcomes.channel}
        .added=${this.added}
        .unlinked=${this.unlinked}
        .requests=${this.requests}
        ?busy=${busy === "channel"}
        ?wanted=${step === "channel"}
        .asked=${step === "channel" ? (this.route.query.get("channel") ?? undefined) : undefined}
        @done=${() => this.look()}
        @channel=${(event: CustomEvent<{ channel: string; label: string; fields: Record<string, string> }>) => this.addChannel(event.detail)}
        @approve=${(event: CustomEvent<{ request: PairingRequest }>) => this.decide("approve", event.detail.request)}
        @reject=${(event: CustomEvent<{ request: PairingRequest }>) => this.decide("reject", event.detail.request)}
      ></oc-start-channel>
    </div>`;
  }

  private steps(status: SetupStatus): TemplateResult {
    if (!this.context.link.may("operator.admin"))
      return html`<p class="note warn">${t("This browser has read-only access. Making changes requires the operator.admin scope.")}</p>`;
    return this.cards(status);
  }

  protected override render(): TemplateResult {
    const { status, failure } = this;
    const { link } = this.context;
    const missing = link.state.value.kind === "open" && !link.has("setup.status");
    const left = status ? checklist(status, true).filter(({ done }) => !done).length : 0;
    const fact = !status ? nothing : left === 0 ? t("Everything is set up") : t`${plural(left, t("step"), t("steps"))} left`;
    return html`${pageHead({ title: t("Get started"), fact })}
      <div class="page stack">
        ${missing ? html`<p class="note">${t("Setup on this page is not available in this gateway version. Run")} <code>openclaw onboard</code> ${t("in a terminal instead.")}</p>` : nothing}
        ${failure !== undefined && !missing ? html`<p class="note bad">${failure} <button class="small" @click=${() => this.load()}>${t("Try again")}</button></p>` : nothing}
        ${
          status
            ? html`${this.who(status)}${this.list(status)}
                <h2>${t("Next steps")}</h2>
                ${this.steps(status)}
                <p class="faint">${t("Files are saved to")} <span class="mono">${status.workspace}</span>.</p>`
            : failure === undefined && !missing
              ? skeleton(4)
              : nothing
        }
        ${this.step === "tour" ? html`<oc-tour @done=${(event: CustomEvent<{ finished: boolean }>) => this.endTour(event.detail.finished)}></oc-tour>` : nothing}
      </div>`;
  }
}
customElements.define("oc-start-page", StartPage);
