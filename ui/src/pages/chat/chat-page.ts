import { html, nothing, type TemplateResult } from "lit";
import { query, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { plural } from "../../base/figures.ts";
import { keep } from "../../base/keep.ts";
import { isWriting } from "../../base/writing.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import type { Looks } from "../../parts/avatar-facts.ts";
import { isInDialog, modal } from "../../parts/modal.ts";
import "./approvals.ts";
import { waitingIn, type Approval, type Decision } from "./approvals-board.ts";
import "./canvas-panel.ts";
import "./branch-edit.ts";
import type { EditMessage } from "./branch-edit.ts";
import { ChatTalk } from "./chat-talk.ts";
import { chatFacts, type ChatFacts } from "./chat-facts.ts";
import { chatLook } from "./chat-look.ts";
import { createSame } from "./chat-same.ts";
import { chatView, sameView, type QueuedMessage } from "./chat-view.ts";
import "./composer.ts";
import type { Command } from "./composer-commands.ts";
import { loadContext, loadModelChoices, settingsBar } from "./composer-settings.ts";
import { deletedNotice } from "./deleted-notice.ts";
import { deletions, type Deletion } from "./deletions.ts";
import "./greeting.ts";
import "./header.ts";
import type { ChatHeader } from "./header.ts";
import "./keys-help.ts";
import type { KeysHelp } from "./keys-help.ts";
import type { ContextAnswer } from "./meter-parts.ts";
import { createConversation, type Draft } from "./model/conversation.ts";
import { createOutbox } from "./model/outbox.ts";
import { createOpenRow, type OpenRow } from "./open-row.ts";
import { chosenModel, type ChosenModel, type ModelChoice } from "./pickers-models.ts";
import "./queue.ts";
import type { QueueWish } from "./queue.ts";
import { act, type SessionAction } from "./session-actions.ts";
import "./sidebar.ts";
import type { ActDetail } from "./sidebar-actions.ts";
import type { SessionRow } from "./sidebar-groups.ts";
import { createSessions, type ListView } from "./sidebar-sessions.ts";
import "./talk-button.ts";
import "./transcript.ts";
import { t } from "../../words/words.ts";

const NARROW = "(max-width: 900px)";
/** Where a keyboard comes up when a box has the focus, it is not given one unasked. */
const KEYBOARD = "(hover: hover) and (pointer: fine)";
/** Uses an answer when it comes; without it the page shows less. */
const quietly = <T>(answer: Promise<T>, use: (answer: T) => unknown): Promise<unknown> => answer.then(use, () => undefined);

/** One conversation, and the others beside it. */
export class ChatPage extends ChatTalk {
  static override styles = [sheet, chatLook];
  @state() private folded = keep.text("sessions") === "folded";
  @state() private commands: readonly Command[] = [];
  @state() private agents: MethodResult<"agents.list">["agents"] = [];
  @state() private models: readonly ModelChoice[] | undefined;
  @state() private modelsError = "";
  @state() private memory: ContextAnswer | undefined;
  @state() private memoryError = "";
  @state() private compacting = false;
  @query("oc-keys-help") private help!: KeysHelp;
  @query("oc-chat-header") private header!: ChatHeader;
  @query("oc-edit-message") private editor!: EditMessage;
  private openRow!: OpenRow;
  private heard: Disposable | undefined;
  private readonly looks = createSame<Looks>();
  private readonly waits = createSame<readonly Approval[]>();
  private readonly narrow = matchMedia(NARROW);
  private readonly again = (): void => this.requestUpdate();

  override connectedCallback(): void {
    const { link } = this.context;
    this.sessions = createSessions(link);
    this.openRow = createOpenRow(link, this.sessions.state);
    this.follow();
    super.connectedCallback();
    for (const held of [this.sessions, this.sessions.state.subscribe(this.again), this.context.approvals.state.subscribe(this.again)]) this.during(held);
    for (const held of [this.openRow, this.openRow.state.subscribe(this.again), link.state.subscribe(this.again)]) this.during(held);
    this.narrow.addEventListener("change", this.again);
    addEventListener("storage", this.again);
    addEventListener("keydown", this.key);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.narrow.removeEventListener("change", this.again);
    removeEventListener("storage", this.again);
    removeEventListener("keydown", this.key);
    this.heard?.[Symbol.dispose]();
    this.conversation.close();
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
    this.gone = undefined;
    this.heard = conversation.state.subscribe((now) => {
      const view = chatView(now);
      if (sameView(view, this.view)) return;
      if (view.kept ? this.gone !== undefined : this.view.kept) {
        this.gone = view.kept ? undefined : this.facts.title;
        this.sessions.refresh();
      }
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
      link.has("commands.list") ? quietly(link.request("commands.list", {}), ({ commands }) => (this.commands = commands)) : undefined,
      quietly(link.request("agents.list", {}), ({ agents }) => (this.agents = agents)),
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
    if (!document.hidden) this.sessions.markSeen(this.view.sessionKey);
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.ctrlKey && event.shiftKey && event.key.toLowerCase() === "o") {
      event.preventDefault();
      return this.begin();
    }
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!plain || isWriting(event.composedPath()[0]) || isInDialog(event)) return;
    if (event.key === "/") this.composer.focus();
    else if (event.key === "?") this.help.open();
    else if (event.key === "Escape" && this.view.running) void this.stop();
    else return;
    event.preventDefault();
  };

  /** Files can be dropped anywhere on the chat. */
  private readonly drag = (event: DragEvent): void => this.composer.drag(event);

  private fold(): void {
    if (this.narrow.matches) return void (this.drawer = !this.drawer);
    this.folded = !this.folded;
    keep.setText("sessions", this.folded ? "folded" : undefined);
  }

  private async act(action: SessionAction): Promise<void> {
    const { sessionKey } = this.view;
    this.compacting ||= action.do === "compact";
    const { title } = this.facts;
    const changed = (): void => void Promise.all([this.sessions.load(), this.conversation.refresh()]);
    const isDone = await this.attempt(async () => {
      await act(action, { context: this.context, key: sessionKey, title, label: this.row?.label, changed });
      return true;
    });
    if (!isDone && action.do === "rename" && sessionKey === this.view.sessionKey) void this.header.rename(action.label);
    if (action.do === "compact") this.compacting = false;
    this.memory = undefined;
    await Promise.all([this.sessions.load(), this.conversation.refresh()]);
  }

  private async loadModels(): Promise<void> {
    try {
      this.models = await loadModelChoices(this.context.link, this.facts.model);
      this.modelsError = "";
    } catch (error) {
      this.modelsError = failureText(error);
    }
  }

  private async loadMemory(): Promise<void> {
    const { link } = this.context;
    const { sessionKey } = this.view;
    try {
      const memory = await loadContext(link, sessionKey);
      if (sessionKey === this.view.sessionKey) this.memory = memory;
    } catch (error) {
      this.memoryError = failureText(error);
    }
  }

  private get facts(): ChatFacts {
    const { link } = this.context;
    const { row, view, agents, mainKey, defaultAgentId } = this;
    return chatFacts({ link, row, view, agents, mainKey, defaultAgentId, sessions: this.sessions.state.value });
  }

  /** The model of this conversation, where it is not the one that answers everywhere else. */
  private get chosen(): ChosenModel | undefined {
    return this.row?.model ? chosenModel(this.facts.model, this.sessions.state.value, this.models) : undefined;
  }

  private sidebar(drawer: boolean): TemplateResult {
    return html`<oc-chat-sidebar
      .sessions=${this.sessions.state.value}
      .current=${this.view.sessionKey}
      .asking=${new Set(this.context.approvals.state.value.waiting.map(({ request }) => request.sessionKey))}
      ?may=${this.context.link.may("operator.admin")}
      @act=${({ detail }: CustomEvent<ActDetail>) => void this.actOnList(detail)}
      .deleted=${deletions()}
      @restore=${({ detail }: CustomEvent<Deletion>) => this.restore(detail)}
      @view=${({ detail }: CustomEvent<ListView>) => this.sessions.show(detail)}
      @folder=${({ detail }: CustomEvent<{ name: string; isOpen: boolean }>) => this.sessions.openFolder(detail.name, detail.isOpen)}
      @more-hits=${() => this.sessions.moreHits()}
      .defaultAgentId=${this.defaultAgentId}
      ?drawer=${drawer}
      @new-chat=${this.begin}
      @fold=${this.fold}
      @left=${() => (this.drawer = false)}
      @search=${({ detail }: CustomEvent<{ words: string }>) => this.sessions.search(detail.words)}
      @more=${({ detail }: CustomEvent<string>) => this.sessions.more(detail)}
      @more-found=${() => this.sessions.moreFound()}
      @retry=${() => void this.sessions.load()}
    ></oc-chat-sidebar>`;
  }

  private log(): TemplateResult {
    const approvals = this.context.approvals.state.value;
    if (this.view.empty) {
      return html`<oc-greeting
        .answering=${this.sessions.state.value.answering}
        .chosen=${this.chosen}
        .agent=${this.facts.agent.name}
        ?again=${this.view.sessionKey !== this.mainKey}
        ?disabled=${!this.context.link.may("operator.write")}
        @example=${({ detail }: CustomEvent<{ text: string }>) => void this.send({ text: detail.text, attachments: [] })}
      ></oc-greeting>`;
    }
    return html`<oc-transcript
      .conversation=${this.conversation}
      .context=${this.context}
      .agent=${this.looks.same(this.facts.agent)}
      .approvals=${this.waits.same(waitingIn(approvals.waiting, this.view.sessionKey))}
      .deciding=${approvals.deciding}
      .wantedAt=${Number(this.route.query.get("at")) || undefined}
      .wanted=${this.route.query.get("run") ?? this.route.query.get("entry") ?? undefined}
      @stop=${this.stop}
      @edit-message=${({ detail }: CustomEvent<Draft>) => this.editor.open(detail)}
      @keep-prompt=${({ detail }: CustomEvent<string>) => void this.composer.manage(detail)}
    ></oc-transcript>`;
  }

  private foot(): TemplateResult {
    const { link } = this.context;
    const { running, sessionKey, lastOwn, unsent, queued } = this.view;
    const waits = unsent > 0 ? t`${plural(unsent, t("message"), t("messages"))} waiting for the connection` : "";
    const { agent } = this.facts;
    return html`<div class="foot">
      <oc-approvals
        .approvals=${this.context.approvals.state.value}
        .sessionKey=${sessionKey}
        .rows=${this.sessions.state.value.rows}
        .may=${link.may("operator.approvals")}
        ?alone=${this.view.empty}
      ></oc-approvals>
      <p class="waits soft" role="status">${waits}</p>
      ${
        this.gone === undefined
          ? nothing
          : deletedNotice(
              this.gone,
              deletions().find(({ key }) => key === sessionKey),
              this,
            )
      }
      <oc-composer
        .sessionKey=${sessionKey}
        .shelf=${this.context.shelf}
        .offer=${this.offer}
        .context=${this.context}
        .agentId=${agent.id}
        .commands=${this.commands}
        .lastOwn=${lastOwn}
        ?running=${running}
        .connected=${link.state.value.kind === "open"}
        .may=${link.may("operator.write")}
        .invitation=${t`Message ${agent.name}, / for commands, @ for files`}
        @send=${({ detail }: CustomEvent<Draft>) => void this.send(detail)}
        @stop=${this.stop}
      >
        <oc-queue
          slot="queue"
          .messages=${running ? queued : []}
          .canSteer=${link.has("chat.steer")}
          .canFetch=${link.has("chat.queued")}
          .may=${link.may("operator.write")}
          @queue=${({ detail }: CustomEvent<{ wish: QueueWish; message: QueuedMessage; done: () => void }>) => void this.changeQueue(detail)}
        ></oc-queue>
        ${settingsBar({
          facts: this.facts,
          models: this.models,
          modelsError: this.modelsError,
          memory: this.memory,
          memoryError: this.memoryError,
          compacting: this.compacting,
          loadModels: () => void this.loadModels(),
          loadMemory: () => void this.loadMemory(),
          act: (action) => void this.act(action),
        })}
        <oc-talk-button
          slot="talk"
          .link=${link}
          .conversation=${this.conversation}
          .may=${link.may("operator.write") && this.gone === undefined}
        ></oc-talk-button>
      </oc-composer>
    </div>`;
  }

  protected override render(): TemplateResult {
    const drawer = this.narrow.matches;
    const beside = !drawer && !this.folded;
    return html`<div class="frame ${beside ? "" : "alone"}">
        ${beside ? html`<aside aria-label=${t("Conversations")}>${this.sidebar(false)}</aside>` : nothing}
        <div
          class="talk"
          @dragover=${this.drag}
          @dragleave=${this.drag}
          @drop=${this.drag}
          @decide=${({ detail }: CustomEvent<{ id: string; decision: Decision }>) => void this.attempt(() => this.context.approvals.decide(detail.id, detail.decision))}
        >
          <oc-chat-header
            .facts=${this.facts}
            ?unlisted=${!beside}
            @list=${this.fold}
            @help=${() => this.help.open()}
            @action=${({ detail }: CustomEvent<SessionAction>) => void this.act(detail)}
          ></oc-chat-header>
          <div class="log">${this.log()}</div>
          ${this.foot()}
        </div>
        <oc-canvas-panel .context=${this.context} .sessionKey=${this.view.sessionKey}></oc-canvas-panel>
        ${
          drawer && this.drawer
            ? html`<dialog
                ${modal()}
                class="drawer"
                aria-label=${t("Conversations")}
                @close=${() => (this.drawer = false)}
                @click=${(event: Event) => event.target === event.currentTarget && (this.drawer = false)}
              >
                ${this.sidebar(true)}<oc-tab-bar .context=${this.context} @leave=${() => (this.drawer = false)}></oc-tab-bar>
              </dialog>`
            : nothing
        }
      </div>
      <oc-edit-message ?running=${this.view.running} @send=${({ detail }: CustomEvent<Draft>) => void this.send(detail)}></oc-edit-message>
      <oc-keys-help></oc-keys-help>`;
  }
}
customElements.define("oc-chat-page", ChatPage);
