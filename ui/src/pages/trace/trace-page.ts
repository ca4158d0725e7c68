import { html, nothing, type TemplateResult } from "lit";
import { query, state } from "lit/decorators.js";
import { copyText } from "../../base/copy-text.ts";
import { saveFile } from "../../base/save-file.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import "../../parts/select.ts";
import { failedNote } from "../../parts/page-look.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { wholeText } from "../chat/model/again.ts";
import "./run-list.ts";
import "./step-panel.ts";
import { gaveOf } from "./step-facts.ts";
import { isLive, waterfallOf, type Story, type TraceRow } from "./story-rows.ts";
import { channelOf, filtered, OUTCOMES, storyName, storyPlace, storyText, storyTitle, verdictText } from "./story-words.ts";
import { storyActions, storyHead } from "./story-head.ts";
import { traceLook } from "./trace-look.ts";
import { pictureOf } from "./trace-picture.ts";
import "./waterfall.ts";
import type { WaterfallChart } from "./waterfall.ts";
import { locale, t } from "../../words/words.ts";

const LISTED = 50;
const LIST_MS = 5000;
const LIVE_MS = 1000;

/** What became of messages: recent runs, and one of them over time. */
export class TracePage extends Page {
  static override styles = [sheet, pageHeadLook, emptyLook, skeletonLook, traceLook];
  @state() private stories: readonly Story[] | undefined;
  @state() private failure: string | undefined;
  @state() private chosen: number | undefined;
  @state() private quiet = false;
  /** All of a tool's result that was asked for, and where it stands. */
  @state() private whole: { readonly seq: number; readonly text: string } | undefined;
  @state() private now = Date.now();
  @query("oc-waterfall") private chart!: WaterfallChart | null;
  /** What the stories that are shown were asked for with. */
  private asked: string | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.every(LIVE_MS, () => this.what !== undefined && this.live && void this.load());
    this.every(LIST_MS, () => this.what === undefined && void this.load());
  }

  private get what(): string | undefined {
    return this.route.rest[0];
  }

  private get session(): string | undefined {
    return this.route.query.get("session") ?? undefined;
  }

  private get live(): boolean {
    return this.stories?.[0] !== undefined && isLive(this.stories[0]);
  }

  override async load(): Promise<void> {
    const { what, session } = this;
    const asked = what ?? session ?? "recent";
    if (asked !== this.asked) this.forget(asked);
    try {
      const { stories, now = Date.now() } = await this.context.link.request("why", what === undefined ? { what: asked, last: LISTED } : { what });
      if (asked !== this.asked) return;
      this.stories = stories;
      // The clock of this computer may be wrong.
      this.now = now;
      this.failure = undefined;
    } catch (error) {
      if (asked !== this.asked) return;
      this.failure = failureText(error);
    }
  }

  private forget(asked: string): void {
    this.asked = asked;
    this.stories = undefined;
    this.chosen = undefined;
    this.whole = undefined;
    this.failure = undefined;
  }

  protected override render(): TemplateResult {
    if (!this.context.link.has("why")) {
      return html`${pageHead({ title: t("Trace") })}
        <div class="page stack">
          <p class="note">${t("Traces are not available in this browser: the gateway does not offer them.")}</p>
        </div>`;
    }
    return this.what === undefined ? this.list() : this.one();
  }

  private list(): TemplateResult {
    const { stories } = this;
    const filter = { outcome: this.route.query.get("outcome") ?? undefined, channel: this.route.query.get("channel") ?? undefined };
    const shown = filtered(stories ?? [], filter);
    return html`${pageHead({ title: t("Trace"), actions: this.filters(stories ?? [], filter) })}
      <div class="page wide stack">
        ${
          this.session === undefined
            ? nothing
            : html`<p class="row wrap soft">
                ${t("Runs of session")} <span class="mono">${this.session}</span> <a href=${place("trace")}>${t("All sessions")}</a>
                <a href=${place("chat", [this.session])}>${t("Go to Chat")}</a>
              </p>`
        }
        ${
          this.failure !== undefined && !stories
            ? this.session === undefined
              ? failedNote(this.failure, () => void this.load())
              : emptyState({ icon: "trace", title: t("No runs yet"), text: t("No runs are stored for this session. Send a message to see its run here.") })
            : stories === undefined
              ? skeleton(8)
              : shown.length === 0
                ? stories.length === 0
                  ? emptyState({
                      icon: "trace",
                      title: t("No runs yet"),
                      text: t("Send a message in the chat or through a channel to see its run here."),
                      action: html`<a class="button" href="chat">${t("Start a chat")}</a>`,
                    })
                  : emptyState({
                      icon: "search",
                      title: t("No matching runs"),
                      action: html`<a class="button" href=${place("trace", [], { session: this.session })}>${t("Clear filters")}</a>`,
                    })
                : html`<div class="card flush"><oc-run-list .stories=${shown} .now=${this.now}></oc-run-list></div>
                    <p class="faint">
                      ${t`The last ${stories.length} messages${stories.length < LISTED ? t(", all that are stored") : ""}. For others, use`}
                      <code>openclaw why</code>${t(", or the trace icon beside an answer in the chat.")}
                    </p>`
        }
      </div>`;
  }

  private filters(stories: readonly Story[], filter: { readonly outcome: string | undefined; readonly channel: string | undefined }): TemplateResult {
    const channels = [...new Set(stories.map(channelOf))].filter((name) => name !== "").sort();
    const outcomes = Object.keys(OUTCOMES).filter((name) => name === filter.outcome || stories.some(({ verdict }) => verdict.outcome === name));
    const go = (change: Readonly<Record<string, string | undefined>>): void =>
      this.context.router.go(place("trace", [], { session: this.session, ...filter, ...change }), { replace: true });
    const choice = (name: "outcome" | "channel", label: string, all: string, values: readonly string[], word: (value: string) => string): TemplateResult =>
      html`<oc-select
        label=${label}
        .value=${filter[name] ?? ""}
        .options=${[{ value: "", label: all }, ...values.map((value) => ({ value, label: word(value) }))]}
        @choose=${(event: CustomEvent<string>) => go({ [name]: event.detail || undefined })}
      ></oc-select>`;
    return html`<div class="row filters">
      ${choice("outcome", t("Outcome"), t("All outcomes"), outcomes, (name) => OUTCOMES[name] ?? name)}
      ${choice("channel", t("Channel"), t("All channels"), filter.channel === undefined || channels.includes(filter.channel) ? channels : [...channels, filter.channel], (name) => name)}
    </div>`;
  }

  private one(): TemplateResult {
    const story = this.stories?.[0];
    const parent = { title: t("Trace"), href: place("trace", [], { session: story?.about.sessionKey }) };
    if (!story)
      return html`${pageHead({ title: this.failure === undefined ? (this.what ?? "") : t("Nothing found"), parent })}
        <div class="page wide stack">${this.failure === undefined ? skeleton(8) : html`<p class="note warn">${this.failure}</p>`}</div>`;
    const waterfall = waterfallOf(story, { now: this.now, quiet: this.quiet });
    const row = waterfall.rows.find(({ index }) => index === this.chosen);
    const acts = { copy: () => void this.copy(storyText(story), t("Copied")), save: () => void this.save(story), stop: this.stopOf(story) };
    return html`${pageHead({ title: storyTitle(story), parent, actions: storyActions(story, acts) })}
      <div class="page wide stack">
        ${storyHead(story, this.now)}
        <div class="both ${row ? "open" : ""}">
          <div class="card chart">
            <oc-waterfall .waterfall=${waterfall} .chosen=${this.chosen} @step=${this.choose}></oc-waterfall>
            ${this.legend(waterfall.rows, waterfall.quiet)}
          </div>
          ${
            row
              ? html`<oc-step-panel
                  .row=${row}
                  .whole=${this.whole !== undefined && this.whole.seq === gaveOf(row.step)?.seq ? this.whole.text : undefined}
                  @close=${() => (this.chosen = undefined)}
                  @copy=${() => void this.copy(JSON.stringify(row.step, undefined, 2), t("Step copied"))}
                  @zoom=${() => this.chart?.focusOn(row)}
                  @whole=${({ detail: seq }: CustomEvent<number>) => void this.fetchWhole(story, seq)}
                ></oc-step-panel>`
              : nothing
          }
        </div>
        ${
          story.others.length === 0
            ? nothing
            : html`<p class="soft">
                ${t("Also:")} ${story.others.map(({ inboxId }) => html`<a href=${place("trace", [`in:${inboxId}`])}>${t`in:${inboxId}`}</a> `)}
              </p>`
        }
      </div>`;
  }

  private legend(rows: readonly TraceRow[], quiet: number): TemplateResult {
    const used = new Set(rows.map(({ tone }) => tone));
    const names = {
      queue: t("waiting"),
      plugins: t("plugin"),
      model: t("model (pale: until the first token)"),
      tools: t("tool"),
      compaction: t("compaction"),
      delivery: t("delivery"),
      attempt: t("failed"),
    } as const;
    return html`<div class="row wrap legend">
      ${Object.entries(names).map(([tone, name]) => (used.has(tone as TraceRow["tone"]) ? html`<span class="key"><span class="dot ${tone}"></span>${name}</span>` : nothing))}
      <span class="grow"></span>
      ${
        quiet === 0
          ? nothing
          : html`<label class="row"
              ><input type="checkbox" .checked=${this.quiet} @change=${() => (this.quiet = !this.quiet)} />${t`Plugins without effect (${quiet})`}</label
            >`
      }
    </div>`;
  }

  private choose({ detail: row }: CustomEvent<TraceRow>): void {
    this.chosen = row.index < 0 || row.index === this.chosen ? undefined : row.index;
    void this.updateComplete.then(() => this.renderRoot.querySelector("oc-step-panel")?.scrollIntoView({ block: "nearest" }));
  }

  private async fetchWhole({ about: { sessionKey } }: Story, seq: number): Promise<void> {
    if (sessionKey === undefined) return;
    const entry = { seq, ts: 0, kind: "tool" as const, content: [], cut: true };
    const text = await this.attempt(() => wholeText(this.context.link, sessionKey, entry));
    if (text !== undefined) this.whole = { seq, text };
  }

  private stopOf({ verdict, about: { sessionKey, turnId } }: Story): (() => void) | undefined {
    if (verdict.outcome !== "running" || sessionKey === undefined || turnId === undefined || !this.context.link.may("operator.write")) return undefined;
    return () => void this.attempt(() => this.context.link.request("chat.abort", { sessionKey, runId: turnId }), t("Run stopped"));
  }

  private copy(text: string, done: string): Promise<void> {
    return this.attempt(() => copyText(text), done).then(() => undefined);
  }

  private async save(story: Story): Promise<void> {
    const picture = this.chart?.picture;
    if (!picture) return;
    const { about, steps } = story;
    const began = steps[0] ? new Date(steps[0].at).toLocaleString(locale) : "";
    const subtitle = [storyName(story), about.sessionKey, began].filter((part) => part !== undefined && part !== "").join(" · ");
    const png = await this.attempt(() => pictureOf(picture, { title: verdictText(story), subtitle }), t("Image saved"));
    if (png) saveFile(`trace-${storyPlace(story).replace(/[^\w-]+/g, "-")}.png`, "image/png", [png]);
  }
}
customElements.define("oc-trace-page", TracePage);
