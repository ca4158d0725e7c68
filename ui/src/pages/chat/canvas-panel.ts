import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { keyed } from "lit/directives/keyed.js";
import type { EventPayload } from "openclaw/client";
import { randomId } from "../../base/random-id.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import type { PageContext } from "../../shell/context.ts";
import type { FromFrame, ToFrame, UserAction } from "../../canvas/frame-messages.ts";
import { t } from "../../words/words.ts";

type View = Omit<EventPayload<"canvas.changed">, "sessionKey" | "reset">;

const MOST_CONTEXT = 20_000;
const numberIn = (params: Readonly<Record<string, unknown>>, name: string, fallback: number): number =>
  typeof params[name] === "number" ? params[name] : fallback;
const words = (value: unknown, most: number): string | undefined => (typeof value === "string" && value !== "" ? value.slice(0, most) : undefined);

/** What a document on the canvas says the user did; undefined when it is nothing of that kind. */
function actionOf(action: UserAction | undefined): { name: string; surfaceId?: string; componentId?: string; context?: Record<string, unknown> } | undefined {
  const name = words(action?.name, 200);
  if (name === undefined) return undefined;
  const [surfaceId, componentId] = [words(action?.surfaceId, 200), words(action?.sourceComponentId, 200)];
  const context = action?.context;
  const fits = typeof context === "object" && context !== null && !Array.isArray(context) && JSON.stringify(context).length <= MOST_CONTEXT;
  return { name, ...(surfaceId ? { surfaceId } : {}), ...(componentId ? { componentId } : {}), ...(fits ? { context: { ...context } } : {}) };
}

/**
 * The canvas beside a conversation. What is on it runs in a frame without an origin: it has neither this page's storage nor its connection, and all it can
 * do is answer what it is asked and say what the user did.
 */
