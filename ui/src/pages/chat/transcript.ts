import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { guard } from "lit/directives/guard.js";
import { keyed as byKey } from "lit/directives/keyed.js";
import { repeat } from "lit/directives/repeat.js";
import { copyText } from "../../base/copy-text.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import type { Looks } from "../../parts/avatar-facts.ts";
import type { PageContext } from "../../shell/context.ts";
import { plural } from "../../base/figures.ts";
import "./approval-card.ts";
import type { Approval } from "./approvals-board.ts";
import { isEdit } from "./cards/card.ts";
import { queuedOf } from "./chat-view.ts";
import { cardLook } from "./cards/look.ts";
import { proseLook } from "./markdown/look.ts";
import { draftOf, wholeText } from "./model/again.ts";
import { askedId } from "./model/commands.ts";
import type { Conversation, ConversationState, Draft, PendingMessage, ToolView } from "./model/conversation.ts";
import { itemsOf, type Call, type Item, type SaidItem } from "./model/items.ts";
import { isEntryOf } from "./model/said.ts";
import type { ChatEntry, RunView } from "./model/state.ts";
import { otherAnswers } from "./branch-switch.ts";
import { canShare, saveAnswer, shareAnswer } from "./save-text.ts";
import { seesApproval, unplacedApprovals } from "./transcript-approvals.ts";
import { transcriptLook } from "./transcript-look.ts";
import { createPlace } from "./transcript-place.ts";
import { showActionsOnPress } from "./transcript-press.ts";
import { asideRow, callsOf, isOpen, itemRow, pendingRow, runRow, type RowTools, type RunPlace } from "./transcript-rows.ts";
import { findRun, rowOfRun, windowAround } from "./transcript-wanted.ts";
import { follow, lastWindow, moveDown, moveUp, type Window } from "./transcript-window.ts";
import { t } from "../../words/words.ts";

/** Nearer to an end of what is on the page than this, more is put there. Pixels. */
const AHEAD = 900;
/** How long a run that was gone to is marked. */
const MARKED_MS = 2000;

