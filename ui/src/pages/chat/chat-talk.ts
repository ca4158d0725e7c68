import { query, state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { nameIn } from "./approvals-board.ts";
import type { ChatView, QueuedMessage } from "./chat-view.ts";
import { attachedOf } from "./composer-files.ts";
import type { Composer } from "./composer.ts";
import type { Deletion } from "./deletions.ts";
import type { Conversation, Draft } from "./model/conversation.ts";
import { changeQueued, stopRuns, type TakenBack } from "./queue-actions.ts";
import type { QueueWish } from "./queue.ts";
import { actOnList, restore, type ActDetail } from "./sidebar-actions.ts";
import { agentOf, newSessionKey } from "./sidebar-groups.ts";
import type { Sessions } from "./sidebar-sessions.ts";
import { t } from "../../words/words.ts";

/** What is said in the open conversation: where it goes, what is taken back, and what becomes of it when the conversation is deleted. */
export abstract class ChatTalk extends Page {
  @state() protected conversation!: Conversation;
  @state() protected view!: ChatView;
  @state() protected drawer = false;
  /** What the conversation was called that is open and was deleted elsewhere. */
  @state() protected gone: string | undefined;
  @query("oc-composer") protected composer!: Composer;
  protected sessions!: Sessions;

  protected get mainKey(): string {
    return this.context.link.hello?.snapshot.sessionDefaults?.mainSessionKey ?? "agent:main:main";
  }

  protected get defaultAgentId(): string {
    return this.context.link.hello?.snapshot.sessionDefaults?.defaultAgentId ?? "main";
  }

  protected beginNew(): void {
    this.drawer = false;
    this.context.router.go(place("chat", [newSessionKey(agentOf(this.view.sessionKey, this.defaultAgentId))]));
  }

  readonly begin = (): void => {
    this.beginNew();
    void this.updateComplete.then(() => this.composer.focus());
  };

  /** Where messages go: what was deleted does not come back as another conversation in its place. */
  protected async target(): Promise<Conversation> {
    if (this.gone !== undefined) {
      this.beginNew();
      await this.updateComplete;
    }
    return this.conversation;
  }
  protected readonly send = async (draft: Draft): Promise<unknown> => (await this.target()).send(draft);
  protected readonly offer = async (draft: Draft): Promise<boolean> => (await this.target()).offer(draft);
  readonly restore = (deletion: Deletion): void =>
    void restore([deletion], this.context, () => {
      this.sessions.refresh();
      void this.conversation.refresh();
    });

  /** Ends the runs. The gateway takes away what waited behind them, too: it comes back into the box. */
  protected readonly stop = async (): Promise<void> => {
    const { conversation } = this;
    const back = await stopRuns(conversation, this.context.link, (work) => this.attempt(work));
    if (back) await this.giveBack(conversation, back);
  };

  /** Puts a message back where it was written, though the page may show another conversation by then. */
  protected async giveBack(conversation: Conversation, { text, attachments, note }: TakenBack): Promise<void> {
    const { sessionKey } = conversation.state.value;
    await this.composer.giveBack(text, { sessionKey, note, files: attachments.map(attachedOf) });
    if (sessionKey !== this.view.sessionKey) this.context.toasts.say(t("Unsent text is back in the box of the conversation it was written in."));
  }

  protected async actOnList({ action, done }: ActDetail): Promise<void> {
    const { rows, archive, automation, found = [] } = this.sessions.state.value;
    const known = [...rows, ...archive.rows, ...automation.rows, ...found];
    const changed = (keys: readonly string[]): void => this.sessions.moved(keys);
    const act = (context: Parameters<typeof actOnList>[1]): Promise<void> => actOnList(action, context, changed, (key) => nameIn(known, key));
    if (done) await this.answerWith(done, act);
    else await this.attempt(() => act(this.context));
    if (action.do === "delete" && action.keys.includes(this.view.sessionKey)) this.context.router.go("chat");
  }

  /** Tells a dialog what came of its wish. What is refused later, such as an undo, is a toast again. */
  private async answerWith(done: NonNullable<ActDetail["done"]>, act: (context: Parameters<typeof actOnList>[1]) => Promise<void>): Promise<void> {
    const { link, toasts } = this.context;
    let isOver = false;
    let refused: string | undefined;
    const end = (): void => {
      isOver = true;
      done(refused);
    };
    const warn = (text: string): void => (isOver ? toasts.warn(text) : void (refused ??= text));
    const acting = act({ link, toasts: { ...toasts, warn } }).catch((error: unknown) => warn(failureText(error)));
    // Without a connection it is stored, and nothing can be refused yet.
    if (link.state.value.kind !== "open") await Promise.resolve().then(end);
    await acting;
    if (!isOver) end();
  }

  /** Sends a message that waits at once, takes it back into the box, or takes it away. */
  protected async changeQueue({ wish, message, done }: { wish: QueueWish; message: QueuedMessage; done: () => void }): Promise<void> {
    const { conversation } = this;
    const back = await changeQueued(conversation, this.context.link, { wish, message }, (work) => this.attempt(work));
    if (back) await this.giveBack(conversation, back);
    done();
  }
}
