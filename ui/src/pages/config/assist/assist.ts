import { html, nothing, render, type TemplateResult } from "lit";
import type { AssistHost, EditorAssist } from "../../../parts/json-editor.ts";
import { valueAt } from "../model/path.ts";
import { t } from "../../../words/words.ts";
import { assistLook } from "./assist-look.ts";
import { describe, type AssistFacts, type Description } from "./describe.ts";
import { editFor } from "./insert.ts";
import { NO_IDS, type KnownIds } from "./known-ids.ts";
import { placeAt, subjectAt, type CursorPlace, type Subject } from "./position.ts";
import { suggestionsAt, type Suggestion } from "./suggest.ts";
import { createGeometry } from "./text-geometry.ts";
import { readTree, type TextTree } from "./tree.ts";

/** What the assist asks for; the answers may change while it is used. */
export interface AssistSource {
  /** With the value of the last text that was JSON5. */
  facts(): AssistFacts & { readonly value: unknown };
  /** Asked once, when it is needed. */
  ids(found: (part: Partial<KnownIds>) => void): void;
}

/** In longer texts the list opens when it is asked for, not while one types. */
const MOST_TYPED_CHARS = 1_000_000;
const HOVER_MS = 350;
const LEAVE_MS = 250;
const PAGE = 10;
const EDGE_PX = 8;

interface List {
  readonly place: CursorPlace;
  readonly choices: readonly Suggestion[];
  readonly at: number;
}

/** Completion and descriptions for the text of a configuration. */
export function attachAssist(host: AssistHost, source: AssistSource): EditorAssist {
  return new Assist(host, source);
}

class Assist implements EditorAssist {
  private readonly host: AssistHost;
  private readonly source: AssistSource;
  private readonly area: HTMLTextAreaElement;
  private readonly geometry: ReturnType<typeof createGeometry>;
  private readonly mount = document.createElement("div");
  private readonly over = new AbortController();
  private list: List | undefined;
  private card: { readonly about: Description; readonly offset: number } | undefined;
  /** Read aloud. */
  private said = "";
  private ids: KnownIds = NO_IDS;
  private isAsked = false;
  /** Where the user asked for suggestions and there were none: what is still to come may have some. */
  private inVain: { readonly text: string; readonly at: number } | undefined;
  private read: { readonly text: string; readonly tree: TextTree } | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private frame = 0;

  constructor(host: AssistHost, source: AssistSource) {
    this.host = host;
    this.source = source;
    this.area = host.area;
    this.geometry = createGeometry(host.area);
    const { area } = this;
    const { signal } = this.over;
    host.root.append(this.mount);
    if (assistLook.styleSheet) host.root.adoptedStyleSheets = [...host.root.adoptedStyleSheets, assistLook.styleSheet];
    area.setAttribute("aria-autocomplete", "list");
    area.setAttribute("aria-keyshortcuts", "Control+Space Control+I");
    area.addEventListener("pointermove", (event) => this.hover(event), { signal });
    area.addEventListener("pointerleave", () => this.leave(), { signal });
    area.addEventListener("scroll", () => this.scrolled(), { signal });
    area.addEventListener("blur", () => this.close(), { signal });
    area.addEventListener("pointerdown", () => this.close(), { signal });
    area.addEventListener("keyup", () => this.moved(), { signal });
    this.draw();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
    this.over.abort();
    render(nothing, this.mount);
    this.mount.remove();
  }

  key(event: KeyboardEvent): boolean {
    const ctrl = event.ctrlKey || event.metaKey;
    if (event.isComposing) return false;
    if ((ctrl && event.code === "Space") || (event.altKey && event.key === "Escape")) {
      this.host.showCursor();
      this.complete(true);
    } else if (ctrl && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "i") {
      this.host.showCursor();
      this.explain();
    } else if (event.key === "Escape" && (this.list || this.card)) this.close();
    else if (!this.list || ctrl || event.altKey || event.shiftKey || !this.choose(event.key)) {
      if (this.card && event.key !== "Control" && event.key !== "Shift") this.close();
      return false;
    }
    return true;
  }

