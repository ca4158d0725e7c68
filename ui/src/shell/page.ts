import { LitElement, type PropertyValues } from "lit";
import { property } from "lit/decorators.js";
import { failureText } from "../link/failure.ts";
import type { PageContext } from "./context.ts";
import type { Route } from "./router.ts";

/** A page: it loads when it is shown and whenever what it shows may be out of date. */
export abstract class Page extends LitElement {
  @property({ attribute: false }) context!: PageContext;
  @property({ attribute: false }) route!: Route;

  private readonly scope: Disposable[] = [];

  override connectedCallback(): void {
    super.connectedCallback();
    this.during(this.context.link.onFresh(() => void this.load()));
    if (this.context.link.state.value.kind === "open") void this.load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const held of this.scope.splice(0)) held[Symbol.dispose]();
  }

  /** Held until the page is left: events, timers. */
  protected during(held: Disposable): void {
    this.scope.push(held);
  }

  /** Calls again and again while the page is shown and seen. */
  protected every(ms: number, work: () => void): void {
    const timer = setInterval(() => {
      if (!document.hidden && this.context.link.state.value.kind === "open") work();
    }, ms);
    this.during({ [Symbol.dispose]: () => clearInterval(timer) });
  }

  /** Fetches what the page shows. Called at the start, after a reconnect and after missed events. */
  abstract load(): Promise<void>;

  /** Does something that may fail and says so. */
  protected async attempt<T>(work: () => Promise<T>, done?: string): Promise<T | undefined> {
    try {
      const result = await work();
      if (done !== undefined) this.context.toasts.say(done);
      return result;
    } catch (error) {
      this.context.toasts.warn(failureText(error));
      return undefined;
    }
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("route") && changed.get("route") !== undefined) this.routeChanged();
  }

  /** The address changed within the page. */
  protected routeChanged(): void {
    void this.load();
  }
}