/** The scrolling log of a conversation. Dispatches `edit-message` with a draft when a message is to be edited, `keep-prompt` with a text that is to be saved. */
export class Transcript extends LitElement {
  static override styles = [sheet, proseLook, cardLook, transcriptLook];
  @property({ attribute: false }) conversation!: Conversation;
  @property({ attribute: false }) context!: PageContext;
  /** Who answers here. */
  @property({ attribute: false }) agent: Looks = { id: "", name: "" };
  /** Requests for approval that wait here. */
  @property({ attribute: false }) approvals: readonly Approval[] = [];
  @property({ attribute: false }) deciding: ReadonlySet<string> = new Set();
  /** A run or an entry to go to, once it is there. */
  @property({ attribute: false }) wanted: string | undefined;
  /** Its position, when that is known: it may be far back. */
  @property({ attribute: false }) wantedAt: number | undefined;
  @state() private marked: string | undefined;
  @state() private now!: ConversationState;
  @state() private window: Window = { from: 0, to: 0 };
  /** What the reader folded and unfolded, by the ids of calls and the keys of turns. */
  @state() private unfolded: ReadonlyMap<string, boolean> = new Map();
  @state() private away = false;
  /** A request waits and is out of sight. */
  @state() private unseen = false;
  @query(".scroller") private scroller!: HTMLElement | null;
  @query(".list") private list!: HTMLElement | null;
  private items: readonly Item[] = [];
  private written: ReadonlySet<string> = new Set();
  private subscription: Disposable | undefined;
  private readonly place = createPlace();
  private attached: HTMLElement | undefined;
  private search: AbortController | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) this.listen();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.subscription?.[Symbol.dispose]();
    this.search?.abort();
    this.place.detach();
    this.attached = undefined;
  }

  private listen(): void {
    this.subscription?.[Symbol.dispose]();
    this.subscription = this.conversation.state.subscribe((now) => this.take(now));
    this.items = [];
    this.window = { from: 0, to: 0 };
    this.unfolded = new Map();
    this.place.toEnd();
    this.take(this.conversation.state.value, true);
  }

  private take(now: ConversationState, replaced = false): void {
    if (replaced || now.entries !== this.now.entries) {
      const before = this.items.map(({ key }) => key);
      const other = replaced || now.sessionId !== this.now.sessionId;
      this.items = itemsOf(now.entries);
      this.written = new Set(this.items.flatMap((item) => callsOf(item).map(({ id }) => id)));
      const keys = this.items.map(({ key }) => key);
      this.window = other ? lastWindow(keys.length) : follow(this.window, before, keys, this.place.atEnd && !this.now.moreAfter);
    }
    const known = new Set(replaced ? [] : this.now.pending.map(({ runId }) => runId));
    const said = !replaced && now.pending.some(({ runId, state: at }) => (at === "unsent" || at === "sending") && !known.has(runId));
    this.now = now;
    // Who says something wants to see it.
    if (said) void this.toNewest();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("conversation")) this.listen();
    if (changed.has("conversation") || changed.has("wanted")) void this.seek();
  }

  /** Goes to the wanted run and marks it for a moment. */
  private async seek(): Promise<void> {
    this.search?.abort();
    const { wanted, conversation } = this;
    if (wanted === undefined) return;
    const search = (this.search = new AbortController());
    const found = await findRun(conversation, wanted, search.signal, this.wantedAt);
    if (search.signal.aborted) return;
    const row = found ? rowOfRun(this.items, this.now, wanted) : undefined;
    if (!row) return this.context.toasts.warn(t("Message not found: it is too far back or no longer stored"));
    this.window = windowAround(row.at, this.items.length);
    this.marked = row.key;
    this.place.to(row.key);
    await this.updateComplete;
    this.place.to(row.key);
    this.moved();
    setTimeout(() => (this.marked = this.marked === row.key ? undefined : this.marked), MARKED_MS);
  }

  protected override updated(changed: PropertyValues<this>): void {
    const { scroller, list } = this;
    if (scroller && list && this.attached !== list) {
      this.attached = list;
      showActionsOnPress(list);
      this.place.attach(scroller, list, () => this.moved());
    }
    this.place.restore();
    if (changed.has("approvals")) requestAnimationFrame(() => this.moved());
  }

  /** The reader scrolled: more is put where they go. */
  private moved(): void {
    const { scroller, window, items, now } = this;
    if (!scroller) return;
    const below = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop;
    this.unseen = this.approvals.length > 0 && !seesApproval(scroller, this.list);
    this.away = below > 400 || window.to < items.length || now.moreAfter;
    if (scroller.scrollTop < AHEAD) {
      if (window.from > 0) this.window = moveUp(window);
      else if (now.moreBefore && !now.loadingOlder) void this.conversation.older();
    }
    if (below < AHEAD) {
      if (window.to < items.length) this.window = moveDown(window, items.length);
      else if (now.moreAfter) void this.conversation.newer();
    }
  }

  private async toNewest(): Promise<void> {
    if (this.now.moreAfter) await this.conversation.newest();
    this.window = lastWindow(this.items.length);
    this.away = false;
    await this.updateComplete;
    this.place.toEnd();
  }

  private unfold(callId: string, open: boolean): void {
    this.place.hold();
    this.unfolded = new Map([...this.unfolded, [callId, open]]);
  }

  private async copy(text: string | Promise<string>): Promise<void> {
    const whole = await this.fetched(text);
    if (whole !== undefined && (await this.fetched(copyText(whole).then(() => true)))) this.context.toasts.say(t("Copied"));
  }

  private approvalCard(approval: Approval | undefined): TemplateResult | typeof nothing {
    if (!approval) return nothing;
    const may = this.context.link.may("operator.approvals");
    const card = html`<oc-approval .approval=${approval} ?busy=${this.deciding.has(approval.id)} .may=${may}></oc-approval>`;
    // What was read and pressed of one request says nothing of another.
    return html`${byKey(approval.id, card)}`;
  }

  private async toApproval(): Promise<void> {
    const card = (): Element | null | undefined => this.list?.querySelector("oc-approval");
    if (!card()) await this.toNewest();
    this.place.hold();
    card()?.scrollIntoView({ block: "center" });
  }

  private async give(entry: ChatEntry, give: typeof saveAnswer): Promise<void> {
    const text = await this.fetched(wholeText(this.context.link, this.now.sessionKey, entry));
    if (text !== undefined) await this.fetched(give(text, entry.ts));
  }

  /** The newest change of a file in the turn that goes on. */
  private lastEdit(): string | undefined {
    const live = this.now.runs.flatMap(({ tools, ended }) => (ended === undefined ? tools : [])).findLast(({ name }) => isEdit(name));
    if (live) return live.toolCallId;
    const last = this.items.at(-1);
    const turn = last?.kind === "answer" ? last.work.key : undefined;
    return this.items.flatMap((item) => (item.kind === "answer" && item.work.key === turn ? item.calls : [])).findLast(({ name }) => isEdit(name))?.id;
  }

  /** The key of the turn that goes on, as far as it is in the transcript. */
  private goingTurn(): string | undefined {
    const last = this.items.at(-1);
    if (last?.kind !== "answer") return undefined;
    return this.now.runs.some((run) => run.ended === undefined && isEntryOf(last.entry, run)) ? last.work.key : undefined;
  }

  /** What was asked for; undefined when it did not come, which is said. */
  private async fetched<T>(asked: T | Promise<T>): Promise<T | undefined> {
    try {
      return await asked;
    } catch (error) {
      this.context.toasts.warn(failureText(error));
      return undefined;
    }
  }

  /** Does something with a message as it was sent, unless the page has switched to another conversation since. */
  private async withDraft(entry: ChatEntry, use: (draft: Draft) => void): Promise<void> {
    const { conversation } = this;
    const draft = await this.fetched(draftOf(this.context.link, this.now.sessionKey, entry));
    if (draft && conversation === this.conversation && this.isConnected) use(draft);
  }

  private tools(live: ReadonlyMap<string, ToolView>, running: boolean): RowTools {
    const { link } = this.context;
    const { conversation } = this;
    return {
      link,
      sessionKey: this.now.sessionKey,
      mayWrite: link.may("operator.write"),
      running,
      agent: this.agent,
      lastEdit: running ? this.lastEdit() : undefined,
      stop: link.may("operator.write") ? () => this.dispatchEvent(new CustomEvent("stop")) : undefined,
      save: (entry) => void this.give(entry, saveAnswer),
      share: canShare() ? (entry) => void this.give(entry, shareAnswer) : undefined,
      isUnfolded: (id) => this.unfolded.get(id),
      unfold: (callId, open) => this.unfold(callId, open),
      live: (callId) => live.get(callId),
      asked: ({ result }) => this.now.commands?.get(askedId(result) ?? ""),
      copy: (text) => void this.copy(text),
      copyAll: (entry) => void this.copy(wholeText(link, this.now.sessionKey, entry)),
      again: (entry) => void this.withDraft(entry, (draft) => void conversation.send(draft)),
      edit: (entry) => void this.withDraft(entry, (draft) => this.dispatchEvent(new CustomEvent("edit-message", { detail: { ...draft, edits: entry.id } }))),
      keep: (entry) => void this.withDraft(entry, ({ text }) => this.dispatchEvent(new CustomEvent("keep-prompt", { detail: text }))),
      approval: ({ result }) => this.approvalCard(this.approvals.find(({ id }) => id === askedId(result))),
      resend: conversation.resend,
      discard: conversation.discard,
    };
  }

  /** Drawn again only when the item, one of its cards or what is heard of its calls has changed. */
  private row(item: Item, tools: RowTools, turn: string | undefined): unknown {
    const calls = callsOf(item);
    const ids = [...calls.map(({ id }) => id), ...(item.kind === "answer" ? [item.work.key] : [])];
    const folds = ids.map((id) => `${this.unfolded.get(id) ?? ""}${id === tools.lastEdit ? "!" : ""}`).join(",");
    const going = turn !== undefined && item.kind === "answer" && item.work.key === turn;
    const heard = isOpen(item) ? [tools.running, ...calls.map(({ id }) => tools.live(id))] : [];
    const asked = calls.flatMap((call) => [tools.asked(call), ...this.waitsFor(call)]);
    const agent = item.kind === "answer" ? this.agent : undefined;
    return guard([item, folds, going, tools.sessionKey, tools.mayWrite, agent, ...heard, ...asked], () => itemRow(item, going, tools));
  }

  private waitsFor({ result }: Call): readonly unknown[] {
    const id = this.approvals.length === 0 ? undefined : askedId(result);
    const approval = id === undefined ? undefined : this.approvals.find((one) => one.id === id);
    return approval ? [approval, this.deciding.has(approval.id)] : [];
  }

  /** The message that a run which has ended answers, when it is on the page. */
  private askedOf({ runId, ended }: RunView): SaidItem | undefined {
    if (ended === undefined) return undefined;
    return this.items.findLast((item): item is SaidItem => item.kind === "user" && item.entry.runId === runId);
  }

  private positionOf(run: RunView): RunPlace {
    const last = this.items.at(-1);
    const continues = (last?.kind === "answer" || last?.kind === "result") && this.goingTurn() !== undefined && run.ended === undefined;
    return { written: this.written, asked: this.askedOf(run), continues };
  }

  /** What comes after the transcript: commands and runs with the messages that they answer, then what waits. */
  private tail(newest: number, tools: RowTools): unknown {
    const { pending, asides = [], runs } = this.now;
    const late = runs.filter(({ after }) => after === undefined || after >= newest);
    const going = new Set(late.map(({ runId }) => runId));
    // They are above the box while an answer is being given.
    const queued = new Set(tools.running ? queuedOf(this.now).map(({ runId }) => runId) : []);
    const message = (one: PendingMessage): Row => [`p${one.runId}`, pendingRow(one, tools.running && !going.has(one.runId), tools)];
    const rows: Row[] = [
      ...asides.filter(({ after }) => after >= newest).map((aside): Row => [`a${aside.runId}`, asideRow(aside)]),
      ...late.flatMap((run): Row[] => [
        ...pending.filter(({ runId }) => runId === run.runId).map(message),
        [`r${run.runId}`, runRow(run, this.positionOf(run), tools)],
      ]),
      ...pending.filter(({ runId }) => !going.has(runId) && !queued.has(runId)).map(message),
    ];
    return repeat(
      rows,
      ([key]) => key,
      ([key, content]) => keyed(key, content),
    );
  }

  private rows(): unknown {
    const { now, window, items } = this;
    const running = now.runs.some(({ ended }) => ended === undefined);
    const live = new Map(now.runs.flatMap(({ tools }) => tools.map((tool) => [tool.toolCallId, tool] as const)));
    const tools = this.tools(live, running);
    const shown = items.slice(window.from, window.to);
    const atEnd = window.to === items.length && !now.moreAfter;
    const newest = now.entries.at(-1)?.seq ?? 0;
    const beside = this.beside(newest, tools);
    const turn = this.goingTurn();
    return [
      repeat(
        shown,
        ({ key }) => key,
        (item) =>
          html`<div
              class="item ${item.key === this.marked ? "found" : ""} ${item.kind === "answer" && item.work.key !== item.key ? "goes-on" : ""}"
              data-key=${item.key}
            >
              ${this.row(item, tools, turn)}
            </div>
            ${beside.get(seqOf(item))}`,
      ),
      atEnd ? this.tail(newest, tools) : nothing,
      atEnd ? unplacedApprovals(this.approvals, shown).map((approval) => keyed(`q${approval.id}`, this.approvalCard(approval))) : nothing,
      atEnd && !running ? otherAnswers(now.others, tools) : nothing,
    ];
  }

  /** Rows of what is not in the transcript and stands between its entries, by the position of the entry before. */
  private beside(newest: number, tools: RowTools): ReadonlyMap<number | undefined, readonly TemplateResult[]> {
    const { runs, asides = [], entries } = this.now;
    const rows = new Map<number | undefined, TemplateResult[]>();
    const add = (after: number | undefined, row: () => TemplateResult): void => {
      if (after === undefined || after >= newest) return;
      const place = lastBefore(entries, after);
      rows.set(place, [...(rows.get(place) ?? []), row()]);
    };
    for (const aside of asides) add(aside.after, () => keyed(`a${aside.runId}`, asideRow(aside)));
    for (const run of runs) add(run.after, () => keyed(`r${run.runId}`, runRow(run, this.positionOf(run), tools)));
    return rows;
  }

  private middle(): TemplateResult | undefined {
    const { now } = this;
    if (now.entries.length + now.pending.length + now.runs.length + (now.asides?.length ?? 0) > 0) return undefined;
    if (now.error !== undefined) {
      return html`<div class="middle">
        <div class="note bad" role="alert">
          <p class="wrapped">${now.error}</p>
          <button class="small" @click=${() => void this.conversation.refresh()}>${icon("retry", 14)}${t("Try again")}</button>
        </div>
      </div>`;
    }
    return html`<div class="middle soft" role="status">${now.loading ? "" : t("No messages yet. Write below to start.")}</div>`;
  }

  protected override render(): TemplateResult {
    const { now, window } = this;
    const middle = this.middle();
    if (middle) return middle;
    const running = now.runs.some(({ ended }) => ended === undefined);
    return html`<div class="scroller" tabindex="0" role="log" aria-live="off" aria-label=${t("Conversation")}>
        ${now.loadingOlder && window.from === 0 ? html`<div class="edge faint" role="status">${t("Loading earlier messages")}</div>` : nothing}
        <div class="list">${this.rows()}</div>
      </div>
      <span class="visually-hidden" aria-live="polite">${running ? t("Answering") : now.entries.length > 0 ? t("No answer in progress") : ""}</span>
      ${this.unseen && this.approvals.length > 0 ? html`<button class="jump waits" @click=${() => void this.toApproval()}>${icon("shield", 15)}${plural(this.approvals.length, t("approval waiting"), t("approvals waiting"))}</button>` : this.away ? html`<button class="jump small" @click=${() => void this.toNewest()}>${icon("down", 14)}${t("Jump to latest message")}</button>` : nothing}`;
  }
}

type Row = readonly [key: string, content: unknown];

const keyed = (key: string, content: unknown): TemplateResult => html`<div class="item" data-key=${key}>${content}</div>`;

const seqOf = (item: Item): number | undefined => ("entry" in item ? item.entry.seq : item.kind === "result" ? item.call.result?.seq : undefined);

/** Position of the last entry up to a place, as items are drawn: results stand with their calls. */
function lastBefore(entries: ConversationState["entries"], place: number): number | undefined {
  return entries.findLast(({ seq, kind }) => seq <= place && kind !== "tool")?.seq;
}

customElements.define("oc-transcript", Transcript);
