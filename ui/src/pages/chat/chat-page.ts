import { html, nothing, type TemplateResult } from "lit";
import { query, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { plural } from "../../base/figures.ts";
import { keep } from "../../base/keep.ts";
import { isWriting } from "../../base/writing.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import "./approvals.ts";
import { createApprovals, type Approvals, type Decision } from "./approvals-board.ts";
import "./canvas-panel.ts";
import { chatLook } from "./chat-look.ts";
import { chatTitle, chatView, queuedOf, sameView, takenAway, untilNoneWaits, type ChatView } from "./chat-view.ts";
import "./composer.ts";
import type { Composer } from "./composer.ts";
import type { Command } from "./composer-commands.ts";
import "./greeting.ts";
import "./header.ts";
import type { HeaderFacts } from "./header.ts";
import "./keys-help.ts";
import type { KeysHelp } from "./keys-help.ts";
import type { ContextAnswer } from "./meter-parts.ts";
import { createConversation, type Conversation, type Draft } from "./model/conversation.ts";
import { createOutbox } from "./model/outbox.ts";
import { createOpenRow, type OpenRow } from "./open-row.ts";
import { chosenModel, modelChoices, type ChosenModel, type ModelChoice } from "./pickers-models.ts";
import { act, type SessionAction } from "./session-actions.ts";
import "./sidebar.ts";
import { agentOf, newSessionKey, type SessionRow } from "./sidebar-groups.ts";
import { createSessions, type Sessions } from "./sidebar-sessions.ts";
import "./talk-button.ts";
import "./transcript.ts";

const NARROW = "(max-width: 900px)";
/** Where a keyboard comes up when a box has the focus, it is not given one unasked. */
const KEYBOARD = "(hover: hover) and (pointer: fine)";
/** What waited behind a run that was stopped has ended by then. */
const STOPPED_WITHIN_MS = 30_000;
const EDITED = "This will be a new message. What was said before stays in the conversation, and the agent still sees it.";

/** One conversation, and the others beside it. */
export class ChatPage extends Page {
  static override styles = [sheet, chatLook];
  @state() private conversation!: Conversation;
  @state() private view!: ChatView;
  @state() private folded = keep.text("sessions") === "folded";
  @state() private drawer = false;
  @state() private commands: readonly Command[] = [];
  @state() private agents: MethodResult<"agents.list">["agents"] = [];
  @state() private models: readonly ModelChoice[] | undefined;
  @state() private modelsError = "";
  @state() private memory: ContextAnswer | undefined;
  @state() private memoryError = "";
  @state() private compacting = false;
  @query("oc-composer") private composer!: Composer;
  @query("oc-keys-help") private help!: KeysHelp;
  private sessions!: Sessions;
  private openRow!: OpenRow;
  private approvals!: Approvals;
  private heard: Disposable | undefined;
  private readonly narrow = matchMedia(NARROW);
  private readonly again = (): void => this.requestUpdate();

  override connectedCallback(): void {
    const { link } = this.context;
    this.sessions = createSessions(link);
    this.openRow = createOpenRow(link, this.sessions.state);
    this.approvals = createApprovals({ link, now: () => performance.now(), later: (work, ms) => void setTimeout(work, ms) });
    this.follow();
    super.connectedCallback();
    for (const held of [this.sessions, this.approvals, this.sessions.state.subscribe(this.again), this.approvals.state.subscribe(this.again)])
      this.during(held);
    for (const held of [this.openRow, this.openRow.state.subscribe(this.again), link.state.subscribe(this.again)]) this.during(held);
    this.narrow.addEventListener("change", this.again);
    addEventListener("keydown", this.key);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.narrow.removeEventListener("change", this.again);
    removeEventListener("keydown", this.key);
    this.heard?.[Symbol.dispose]();
    this.conversation.close();
  }

  private get mainKey(): string {
    return this.context.link.hello?.snapshot.sessionDefaults?.mainSessionKey ?? "agent:main:main";
  }

  private get defaultAgentId(): string {
    return this.context.link.hello?.snapshot.sessionDefaults?.defaultAgentId ?? "main";
  }

  private get row(): SessionRow | undefined {
    const { rows, found } = this.sessions.state.value;
    const opened = this.openRow.state.value;
    return [...rows, ...(found ?? []), ...(opened ? [opened] : [])].find(({ key }) => key === this.view.sessionKey);
  }

  /** Turns to the conversation that the address names. */
  private follow(): void {
    const sessionKey = this.route.rest[0] ?? this.mainKey;
    this.heard?.[Symbol.dispose]();
    this.conversation?.close();
    const conversation = createConversation({ link: this.context.link, sessionKey, outbox: createOutbox({ shelf: this.context.shelf }) });
    this.conversation = conversation;
    this.view = chatView(conversation.state.value);
    this.openRow.follow("");
    this.memory = undefined;
    this.memoryError = "";
    this.heard = conversation.state.subscribe((now) => {
      const view = chatView(now);
      if (sameView(view, this.view)) return;
      // What was measured before a run says nothing of what is there after it.
      if (view.running !== this.view.running) this.memory = undefined;
      this.view = view;
      if (view.kept) this.openRow.follow(view.sessionKey);
    });
    conversation.open();
  }

  override async load(): Promise<void> {
    const { link } = this.context;
    await Promise.all([
      this.sessions.load(),
      this.approvals.load().catch(() => undefined),
      link.has("commands.list")
        ? link.request("commands.list", {}).then(
            ({ commands }) => (this.commands = commands),
            () => undefined,
          )
        : undefined,
      link.request("agents.list", {}).then(
        ({ agents }) => (this.agents = agents),
        () => undefined,
      ),
    ]);
  }

  protected override routeChanged(): void {
    this.drawer = false;
    this.follow();
    this.sessions.refresh();
    const fromList = this.shadowRoot?.activeElement?.localName === "oc-chat-sidebar";
    if (fromList && matchMedia(KEYBOARD).matches) void this.updateComplete.then(() => this.composer.focus());
  }

  protected override firstUpdated(): void {
    void this.composer.updateComplete.then(() => this.ready());
  }

  /** Focuses the box, unless the user is doing something else. */
  private ready(): void {
    const at = document.activeElement;
    if (matchMedia(KEYBOARD).matches && (at === null || at === document.body)) this.composer.focus();
  }

  protected override updated(): void {
    const drawer = this.renderRoot.querySelector<HTMLDialogElement>("dialog.drawer");
    if (drawer && !drawer.open) drawer.showModal();
    if (!document.hidden) this.sessions.markSeen(this.view.sessionKey);
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.ctrlKey && event.shiftKey && event.key.toLowerCase() === "o") {
      event.preventDefault();
      return this.begin();
    }
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!plain || isWriting(event.composedPath()[0]) || this.renderRoot.querySelector("dialog[open]")) return;
    if (event.key === "/") this.composer.focus();
    else if (event.key === "?") this.help.open();
    else if (event.key === "Escape" && this.view.running) void this.stop();
    else return;
    event.preventDefault();
  };

  private begin(): void {
    const random = (): number => crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;
    this.drawer = false;
    this.context.router.go(place("chat", [newSessionKey(agentOf(this.view.sessionKey, this.defaultAgentId), random)]));
    void this.updateComplete.then(() => this.composer.focus());
  }

  /** A message is to be changed and sent again. What is in the box is not lost for it unasked. */
  private async edit(draft: Draft): Promise<void> {
    const { conversation } = this;
    const question = {
      title: "Replace what you have written?",
      body: "There is a message in the box that was not sent. The one to be edited takes its place.",
      yes: "Replace it",
      no: "Keep it",
      danger: true,
    };
    if (this.composer.filled && !(await this.context.dialogs.confirm(question))) return;
    if (conversation === this.conversation) await this.composer.rewrite(draft, EDITED);
  }

  private fold(): void {
    if (this.narrow.matches) {
      this.drawer = !this.drawer;
      return;
    }
    this.folded = !this.folded;
    keep.setText("sessions", this.folded ? "folded" : undefined);
  }

  /** Ends the runs. The gateway takes away what waited behind them, too: it comes back into the box. */
  private readonly stop = async (): Promise<void> => {
    const { conversation } = this;
    const queued = queuedOf(conversation.state.value);
    await this.attempt(() => conversation.stop());
    if (queued.length === 0) return;
    await conversation.refresh().catch(() => undefined);
    await untilNoneWaits(conversation.state, queued, STOPPED_WITHIN_MS);
    const lost = takenAway(queued, conversation.state.value);
    if (lost.length === 0 || conversation !== this.conversation) return;
    await this.composer.giveBack(lost.map(({ text }) => text).join("\n\n"), "What waited for its turn was stopped, too. It is back in the box.");
  };

  private async act(action: SessionAction): Promise<void> {
    const { sessionKey } = this.view;
    this.compacting ||= action.do === "compact";
    await this.attempt(() => act(action, { context: this.context, key: sessionKey, title: this.facts.title }));
    if (action.do === "compact") this.compacting = false;
    this.memory = undefined;
    await Promise.all([this.sessions.load(), this.conversation.refresh()]);
  }

  private async loadModels(): Promise<void> {
    const { link } = this.context;
    try {
      const [{ models }, status] = await Promise.all([
        link.request("models.list", {}),
        link.has("setup.status") ? link.request("setup.status", {}).catch(() => undefined) : undefined,
      ]);
      this.models = modelChoices(models, status?.providers ?? [], this.facts.model);
      this.modelsError = "";
    } catch (error) {
      this.modelsError = failureText(error);
    }
  }

  private async loadMemory(): Promise<void> {
    const { link } = this.context;
    const { sessionKey } = this.view;
    if (!link.has("sessions.context")) {
      this.memoryError = "this gateway does not tell.";
      return;
    }
    try {
      const memory = await link.request("sessions.context", { key: sessionKey });
      if (sessionKey === this.view.sessionKey) this.memory = memory;
    } catch (error) {
      this.memoryError = failureText(error);
    }
  }

  private get facts(): HeaderFacts {
    const { row, view } = this;
    const { link } = this.context;
    const { defaults, answering } = this.sessions.state.value;
    const agentId = agentOf(view.sessionKey, this.defaultAgentId);
    const agent = this.agents.find(({ id }) => id.toLowerCase() === agentId);
    const [provider, model] = row?.model ? [row.modelProvider, row.model] : [defaults.modelProvider, defaults.model];
    const mayChange = link.may("operator.admin");
    return {
      key: view.sessionKey,
      title: chatTitle(row, view),
      agent: agent?.identity?.name ?? agent?.name ?? agentId,
      row,
      model: model ? [provider, model].filter(Boolean).join("/") : (answering?.model ?? ""),
      total: row?.contextTokens ?? defaults.contextTokens ?? undefined,
      mayChange,
      mayDelete: mayChange && view.sessionKey !== this.mainKey,
      canExport: link.has("sessions.export"),
    };
  }

  /** The model of this conversation, where it is not the one that answers everywhere else. */
  private get chosen(): ChosenModel | undefined {
    return this.row?.model ? chosenModel(this.facts.model, this.sessions.state.value, this.models) : undefined;
  }

  private sidebar(drawer: boolean): TemplateResult {
    return html`<oc-chat-sidebar
      .sessions=${this.sessions.state.value}
      .current=${this.view.sessionKey}
      .defaultAgentId=${this.defaultAgentId}
      ?drawer=${drawer}
      @new-chat=${this.begin}
      @fold=${this.fold}
      @left=${() => (this.drawer = false)}
      @search=${({ detail }: CustomEvent<{ words: string }>) => this.sessions.search(detail.words)}
      @more=${() => this.sessions.more()}
      @automation=${({ detail }: CustomEvent<boolean>) => this.sessions.openAutomation(detail)}
      @retry=${() => void this.sessions.load()}
    ></oc-chat-sidebar>`;
  }

  private log(): TemplateResult {
    const { answering } = this.sessions.state.value;
    if (this.view.empty) {
      return html`<oc-greeting
        .answering=${answering}
        .chosen=${this.chosen}
        ?again=${this.view.sessionKey !== this.mainKey}
        ?disabled=${!this.context.link.may("operator.write")}
        @example=${({ detail }: CustomEvent<{ text: string }>) => this.conversation.send({ text: detail.text, attachments: [] })}
      ></oc-greeting>`;
    }
    return html`<oc-transcript
      .conversation=${this.conversation}
      .context=${this.context}
      .wanted=${this.route.query.get("run") ?? this.route.query.get("entry") ?? undefined}
      @edit-message=${({ detail }: CustomEvent<Draft>) => void this.edit(detail)}
    ></oc-transcript>`;
  }

  private foot(): TemplateResult {
    const { link } = this.context;
    const { running, sessionKey, lastOwn, unsent, queued } = this.view;
    const waits = [
      unsent > 0 ? `${plural(unsent, "message")} waiting for the connection` : "",
      queued > 0 && running ? `${plural(queued, "message")} waiting for the answer to end` : "",
    ];
    return html`<div class="foot">
      <oc-approvals
        .approvals=${this.approvals.state.value}
        .sessionKey=${sessionKey}
        .rows=${this.sessions.state.value.rows}
        .may=${link.may("operator.approvals")}
        @decide=${({ detail }: CustomEvent<{ id: string; decision: Decision }>) => void this.attempt(() => this.approvals.decide(detail.id, detail.decision))}
      ></oc-approvals>
      <p class="waits soft" role="status">${waits.filter(Boolean).join(" · ")}</p>
      <oc-composer
        .sessionKey=${sessionKey}
        .shelf=${this.context.shelf}
        .offer=${this.conversation.offer}
        .limit=${link.hello?.policy.maxPayload}
        .commands=${this.commands}
        .lastOwn=${lastOwn}
        ?running=${running}
        .connected=${link.state.value.kind === "open"}
        .may=${link.may("operator.write")}
        @send=${({ detail }: CustomEvent<Draft>) => this.conversation.send(detail)}
        @stop=${this.stop}
      >
        <oc-talk-button slot="talk" .link=${link} .conversation=${this.conversation} .may=${link.may("operator.write")}></oc-talk-button>
      </oc-composer>
    </div>`;
  }

  protected override render(): TemplateResult {
    const drawer = this.narrow.matches;
    const beside = !drawer && !this.folded;
    return html`<div class="frame ${beside ? "" : "alone"}">
        ${beside ? html`<aside aria-label="Conversations">${this.sidebar(false)}</aside>` : nothing}
        <div class="talk">
          <oc-chat-header
            .facts=${this.facts}
            .models=${this.models}
            .modelsError=${this.modelsError}
            .memory=${this.memory}
            .memoryError=${this.memoryError}
            ?compacting=${this.compacting}
            ?unlisted=${!beside}
            @list=${this.fold}
            @help=${() => this.help.open()}
            @models=${() => void this.loadModels()}
            @context=${() => void this.loadMemory()}
            @action=${({ detail }: CustomEvent<SessionAction>) => void this.act(detail)}
          ></oc-chat-header>
          <div class="log">${this.log()}</div>
          ${this.foot()}
        </div>
        <oc-canvas-panel .context=${this.context} .sessionKey=${this.view.sessionKey}></oc-canvas-panel>
        ${
          drawer && this.drawer
            ? html`<dialog
                class="drawer"
                aria-label="Conversations"
                @close=${() => (this.drawer = false)}
                @click=${(event: Event) => event.target === event.currentTarget && (this.drawer = false)}
              >
                ${this.sidebar(true)}
              </dialog>`
            : nothing
        }
      </div>
      <oc-keys-help></oc-keys-help>`;
  }
}
customElements.define("oc-chat-page", ChatPage);