  typed(event: InputEvent): void {
    const { data, inputType } = event;
    const isWord = inputType.startsWith("insert") && data !== null && /^[\w$"'/.:-]$/.test(data);
    if (this.list) this.complete(false);
    else if (isWord && data !== ":" && this.area.value.length <= MOST_TYPED_CHARS) this.complete(false);
    else this.close();
  }

  /** What is drawn stays with its place, as long as that is seen. */
  private scrolled(): void {
    const panel = this.panel;
    if (!panel) return;
    const { top, bottom } = this.geometry.boxAt(this.anchor);
    const box = this.area.getBoundingClientRect();
    if (bottom < box.top || top > box.bottom) this.close();
    else this.put(panel);
  }

  private get panel(): HTMLElement | null {
    return this.mount.querySelector<HTMLElement>(".assist");
  }

  /** The character that the list or the description stands at. */
  private get anchor(): number {
    const { list, card } = this;
    return list ? list.place.from + (list.place.quote === "" ? 0 : 1) : (card?.offset ?? 0);
  }

  private get tree(): TextTree {
    const text = this.area.value;
    if (this.read?.text !== text) this.read = { text, tree: readTree(text) };
    return this.read.tree;
  }

  private askIds(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    this.source.ids((part) => {
      this.ids = { ...this.ids, ...part };
      const { area, inVain, list } = this;
      const isStill = inVain?.text === area.value && inVain.at === area.selectionStart;
      // A user who has begun to choose is not disturbed.
      if (list ? list.at === 0 : isStill) this.complete(true);
    });
  }

  /** Opens the list at the cursor, or brings it up to date. `wanted`: the user asked for it. */
  private complete(wanted: boolean): void {
    const { area } = this;
    this.askIds();
    const place = area.readOnly || area.selectionStart !== area.selectionEnd ? undefined : placeAt(area.value, this.tree, area.selectionStart);
    const isAsked = wanted || (place !== undefined && (place.prefix !== "" || place.quote !== ""));
    const choices = place && isAsked ? suggestionsAt({ ...this.source.facts(), ids: this.ids }, place) : [];
    const only = choices.length === 1 ? choices[0] : undefined;
    // What is typed to its end needs no list.
    const isDone = !wanted && only !== undefined && place !== undefined && (only.label === place.prefix || only.value === place.prefix);
    this.card = undefined;
    this.inVain = wanted && choices.length === 0 ? { text: area.value, at: area.selectionStart } : undefined;
    this.list = place && choices.length > 0 && !isDone ? { place, choices, at: 0 } : undefined;
    if (wanted || this.list) this.said = this.list ? this.announcement(this.list) : t("No suggestions here");
    this.draw();
  }

  private announcement({ choices }: List): string {
    return choices.length === 1 ? t("1 suggestion") : t`${choices.length} suggestions`;
  }

  /** The cursor was moved by other means than the list. */
  private moved(): void {
    if (!this.list) return;
    const { place } = this.list;
    const at = this.area.selectionStart;
    if (at < place.from || at > Math.max(place.to, place.from)) this.close();
  }

  private close(): void {
    clearTimeout(this.timer);
    this.inVain = undefined;
    if (!this.list && !this.card) return;
    this.list = undefined;
    this.card = undefined;
    this.said = "";
    this.draw();
  }

  /** True when the key meant the list. */
  private choose(key: string): boolean {
    const { list } = this;
    if (!list) return false;
    const last = list.choices.length - 1;
    const to: Readonly<Record<string, number>> = {
      ArrowDown: list.at === last ? 0 : list.at + 1,
      ArrowUp: list.at === 0 ? last : list.at - 1,
      PageDown: Math.min(last, list.at + PAGE),
      PageUp: Math.max(0, list.at - PAGE),
    };
    const next = to[key];
    if (next !== undefined) {
      this.list = { ...list, at: next };
      this.draw();
      return true;
    }
    if (key !== "Enter" && key !== "Tab") return false;
    this.take(list.choices[list.at]!);
    return true;
  }

  private take(suggestion: Suggestion): void {
    const { list } = this;
    if (!list) return;
    const edit = editFor(suggestion, list.place, this.area.value, { tree: this.tree, schema: this.source.facts().schema });
    this.list = undefined;
    this.host.replace(edit.from, edit.to, edit.text);
    this.area.setSelectionRange(edit.cursor, edit.cursor);
    if (edit.again) this.complete(true);
    else this.close();
    // Nothing to choose there is nothing to say.
    if (!this.list) this.said = "";
    this.draw();
  }

  private describeAt(offset: number): { readonly about: Description; readonly subject: Subject } | undefined {
    const subject = subjectAt(this.tree, offset);
    const facts = this.source.facts();
    const path = subject && (typeof subject.path.at(-1) === "number" ? subject.path.slice(0, -1) : subject.path);
    const about = path && describe(facts, path, valueAt(facts.value, path) !== undefined);
    return subject && about ? { about, subject } : undefined;
  }

  /** Describes what the cursor is on; the marked suggestion while the list is open. */
  private explain(): void {
    const { list } = this;
    const marked = list?.choices[list.at];
    const found = marked ? undefined : this.describeAt(this.area.selectionStart);
    const about = marked ? describe(this.source.facts(), marked.path, false) : found?.about;
    this.card = about && !marked ? { about, offset: found?.subject.start ?? this.area.selectionStart } : undefined;
    this.said = about ? spoken(about) : t("No description here");
    this.draw();
  }

  private hover({ clientX, clientY, buttons, pointerType }: PointerEvent): void {
    clearTimeout(this.timer);
    if (this.list || buttons !== 0 || pointerType === "touch") return;
    this.timer = setTimeout(() => {
      const offset = this.geometry.offsetAt(clientX, clientY);
      const found = offset === undefined ? undefined : this.describeAt(offset);
      const isOn = found && offset !== undefined && offset >= found.subject.start && offset <= found.subject.end;
      this.card = isOn ? { about: found.about, offset: found.subject.start } : undefined;
      this.draw();
    }, HOVER_MS);
  }

  /** The description stays while the pointer is on it. */
  private leave(): void {
    clearTimeout(this.timer);
    if (this.card) this.timer = setTimeout(() => this.close(), LEAVE_MS);
  }

  private draw(): void {
    const { list, card } = this;
    render(
      html`${list ? this.drawList(list) : card ? this.drawCard(card.about) : nothing}
        <div class="visually-hidden" role="status">${this.said}</div>`,
      this.mount,
    );
    const { panel } = this;
    if (panel) this.put(panel);
    this.mount.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
    if (list) {
      this.area.setAttribute("aria-controls", "completions");
      this.area.setAttribute("aria-activedescendant", `completion-${list.at}`);
    } else {
      this.area.removeAttribute("aria-controls");
      this.area.removeAttribute("aria-activedescendant");
    }
  }

  private put(panel: HTMLElement): void {
    if (!panel.matches(":popover-open")) panel.showPopover();
    this.followPage();
    const caret = this.geometry.boxAt(this.anchor);
    const area = this.area.getBoundingClientRect();
    const left = Math.max(EDGE_PX, Math.min(Math.max(caret.left, area.left), innerWidth - panel.offsetWidth - EDGE_PX));
    const isBelow = caret.bottom + panel.offsetHeight + EDGE_PX <= innerHeight || caret.top < panel.offsetHeight + EDGE_PX;
    panel.style.setProperty("left", `${left}px`);
    panel.style.setProperty("top", `${isBelow ? caret.bottom + 2 : caret.top - panel.offsetHeight - 2}px`);
  }

  /** What is above the text may come and go while something is shown. */
  private followPage(): void {
    cancelAnimationFrame(this.frame);
    const { top, left } = this.area.getBoundingClientRect();
    this.frame = requestAnimationFrame(() => {
      const { panel } = this;
      if (!panel) return;
      const now = this.area.getBoundingClientRect();
      if (now.top === top && now.left === left) this.followPage();
      else this.put(panel);
    });
  }

  private drawList({ choices, at, place }: List): TemplateResult {
    const marked = choices[at]!;
    const hold = (event: Event): void => event.preventDefault();
    return html`<div class="assist list" popover="manual" @pointerdown=${hold}>
      <ul role="listbox" id="completions" aria-label=${place.kind === "key" ? t("Keys available here") : t("Values available here")}>
        ${choices.map(
          (one, index) =>
            html`<li role="option" id="completion-${index}" aria-selected=${index === at} @click=${() => this.take(one)}>
              <span class="name cut">${one.label}</span>
              <span class="about cut">${one.detail}${one.fallback === undefined ? nothing : html` = <code>${one.fallback}</code>`}</span>
            </li>`,
        )}
      </ul>
      ${marked.help === "" ? nothing : html`<div class="help">${marked.help}</div>`}
    </div>`;
  }

  private drawCard({ path, label, help, type, values, fallback, change, secret }: Description): TemplateResult {
    const row = (name: string, value: unknown): TemplateResult =>
      html`<dt>${name}</dt>
        <dd>${value}</dd>`;
    return html`<div class="assist card" popover="manual" @pointerenter=${() => clearTimeout(this.timer)} @pointerleave=${() => this.leave()}>
      <p><strong>${label}</strong> <span class="path">${path}</span></p>
      ${help === undefined ? nothing : html`<p>${help}</p>`}
      <dl>
        ${type === "" ? nothing : row(t("Type"), type)} ${values.length === 0 ? nothing : row(t("Values"), html`<code>${values.join(", ")}</code>`)}
        ${fallback === undefined ? nothing : row(t("Default"), html`<code>${fallback}</code>`)}
        ${change === undefined ? nothing : row(t("When changed"), change)} ${secret ? row(t("Secret"), t("Never shown once it is saved.")) : nothing}
      </dl>
    </div>`;
  }
}

/** A description as it is read aloud. */
function spoken({ path, help, type, values, fallback, change }: Description): string {
  const parts = [
    path,
    help,
    type === "" ? undefined : `${t("Type")}: ${type}`,
    values.length === 0 ? undefined : `${t("Values")}: ${values.join(", ")}`,
    fallback === undefined ? undefined : `${t("Default")}: ${fallback}`,
    change === undefined ? undefined : `${t("When changed")}: ${change}`,
  ];
  return parts
    .filter((part) => part !== undefined)
    .map((part) => part.replace(/[.:\s]+$/, ""))
    .join(". ");
}
