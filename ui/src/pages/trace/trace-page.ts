import { html, nothing, type TemplateResult } from "lit";
import { query, state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { wholeText } from "../chat/model/again.ts";
import "./run-list.ts";
import "./step-panel.ts";
import { gaveOf } from "./step-facts.ts";
import { isLive, waterfallOf, type Story, type TraceRow } from "./story-rows.ts";
import { channelOf, filtered, OUTCOMES, storyName, storyPlace, storyText, verdictText } from "./story-words.ts";
import { storyHead } from "./story-head.ts";
import { traceLook } from "./trace-look.ts";
import { pictureOf, saveFile } from "./trace-picture.ts";
import "./waterfall.ts";
import type { WaterfallChart } from "./waterfall.ts";

const LISTED = 50;
const LIST_MS = 5000;
const LIVE_MS = 1000;

/** What became of messages: recent runs, and one of them over time. */
export class TracePage extends Page {
  static override styles = [sheet, traceLook];
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
      return html`<div class="page stack">
        <h1>Trace</h1>
        <p class="note">This gateway does not offer traces to this browser.</p>
      </div>`;
    }
    return html`<div class="page wide stack">${this.what === undefined ? this.list() : this.one()}</div>`;
  }

  private list(): TemplateResult {
    const { stories } = this;
    const filter = { outcome: this.route.query.get("outcome") ?? undefined, channel: this.route.query.get("channel") ?? undefined };
    const shown = filtered(stories ?? [], filter);
    return html`<div class="row wrap">
        <h1 class="grow">Trace</h1>
        ${this.filters(stories ?? [], filter)}
      </div>
      ${
        this.session === undefined
          ? nothing
          : html`<p class="row wrap soft">
              Of the session <span class="mono">${this.session}</span> <a href=${place("trace")}>All sessions</a>
              <a href=${place("chat", [this.session])}>Go to Chat</a>
            </p>`
      }
      ${
        this.failure !== undefined && !stories
          ? this.session === undefined
            ? html`<p class="note bad">${this.failure}</p>`
            : html`<p class="card soft">No runs of this session are stored. Send a message, and its run appears here.</p>`
          : stories === undefined
            ? nothing
            : shown.length === 0
              ? html`<p class="card soft">
                  ${stories.length === 0 ? "No run yet. Send a message in the chat or over a channel, and it appears here." : "No matching runs"}
                </p>`
              : html`<div class="card flush"><oc-run-list .stories=${shown} .now=${this.now}></oc-run-list></div>
                  <p class="faint">
                    The last ${stories.length} messages${stories.length < LISTED ? ", all that are kept" : ""}. Of other ones: <code>openclaw why</code>, or the
                    trace sign beside an answer in the chat.
                  </p>`
      }`;
  }

  private filters(stories: readonly Story[], filter: { readonly outcome: string | undefined; readonly channel: string | undefined }): TemplateResult {
    const channels = [...new Set(stories.map(channelOf))].filter((name) => name !== "").sort();
    const outcomes = Object.keys(OUTCOMES).filter((name) => name === filter.outcome || stories.some(({ verdict }) => verdict.outcome === name));
    const go = (change: Readonly<Record<string, string | undefined>>): void =>
      this.context.router.go(place("trace", [], { session: this.session, ...filter, ...change }), { replace: true });
    const choice = (name: "outcome" | "channel", label: string, all: string, values: readonly string[], word: (value: string) => string): TemplateResult =>
      html`<select aria-label=${label} @change=${(event: Event) => go({ [name]: (event.target as HTMLSelectElement).value || undefined })}>
        <option value="" ?selected=${filter[name] === undefined}>${all}</option>
        ${values.map((value) => html`<option value=${value} ?selected=${filter[name] === value}>${word(value)}</option>`)}
      </select>`;
    return html`<div class="row filters">
      ${choice("outcome", "Outcome", "Every outcome", outcomes, (name) => OUTCOMES[name] ?? name)}
      ${choice("channel", "Channel", "Every channel", filter.channel === undefined || channels.includes(filter.channel) ? channels : [...channels, filter.channel], (name) => name)}
    </div>`;
  }

  private one(): TemplateResult {
    const story = this.stories?.[0];
    const back = html`<p>
      <a class="back" href=${place("trace", [], { session: story?.about.sessionKey })}
        >${icon("left", 14)} ${story?.about.sessionKey ? "Runs of this session" : "Recent runs"}</a
      >
    </p>`;
    if (!story)
      return html`${back}${
        this.failure === undefined
          ? nothing
          : html`<h1>Nothing found</h1>
              <p class="note warn">${this.failure}</p>`
      }`;
    const waterfall = waterfallOf(story, { now: this.now, quiet: this.quiet });
    const row = waterfall.rows.find(({ index }) => index === this.chosen);
    return html`${back}${storyHead(story, {
        now: this.now,
        copy: () => void this.copy(storyText(story), "Copied"),
        save: () => void this.save(story),
        stop: this.stopOf(story),
      })}
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
                @copy=${() => void this.copy(JSON.stringify(row.step, undefined, 2), "The step is copied.")}
                @zoom=${() => this.chart?.focusOn(row)}
                @whole=${({ detail: seq }: CustomEvent<number>) => void this.fetchWhole(story, seq)}
              ></oc-step-panel>`
            : nothing
        }
      </div>
      ${
        story.others.length === 0
          ? nothing
          : html`<p class="soft">Also: ${story.others.map(({ inboxId }) => html`<a href=${place("trace", [`in:${inboxId}`])}>in:${inboxId}</a> `)}</p>`
      }`;
  }

  private legend(rows: readonly TraceRow[], quiet: number): TemplateResult {
    const used = new Set(rows.map(({ tone }) => tone));
    const names = {
      queue: "waits",
      plugins: "plugin",
      model: "model (pale: until the first token)",
      tools: "tool",
      compaction: "compaction",
      delivery: "delivery",
      attempt: "failed",
    } as const;
    return html`<div class="row wrap legend">
      ${Object.entries(names).map(([tone, name]) => (used.has(tone as TraceRow["tone"]) ? html`<span class="key"><span class="dot ${tone}"></span>${name}</span>` : nothing))}
      <span class="grow"></span>
      ${
        quiet === 0
          ? nothing
          : html`<label class="row"
              ><input type="checkbox" .checked=${this.quiet} @change=${() => (this.quiet = !this.quiet)} />Plugins with nothing to say (${quiet})</label
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
    return () => void this.attempt(() => this.context.link.request("chat.abort", { sessionKey, runId: turnId }), "The run is stopped.");
  }

  private copy(text: string, done: string): Promise<void> {
    return this.attempt(() => navigator.clipboard.writeText(text), done).then(() => undefined);
  }

  private async save(story: Story): Promise<void> {
    const picture = this.chart?.picture;
    if (!picture) return;
    const { about, steps } = story;
    const began = steps[0] ? new Date(steps[0].at).toLocaleString() : "";
    const subtitle = [storyName(story), about.sessionKey, began].filter((part) => part !== undefined && part !== "").join(" · ");
    const png = await this.attempt(() => pictureOf(picture, { title: verdictText(story), subtitle }), "The picture is saved.");
    if (png) saveFile(png, `trace-${storyPlace(story).replace(/[^\w-]+/g, "-")}.png`);
  }
}
customElements.define("oc-trace-page", TracePage);
