import { css, html, LitElement, nothing, unsafeCSS, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { saveFile } from "../../../base/save-file.ts";
import { icon } from "../../../look/icons.ts";
import { sheet } from "../../../look/sheet.ts";
import type { MenuEntry } from "../../../parts/menu.ts";
import "../../../parts/menu.ts";
import "../../../parts/segmented.ts";
import { t } from "../../../words/words.ts";
import "../picture-viewer.ts";
import type { PictureViewer } from "../picture-viewer.ts";
import { coloured, COLOUR_NAMES } from "./thread/clean-svg.ts";
import { createDrawer, type Drawing } from "./draw-diagram.ts";
import { pngOf } from "./png.ts";
import type { DiagramKind, Refusal } from "./thread/statements.ts";

const KINDS: Readonly<Record<DiagramKind, string>> = {
  flowchart: t("Flowchart"),
  state: t("State diagram"),
  sequence: t("Sequence diagram"),
  class: t("Class diagram"),
  er: t("Entity-relationship diagram"),
  chart: t("Chart"),
};

const look = css`
  :host {
    display: block;
    margin: 0 0 10px;
  }
  .head {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px;
    min-height: 40px;
    padding: 4px 6px 4px 12px;
    font-size: var(--type-small);
    color: var(--ink-soft);
  }
  .card {
    overflow: hidden;
    background: var(--paper);
    border: 1px solid var(--line);
    border-radius: var(--radius-small);
  }
  .view {
    display: block;
    width: 100%;
    padding: 0;
    overflow: hidden;
    background: none;
    border: 0;
    border-top: 1px solid var(--line);
    border-radius: 0;
    cursor: zoom-in;
  }
  img {
    display: block;
    max-width: 100%;
    max-height: min(70vh, 640px);
    margin: 0 auto;
    object-fit: contain;
  }
  .code {
    padding: 0 8px;
  }
  .why {
    margin: -4px 0 10px;
    font-size: var(--type-small);
    color: var(--ink-soft);
  }
  .left {
    margin: 0;
    padding: 6px 12px;
    font-size: var(--type-small);
    color: var(--ink-soft);
    border-top: 1px solid var(--line);
  }
  .probe {
    display: none;
  }
`;

/** Elements that have the page's colours: what is written in the style of a page is computed nowhere else. */
const probes = COLOUR_NAMES.map(
  (name) => css`
    .probe[data-name="${unsafeCSS(name)}"] {
      color: var(--${unsafeCSS(name)});
    }
  `,
);

const drawer = createDrawer();

type Picture = Exclude<Drawing, { readonly why: Refusal }>;

const isPicture = (drawing: Drawing | undefined): drawing is Picture => drawing !== undefined && "svg" in drawing;

function reason(why: Refusal, detail: string): string {
  switch (why) {
    case "kind":
      return t`Diagrams of the kind “${detail}” are not drawn.`;
    case "large":
      return t("Too large to draw.");
    case "time":
      return t("Not drawn: it took too long.");
    case "empty":
      return t("Nothing to draw yet.");
    default:
      return t("This diagram could not be drawn. Its source may have an error.");
  }
}

/** A diagram of a message: drawn once it comes into view, with its source, which stands in the slot. It never has more than a picture of it in the page. */
export class Diagram extends LitElement {
  static override styles = [sheet, look, ...probes];
  @property({ attribute: false }) source = "";
  @property({ attribute: false }) copy: (text: string) => void = () => undefined;
  @state() private drawing: Drawing | undefined;
  @state() private face: "picture" | "source" = "picture";
  @state() private url: string | undefined;
  @query("oc-picture-viewer") private viewer!: PictureViewer | null;
  private watcher: IntersectionObserver | undefined;
  private theme: MutationObserver | undefined;
  private readonly contrast = matchMedia("(prefers-contrast: more)");
  private readonly paint = (): void => {
    const { drawing } = this;
    if (this.url !== undefined) URL.revokeObjectURL(this.url);
    this.url = isPicture(drawing) && this.isConnected ? URL.createObjectURL(this.file(drawing)) : undefined;
  };

  override connectedCallback(): void {
    super.connectedCallback();
    this.watcher = new IntersectionObserver((seen) => seen.some(({ isIntersecting }) => isIntersecting) && void this.draw(), { rootMargin: "600px" });
    this.watcher.observe(this);
    this.theme = new MutationObserver(this.paint);
    this.theme.observe(document.documentElement, { attributeFilter: ["data-theme", "data-contrast"] });
    this.contrast.addEventListener("change", this.paint);
    if (this.hasUpdated) this.paint();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.watcher?.disconnect();
    this.theme?.disconnect();
    this.contrast.removeEventListener("change", this.paint);
    this.paint();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.get("source") === undefined) return;
    this.drawing = undefined;
    this.paint();
    this.watcher?.disconnect();
    this.watcher?.observe(this);
  }

  private async draw(): Promise<void> {
    const { source } = this;
    this.watcher?.disconnect();
    if (this.drawing) return;
    const drawing = await drawer.draw(source);
    if (source !== this.source) return;
    this.drawing = drawing;
    this.paint();
  }

  /** The picture in the colours that the page has now. */
  private file(picture: Picture): Blob {
    const colours = Object.fromEntries(
      [...this.renderRoot.querySelectorAll<HTMLElement>(".probe")].map((probe) => [probe.dataset["name"] ?? "", getComputedStyle(probe).color]),
    );
    return new Blob([coloured(picture.svg, colours)], { type: "image/svg+xml" });
  }

  private async open(): Promise<void> {
    await this.viewer?.updateComplete;
    this.viewer?.open();
  }

  private readonly save = async (how: "svg" | "png", picture: Picture): Promise<void> => {
    const file = this.file(picture);
    const made = how === "svg" ? file : await pngOf(file, picture.width, picture.height).catch(() => undefined);
    if (made) saveFile(`diagram.${how}`, made.type, [made]);
  };

  private head(picture: Picture): TemplateResult {
    const entries: readonly MenuEntry[] = [
      { label: t("Save as SVG"), icon: "download", run: () => void this.save("svg", picture) },
      { label: t("Save as PNG"), icon: "download", run: () => void this.save("png", picture) },
    ];
    return html`<div class="head">
      <span class="grow cut" dir="auto">${picture.title === "" ? KINDS[picture.kind] : picture.title}</span>
      <oc-segmented
        .label=${t("Show as")}
        .value=${this.face}
        .options=${[
          { value: "picture", label: t("Diagram") },
          { value: "source", label: t("Source") },
        ]}
        @choose=${({ detail }: CustomEvent<"picture" | "source">) => (this.face = detail)}
      ></oc-segmented>
      <button class="plain icon" aria-label=${t("Copy source")} title=${t("Copy source")} @click=${() => this.copy(this.source)}>${icon("copy", 16)}</button>
      <oc-menu-button .label=${t("Save diagram")} .entries=${entries}><span slot="face">${icon("download", 16)}</span></oc-menu-button>
    </div>`;
  }

  private picture(picture: Picture): TemplateResult {
    const about = `${KINDS[picture.kind]}: ${[picture.title, picture.words].filter(Boolean).join(". ")}`;
    const lines = picture.left.slice(0, 5).join(", ");
    return html`<button class="view" aria-haspopup="dialog" title=${t("Show full picture")} @click=${() => void this.open()}>
        <img src=${this.url ?? ""} width=${picture.width} height=${picture.height} alt=${about} />
      </button>
      ${picture.left.length === 0 ? nothing : html`<p class="left">${picture.left.length === 1 ? t`Line ${lines} is not drawn: the source has all of it.` : t`Lines ${lines} are not drawn: the source has all of it.`}</p>`}
      <oc-picture-viewer .source=${this.url} .name=${t("Diagram")}></oc-picture-viewer>`;
  }

  protected override render(): TemplateResult {
    const { drawing } = this;
    const shades = COLOUR_NAMES.map((name) => html`<i class="probe" data-name=${name}></i>`);
    if (!isPicture(drawing) || this.url === undefined) {
      return html`${shades}<slot></slot>${drawing && "why" in drawing ? html`<p class="why" role="note">${reason(drawing.why, drawing.detail)}</p>` : nothing}`;
    }
    return html`${shades}
      <div class="card" role="group" aria-label=${KINDS[drawing.kind]}>
        ${this.head(drawing)} ${this.face === "picture" ? this.picture(drawing) : html`<div class="code"><slot></slot></div>`}
      </div>`;
  }
}
customElements.define("oc-diagram", Diagram);
