import { css, html, LitElement, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { duration } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { ChartWidth } from "../../parts/chart-width.ts";
import "../../parts/tip.ts";
import type { TraceRow, Waterfall } from "./story-rows.ts";
import { atOf, focused, isWhole, panned, ticksOf, wholeView, xOf, zoomed, type TimeView } from "./time-axis.ts";
import { waterfallLook } from "./waterfall-look.ts";
import { EDGE, frameOf, rowPicture, rowWords, timeWidth, tookWords, type Frame } from "./waterfall-row.ts";
import { t } from "../../words/words.ts";

const ZOOM = 1.6;
/** A drag of fewer pixels is a click. */
const STILL = 4;

interface Drag {
  readonly x: number;
  readonly view: TimeView;
  moved: boolean;
}

/** A story over time. Says `step` with the row that was chosen. */
export class WaterfallChart extends LitElement {
  static override styles = [
    sheet,
    waterfallLook,
    css`
      .tools {
        justify-content: flex-end;
        gap: 6px;
        margin-bottom: 6px;
      }
    `,
  ];
  @property({ attribute: false }) waterfall!: Waterfall;
  /** The index of the step that is shown beside it. */
  @property({ attribute: false }) chosen: number | undefined;
  @state() private view: TimeView | undefined;
  @state() private hovered: { readonly row: TraceRow; readonly x: number; readonly y: number } | undefined;
  @state() private cursor: number | undefined;
  @state() private at = 0;
  @query("svg.chart") readonly picture!: SVGSVGElement;
  private readonly width = new ChartWidth(this, 900);
  private drag: Drag | undefined;

  private get whole(): TimeView {
    return wholeView(this.waterfall.length);
  }

  private get frame(): Frame {
    return frameOf(this.width.value, this.view ?? this.whole);
  }

  /** Shows one step as large as it goes. */
  focusOn({ start, end }: TraceRow): void {
    this.view = focused(this.whole, start, end);
  }

  private change(view: TimeView): void {
    this.view = isWhole(view, this.whole) ? undefined : view;
  }

  private zoom(factor: number, around?: number): void {
    this.change(zoomed(this.view ?? this.whole, this.whole, factor, around));
  }

  private pan(part: number): void {
    const view = this.view ?? this.whole;
    this.change(panned(view, this.whole, (view.to - view.from) * part));
  }

  private timeUnder(event: MouseEvent): number {
    const { frame } = this;
    return atOf(event.clientX - this.picture.getBoundingClientRect().left - frame.names, frame.view, timeWidth(frame));
  }

  private wheel(event: WheelEvent): void {
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) this.zoom(event.deltaY < 0 ? 1.25 : 0.8, this.timeUnder(event));
    else if (this.view && Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) this.pan(sideways / 800);
    else return;
    event.preventDefault();
  }

  private down(event: PointerEvent): void {
    if (event.button === 0) this.drag = { x: event.clientX, view: this.view ?? this.whole, moved: false };
  }

  private move(event: PointerEvent): void {
    const { frame, drag } = this;
    this.cursor = this.timeUnder(event);
    if (!drag || !this.view) return;
    const by = event.clientX - drag.x;
    if (!drag.moved && Math.abs(by) < STILL) return;
    if (!drag.moved) this.picture.setPointerCapture(event.pointerId);
    drag.moved = true;
    this.hovered = undefined;
    this.change(panned(drag.view, this.whole, (-by / timeWidth(frame)) * (drag.view.to - drag.view.from)));
  }

  private left(): void {
    this.cursor = undefined;
    this.hovered = undefined;
  }

  private choose(row: TraceRow): void {
    if (this.drag?.moved) return;
    this.dispatchEvent(new CustomEvent("step", { detail: row }));
  }

  private hover(row: TraceRow, event: MouseEvent): void {
    if (this.drag?.moved) return;
    const box = this.getBoundingClientRect();
    this.hovered = { row, x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private focused(row: TraceRow, index: number, target: EventTarget | null): void {
    this.at = index;
    if (!(target instanceof Element) || !target.matches(":focus-visible")) return;
    const [box, own] = [target.getBoundingClientRect(), this.getBoundingClientRect()];
    this.hovered = { row, x: this.frame.names, y: box.bottom - own.top - 10 };
  }

  private goTo(index: number): void {
    this.at = Math.min(Math.max(index, 0), this.waterfall.rows.length - 1);
    this.renderRoot.querySelectorAll<SVGGElement>("g.row")[this.at]?.focus();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.waterfall.rows[this.at];
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => this.goTo(this.at + 1),
      ArrowUp: () => this.goTo(this.at - 1),
      Home: () => this.goTo(0),
      End: () => this.goTo(this.waterfall.rows.length - 1),
      ArrowLeft: () => this.pan(-0.2),
      ArrowRight: () => this.pan(0.2),
      "+": () => this.zoom(ZOOM),
      "=": () => this.zoom(ZOOM),
      "-": () => this.zoom(1 / ZOOM),
      "0": () => (this.view = undefined),
      Enter: () => row && this.choose(row),
      " ": () => row && this.choose(row),
      z: () => row && this.focusOn(row),
      Escape: () => (this.hovered = undefined),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  private axis(frame: Frame, bottom: number): SVGTemplateResult[] {
    const width = timeWidth(frame);
    return ticksOf(frame.view, width).map(({ at, label }) => {
      const x = frame.names + xOf(at, frame.view, width);
      return svg`<line class="grid" x1=${x} x2=${x} y1="20" y2=${bottom}/><text class="axis" x=${x} y="14" text-anchor=${x > frame.width - 30 ? "end" : "middle"}>${label}</text>`;
    });
  }

  private line(frame: Frame, bottom: number): SVGTemplateResult | typeof nothing {
    const x = this.cursor === undefined ? -1 : frame.names + xOf(this.cursor, frame.view, timeWidth(frame));
    return x < frame.names || x > frame.width - EDGE ? nothing : svg`<line class="cursor" pointer-events="none" x1=${x} x2=${x} y1="20" y2=${bottom}/>`;
  }

  /** The policy of the page allows no style in a template: it is set when it is there. */
  protected override updated(): void {
    const tip = this.renderRoot.querySelector<HTMLElement>(".tip");
    if (!tip || !this.hovered) return;
    const { x, y } = this.hovered;
    const across = this.width.value;
    const end = x > across / 2;
    tip.style.setProperty("top", `${y + 16}px`);
    tip.style.setProperty("left", end ? "auto" : `${x + 12}px`);
    tip.style.setProperty("right", end ? `${Math.max(0, across - x + 12)}px` : "auto");
  }

  private tip(): TemplateResult | typeof nothing {
    if (!this.hovered) return nothing;
    const { row } = this.hovered;
    return html`<div class="tip" aria-hidden="true">
      <strong>${row.name}</strong> <span class="soft">${`${tookWords(row)}${row.open ? t(" so far") : ""}`}</span>
      <div>${row.text}</div>
      <div class="soft">${t`starts after ${duration(row.start)}${row.first === undefined ? "" : `, ${firstWords(row, row.first)}`}`}</div>
    </div>`;
  }

  protected override render(): TemplateResult {
    const { frame } = this;
    const { rows } = this.waterfall;
    const bottom = frame.axis + rows.length * frame.rowHeight;
    return html`<div class="row tools" role="toolbar" aria-label=${t("Zoom")}>
        <oc-tip text=${t("Zoom in (+ or Ctrl + mouse wheel)")}
          ><button class="small icon" aria-label=${t("Zoom in")} @click=${() => this.zoom(ZOOM)}>${icon("plus", 15)}</button></oc-tip
        >
        <oc-tip text=${t("Zoom out (-)")}
          ><button class="small icon" aria-label=${t("Zoom out")} ?disabled=${!this.view} @click=${() => this.zoom(1 / ZOOM)}>${minus}</button></oc-tip
        >
        <oc-tip text=${t("Earlier (left arrow)")}
          ><button class="small icon" aria-label=${t("Earlier")} ?disabled=${!this.view} @click=${() => this.pan(-0.4)}>${icon("left", 15)}</button></oc-tip
        >
        <oc-tip text=${t("Later (right arrow)")}
          ><button class="small icon" aria-label=${t("Later")} ?disabled=${!this.view} @click=${() => this.pan(0.4)}>${icon("right", 15)}</button></oc-tip
        >
        <oc-tip text=${t("Reset zoom (0)")}
          ><button class="small" ?disabled=${!this.view} @click=${() => (this.view = undefined)}>${t("Reset zoom")}</button></oc-tip
        >
      </div>
      <svg
        class="chart ${this.view ? "zoomed" : ""}"
        role="group"
        aria-label=${t("Steps over time")}
        width=${frame.width}
        height=${bottom + 6}
        viewBox="0 0 ${frame.width} ${bottom + 6}"
        @wheel=${this.wheel}
        @pointerdown=${this.down}
        @pointermove=${this.move}
        @pointerleave=${this.left}
        @pointerup=${() => setTimeout(() => (this.drag = undefined))}
        @pointercancel=${() => (this.drag = undefined)}
        @keydown=${this.key}
      >
        <rect class="backdrop" x="0" y="0" width=${frame.width} height=${bottom}></rect>
        ${this.axis(frame, bottom)}${this.line(frame, bottom)}${rows.map((row, index) => this.row(row, index, frame))}
      </svg>
      ${this.tip()}`;
  }

  private row(row: TraceRow, index: number, frame: Frame): SVGTemplateResult {
    return svg`<g class="row ${row.index >= 0 && row.index === this.chosen ? "chosen" : ""}" role="button" tabindex=${index === this.at ? 0 : -1}
      aria-label=${rowWords(row)} @click=${() => this.choose(row)} @dblclick=${() => this.focusOn(row)}
      @mousemove=${(event: MouseEvent) => this.hover(row, event)} @mouseleave=${() => (this.hovered = undefined)}
      @focus=${(event: FocusEvent) => this.focused(row, index, event.target)} @blur=${() => (this.hovered = undefined)}>
      ${rowPicture(row, frame, frame.axis + index * frame.rowHeight)}</g>`;
  }
}
customElements.define("oc-waterfall", WaterfallChart);

const minus = svg`<svg width="15" height="15" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" aria-hidden="true"><path d="M5 12h14"/></svg>`;

const firstWords = ({ start, step }: TraceRow, first: number): string =>
  step.kind === "delivery" ? t`last attempt after ${duration(first - start)}` : t`first token after ${duration(first - start)}`;