export class CanvasPanel extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: contents;
      }
      section {
        display: grid;
        grid-template-rows: auto minmax(0, 1fr);
        width: clamp(320px, 42vw, 760px);
        min-height: 0;
        border-inline-start: 1px solid var(--line);
        background: var(--paper);
      }
      header {
        display: flex;
        align-items: center;
        justify-content: space-between;
        min-height: 52px;
        padding: 8px 12px;
        border-bottom: 1px solid var(--line);
      }
      h2 {
        font-size: var(--type-reading);
      }
      iframe {
        width: 100%;
        height: 100%;
        border: 0;
        background: #fff;
      }
      @media (max-width: 900px) {
        section {
          position: fixed;
          z-index: 20;
          inset: 0;
          width: auto;
        }
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property({ attribute: false }) sessionKey = "";
  @state() private view: View | undefined;
  @state() private path = "";
  @query("iframe") private frame: HTMLIFrameElement | null | undefined;
  /** The frame whose document has loaded and has its surfaces. */
  private ready: HTMLIFrameElement | undefined;
  /** Requests for a document that is still loading. */
  private waiting: ToFrame[] = [];
  private held: Disposable[] = [];
  private readonly heard = (event: MessageEvent): void => this.hear(event);

  override connectedCallback(): void {
    super.connectedCallback();
    const { link } = this.context;
    this.held = [
      link.onFresh(() => void this.attach()),
      link.on("canvas.changed", (change) => this.change(change)),
      link.on("canvas.request", (request) => this.forward(request)),
    ];
    addEventListener("message", this.heard);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("message", this.heard);
    for (const held of this.held.splice(0)) held[Symbol.dispose]();
    this.leave(this.sessionKey);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has("sessionKey")) return;
    const before = changed.get("sessionKey");
    if (before) this.leave(before);
    this.view = undefined;
    this.waiting = [];
    void this.attach();
  }

  protected override updated(): void {
    this.toggleAttribute("open", this.isOpen);
  }

  private get isOpen(): boolean {
    return this.view?.visible === true && this.path !== "";
  }

  private get canShow(): boolean {
    const { link } = this.context;
    return link.state.value.kind === "open" && link.has("canvas.attach") && link.may("operator.write");
  }

  private leave(sessionKey: string): void {
    if (sessionKey !== "" && this.canShow) this.context.link.request("canvas.attach", { sessionKey, on: false }).catch(() => undefined);
  }

  /** Takes up the canvas as it is. */
  private async attach(): Promise<View | undefined> {
    const { sessionKey } = this;
    if (sessionKey === "" || !this.canShow) return undefined;
    const found = await this.context.link.request("canvas.attach", { sessionKey }).catch(() => undefined);
    if (!found || sessionKey !== this.sessionKey) return undefined;
    this.path = found.path;
    this.view = found.view;
    return found.view;
  }

  private change({ sessionKey, reset, ...view }: EventPayload<"canvas.changed">): void {
    if (sessionKey !== this.sessionKey || (this.view && view.revision <= this.view.revision)) return;
    this.view = view;
    if (this.isReady && view.target.kind === "a2ui") this.post({ openclaw: "a2ui", reset, messages: view.messages });
  }

  private get isReady(): boolean {
    return this.ready !== undefined && this.ready === this.frame;
  }

  /** Sends a request now, or when the document has loaded. */
  private ask(message: ToFrame): void {
    if (this.isReady) this.post(message);
    else this.waiting.push(message);
  }

  private post(message: ToFrame): void {
    // The frame has no origin that could be named. Nothing that is sent is a secret.
    this.frame?.contentWindow?.postMessage(message, "*");
  }

  private forward({ id, sessionKey, command, params }: EventPayload<"canvas.request">): void {
    if (sessionKey !== this.sessionKey || !this.view?.visible) return void this.answer(id, { error: t("the canvas is not open on this page") });
    if (command === "eval") return this.ask({ openclaw: "eval", id, javaScript: String(params["javaScript"]) });
    const format = params["format"] === "jpeg" || params["format"] === "jpg" ? "jpeg" : "png";
    const [maxWidth, quality, delayMs] = [numberIn(params, "maxWidth", 1600), numberIn(params, "quality", 0.85), numberIn(params, "delayMs", 0)];
    this.ask({ openclaw: "snapshot", id, format, maxWidth, quality, delayMs });
  }

  private async answer(id: string, outcome: { readonly payload: unknown } | { readonly error: string }): Promise<void> {
    await this.context.link.request("canvas.result", { id, ok: "payload" in outcome, ...outcome }).catch(() => undefined);
  }

  private hear({ source, origin, data }: MessageEvent): void {
    if (!this.frame || source !== this.frame.contentWindow || origin !== "null" || typeof data !== "object" || data === null) return;
    const message = data as Partial<FromFrame>;
    if (message.openclaw === "ready") void this.fill();
    else if (message.openclaw === "result" && typeof message.id === "string")
      void this.answer(message.id, message.ok === true ? { payload: message.payload } : { error: String(message.error).slice(0, 2000) });
    else if (message.openclaw === "action") void this.act(message.action);
  }

  /** A document that has just loaded gets all that is to be shown. */
  private async fill(): Promise<void> {
    const { frame } = this;
    const view = await this.attach();
    if (!frame || frame !== this.frame) return;
    this.ready = frame;
    if (view?.target.kind === "a2ui") this.post({ openclaw: "a2ui", reset: true, messages: view.messages });
    for (const message of this.waiting.splice(0)) this.post(message);
  }

  /** Only while the user is at it, in the frame: a document does not speak to the agent by itself. */
  private async act(action: UserAction | undefined): Promise<void> {
    const sent = actionOf(action);
    if (!sent || !navigator.userActivation.isActive || this.shadowRoot?.activeElement !== this.frame) return;
    try {
      await this.context.link.request("canvas.action", { sessionKey: this.sessionKey, ...sent, idempotencyKey: randomId() });
    } catch (error) {
      this.context.toasts.warn(failureText(error));
    }
  }

  private readonly close = (): void => {
    const { sessionKey } = this;
    void this.context.link.request("canvas.invoke", { sessionKey, command: "canvas.hide", idempotencyKey: randomId() }).catch(() => undefined);
  };

  private get address(): string {
    const { kind, path = "" } = this.view?.target ?? { kind: "file" };
    return new URL(kind === "a2ui" ? `${this.path}/__openclaw__/a2ui/` : `${this.path}/__openclaw__/canvas/${path}`, location.origin).href;
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.isOpen) return nothing;
    return html`<section aria-label=${t("Canvas")}>
      <header>
        <h2>${t("Canvas")}</h2>
        <button class="plain" aria-label=${t("Close canvas")} title=${t("Close canvas")} @click=${this.close}>${icon("close")}</button>
      </header>
      ${keyed(this.address, html`<iframe title=${t("Canvas")} sandbox="allow-scripts allow-forms" referrerpolicy="no-referrer" src=${this.address}></iframe>`)}
    </section>`;
  }
}
customElements.define("oc-canvas-panel", CanvasPanel);
