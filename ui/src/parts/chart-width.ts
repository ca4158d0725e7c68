import type { ReactiveController, ReactiveControllerHost } from "lit";

/** How wide an element is; draws it again when that changes. */
export class ChartWidth implements ReactiveController {
  private readonly host: ReactiveControllerHost & HTMLElement;
  private readonly otherwise: number;
  private observer: ResizeObserver | undefined;
  private measured = 0;

  constructor(host: ReactiveControllerHost & HTMLElement, otherwise = 600) {
    this.host = host;
    this.otherwise = otherwise;
    host.addController(this);
  }

  /** In whole pixels; a guess before it is on the page. */
  get value(): number {
    return this.measured === 0 ? this.otherwise : this.measured;
  }

  hostConnected(): void {
    this.observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width === this.measured || width === 0) return;
      this.measured = width;
      this.host.requestUpdate();
    });
    this.observer.observe(this.host);
  }

  hostDisconnected(): void {
    this.observer?.disconnect();
    this.observer = undefined;
  }
}
