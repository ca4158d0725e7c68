import { html, nothing, type TemplateResult } from "lit";
import { query, state } from "lit/decorators.js";
import { keep } from "../../base/keep.ts";
import { plural } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/json-editor.ts";
import type { JsonEditor } from "../../parts/json-editor.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { configLook } from "./config-look.ts";
import "./conflict.ts";
import "./field.ts";
import type { Form } from "./form.ts";
import { issuesOf, marksOf, type Issue } from "./issues.ts";
import "./issues-list.ts";
import { createEditor, type Editor, type KeptDraft } from "./model/editor.ts";
import type { Check } from "./model/draft.ts";
import { readJson5 } from "./model/json5.ts";
import type { Operation } from "./model/operations.ts";
import { valueAt, type ValuePath } from "./model/path.ts";
import { groupsOf, reachablePath, search, sectionOf } from "./model/sections.ts";
import "./review.ts";
import "./sections-nav.ts";
import "./versions.ts";
import type { Version, Versions } from "./versions.ts";

type View = "form" | "text" | "versions";

const VIEWS: readonly (readonly [View, string])[] = [
  ["form", "Form"],
  ["text", "Text"],
  ["versions", "Versions"],
];
const KEPT = "config.draft";
const FIRST = "agents";

/** The configuration: forms and text of the same file, checked while it is edited, reviewed before it is written, and taken back afterwards. */
export class ConfigPage extends Page {
  static override styles = [sheet, configLook];
  private model!: Editor;
  @state() private words = "";
  @state() private onlySet = false;
  @state() private target: Form["target"];
  @state() private reviewing: Check | undefined;
  @state() private busy = false;
  @state() private versions: Versions | undefined;
  @state() private version: Version | undefined;
  @query("oc-json-editor") private editor!: JsonEditor | null;
  private guarded: Disposable | undefined;
  private readonly beforeUnload = (event: BeforeUnloadEvent): void => {
    if (this.model.draft.changed) event.preventDefault();
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    if (this.model.draft.changed && !this.reviewing && !this.busy) void this.review();
  };

  override connectedCallback(): void {
    const later = (ms: number, work: () => void): (() => void) => {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    };
    const kept = { get: () => keep.json<KeptDraft>(KEPT), set: (draft: KeptDraft | undefined) => keep.setJson(KEPT, draft) };
    this.model = createEditor({ link: this.context.link, kept, failureText, later });
    this.during(this.model);
    this.during(this.model.state.subscribe(() => this.requestUpdate()));
    this.during(this.model.draft.state.subscribe(() => this.noticed()));
    addEventListener("beforeunload", this.beforeUnload);
    addEventListener("keydown", this.onKey);
    super.connectedCallback();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("beforeunload", this.beforeUnload);
    removeEventListener("keydown", this.onKey);
    this.guarded?.[Symbol.dispose]();
  }

  /** While something is not saved, leaving is asked about. */
  private noticed(): void {
    this.requestUpdate();
    const { changed } = this.model.draft;
    if (changed) this.guarded ??= this.context.router.guard((to) => this.mayLeave(to));
    else {
      this.guarded?.[Symbol.dispose]();
      this.guarded = undefined;
    }
  }

  private mayLeave(to: URL): boolean | Promise<boolean> {
    if (to.pathname === new URL("config", document.baseURI).pathname) return true;
    return this.context.dialogs.confirm({
      title: "Leave with unsaved changes?",
      body: "They are kept in this browser, without secrets that you typed, and are here when you come back.",
      yes: "Leave",
      no: "Stay",
    });
  }

  override async load(): Promise<void> {
    await this.model.load();
    if (this.view === "versions") await this.loadVersions();
    const sought = this.route.query.get("path");
    if (sought !== null) await this.reveal(reachablePath(sought, this.model.draft.state.value.value));
  }

  protected override routeChanged(): void {
    if (this.view === "versions") void this.loadVersions();
  }

  private get view(): View {
    const view = this.route.query.get("view");
    return view === "text" || view === "versions" ? view : "form";
  }

  private get section(): string {
    return this.route.query.get("section") ?? FIRST;
  }

  private async go(view: View, section = this.section): Promise<void> {
    await this.model.draft.settled();
    this.context.router.go(place("config", [], { view: view === "form" ? undefined : view, section: section === FIRST ? undefined : section }), {
      replace: true,
    });
    await this.updateComplete;
  }

  private async loadVersions(): Promise<void> {
    const answer = await this.attempt(() => this.context.link.request("config.versions", {}));
    if (answer) this.versions = answer.versions;
  }

  private async openVersion(id: string): Promise<void> {
    this.version = await this.attempt(() => this.context.link.request("config.version", { id }));
  }

  private async restore(id: string): Promise<void> {
    const { baseHash } = this.model.draft.state.value;
    this.busy = true;
    const done = await this.attempt(() => this.context.link.request("config.restore", { id, baseHash }));
    this.busy = false;
    this.version = undefined;
    if (done) {
      await this.model.discard();
      this.context.toasts.say(done.reload.kind === "restart" ? "Restored. The gateway restarts." : "Restored.");
    } else await this.model.load();
    await this.loadVersions();
  }

  private async reveal(path: ValuePath): Promise<void> {
    const { schema, hints } = this.model.state.value;
    const section = sectionOf(groupsOf(schema, hints), path)?.key ?? FIRST;
    this.words = "";
    if (valueAt(this.model.draft.state.value.value, path) === undefined) this.onlySet = false;
    await this.go("form", section);
    this.target = { path };
  }

  private async jump({ path, line, column }: Issue): Promise<void> {
    if (this.view === "form" && path !== "" && !this.model.draft.state.value.broken) {
      const { value } = this.model.draft.state.value;
      let at: unknown = value;
      const parts = path.split(".").map((part): string | number => {
        const isItem = Array.isArray(at) && /^\d+$/.test(part);
        at = valueAt(at, [isItem ? Number(part) : part]);
        return isItem ? Number(part) : part;
      });
      return this.reveal(parts);
    }
    await this.go("text");
    const found = this.model.draft.state.value.located?.places.get(path);
    this.editor?.goTo(line ?? found?.line ?? 1, column ?? found?.column ?? 1);
  }

  private async review(): Promise<void> {
    this.busy = true;
    const check = await this.model.draft.checked();
    this.busy = false;
    if (check?.valid) this.reviewing = check;
    else if (check) this.context.toasts.warn(`${plural(check.issues.length, "problem")} to solve before this can be saved.`);
  }

  private async save(): Promise<void> {
    const { reviewing } = this;
    if (!reviewing) return;
    this.busy = true;
    const saved = await this.attempt(() => this.model.save(reviewing));
    this.busy = false;
    this.reviewing = undefined;
    if (saved) this.context.toasts.say(reviewing.reload.kind === "restart" ? "Saved. The gateway restarts." : "Saved.");
  }

  private async discard(): Promise<void> {
    const yes = await this.context.dialogs.confirm({ title: "Discard all changes?", body: "The file stays as it is.", yes: "Discard", danger: true });
    if (yes) await this.model.discard();
  }

  private bar(issues: readonly Issue[]): TemplateResult {
    const { draft } = this.model;
    const { checking, failure } = draft.state.value;
    const bad = issues.filter((issue) => issue.bad).length;
    const { changed } = draft;
    const word = failure !== undefined ? failure : checking ? "Checking …" : bad > 0 ? plural(bad, "problem") : changed ? "Valid" : "Saved";
    return html`<div class="bar">
      <div class="tabs" role="group" aria-label="View">
        ${VIEWS.map(([view, label]) => html`<button aria-pressed=${this.view === view} @click=${() => this.go(view)}>${label}</button>`)}
      </div>
      <span class="badge ${failure !== undefined || bad > 0 ? "bad" : changed ? "info" : "good"} state" role="status">${word}</span>
      <span class="grow"></span>
      <button ?disabled=${!changed || this.busy} @click=${this.discard}>Discard</button>
      <button class="primary" ?disabled=${!changed || this.busy || bad > 0} title="Ctrl+S" @click=${this.review}>Review</button>
    </div>`;
  }

  private form(issues: readonly Issue[]): TemplateResult {
    const { schema, hints, used } = this.model.state.value;
    const { value, base, broken } = this.model.draft.state.value;
    const groups = groupsOf(schema, hints);
    const section = groups.flatMap(({ sections }) => sections).find(({ key }) => key === this.section);
    const form: Form = { root: schema, hints, value, base: readJson5(base)?.value, used, issues, onlySet: this.onlySet, readonly: broken, target: this.target };
    return html`<div
      class="columns"
      @edit=${(event: CustomEvent<Operation>) => this.model.draft.apply(event.detail)}
      @notice=${(event: CustomEvent<{ text: string }>) => this.context.toasts.say(event.detail.text)}
    >
      <aside class="stack">
        <input
          type="search"
          aria-label="Search settings"
          placeholder="Search settings"
          .value=${this.words}
          @input=${(event: InputEvent) => (this.words = (event.target as HTMLInputElement).value)}
        />
        <label class="row"
          ><input type="checkbox" .checked=${this.onlySet} @change=${(event: Event) => (this.onlySet = (event.target as HTMLInputElement).checked)} />Only what
          is set</label
        >
        <oc-config-sections
          .groups=${groups}
          .current=${this.section}
          .value=${value}
          .issues=${issues}
          ?onlySet=${this.onlySet}
          @section=${(event: CustomEvent<{ key: string }>) => {
            this.words = "";
            this.target = undefined;
            void this.go("form", event.detail.key);
          }}
        ></oc-config-sections>
      </aside>
      <div class="stack content">
        ${broken ? html`<p class="note warn">The text is not JSON5 now, so the form waits. <button class="small" @click=${() => this.go("text")}>Mend the text</button></p>` : nothing}
        ${
          this.words.trim() !== ""
            ? this.found()
            : section
              ? html`<div>
                    <h2>${section.label}</h2>
                    <p class="soft">${section.help ?? ""}</p>
                  </div>
                  ${this.onlySet && valueAt(value, section.path) === undefined ? html`<p class="soft">Nothing is set in this section.</p>` : nothing}
                  <oc-config-field bare .form=${form} .path=${section.path} .schema=${section.schema}></oc-config-field>`
              : html`<p class="soft">There is no section of this name.</p>`
        }
      </div>
    </div>`;
  }

  private found(): TemplateResult {
    const matches = search(this.model.state.value.hints, this.words);
    if (matches.length === 0) return html`<p class="soft">No setting has these words in its name, key or help.</p>`;
    return html`<ul class="found" aria-label="Settings found">
      ${matches.map(
        ({ pattern, label, help }) =>
          html`<li>
            <button class="plain" @click=${() => this.reveal(reachablePath(pattern, this.model.draft.state.value.value))}>
              <span class="row wrap"><strong>${label}</strong><code class="faint">${pattern}</code></span
              >${help === undefined ? nothing : html`<span class="soft">${help}</span>`}
            </button>
          </li>`,
      )}
    </ul>`;
  }

  private text(issues: readonly Issue[]): TemplateResult {
    return html`<oc-json-editor
      label="Configuration as JSON5"
      .value=${this.model.draft.state.value.text}
      .marks=${marksOf(issues)}
      @write=${(event: CustomEvent<{ text: string }>) => this.model.draft.write(event.detail.text)}
    ></oc-json-editor>`;
  }

  private content(issues: readonly Issue[]): TemplateResult {
    const { draft, state: modelState } = this.model;
    const { base } = draft.state.value;
    if (this.view === "versions") {
      return html`<oc-config-versions
        .versions=${this.versions}
        .opened=${this.version}
        .text=${base}
        ?busy=${this.busy}
        ?dirty=${draft.changed}
        @open=${(event: CustomEvent<{ id: string }>) => this.openVersion(event.detail.id)}
        @restore=${(event: CustomEvent<{ id: string }>) => this.restore(event.detail.id)}
      ></oc-config-versions>`;
    }
    const { unreadable } = modelState.value;
    if (unreadable !== undefined) {
      return html`<p class="note bad">${unreadable} <button class="small" @click=${() => this.go("versions")}>Earlier versions</button></p>`;
    }
    return this.view === "text" ? this.text(issues) : this.form(issues);
  }

  protected override render(): TemplateResult {
    const { phase, failure, path, exists, conflict } = this.model.state.value;
    const { link } = this.context;
    const head = html`<header>
      <h1>Configuration</h1>
      <p class="faint cut" title=${path}>${path}${exists ? "" : " (not there yet: saving makes it)"}</p>
    </header>`;
    if (!link.may("operator.admin"))
      return html`<div class="page stack">
        ${head}
        <p class="note warn">This browser may not change the configuration. It needs the scope operator.admin.</p>
      </div>`;
    if (link.state.value.kind === "open" && !link.has("config.check"))
      return html`<div class="page stack">
        ${head}
        <p class="note">This gateway cannot check a configuration before it is written. Update it to edit here.</p>
      </div>`;
    if (phase === "failed") {
      return html`<div class="page stack">
        ${head}
        <p class="note bad">${failure}</p>
        <p><button @click=${() => this.load()}>${icon("retry")} Try again</button></p>
      </div>`;
    }
    if (phase === "loading")
      return html`<div class="page stack">
        ${head}
        <p class="soft">Loading …</p>
      </div>`;
    const issues = issuesOf(this.model.draft.state.value.check);
    const { base, text } = this.model.draft.state.value;
    return html`<div class="page stack">
      ${head} ${this.bar(issues)}
      ${
        conflict
          ? html`<oc-config-conflict
              .old=${base}
              .now=${conflict.text}
              .clashes=${conflict.clashes}
              ?mergeable=${conflict.mergeable}
              @merge=${() => this.attempt(() => this.model.merge(), "Merged. Review it before saving.")}
              @reload=${() => this.model.discard()}
            ></oc-config-conflict>`
          : nothing
      }
      ${this.view === "versions" ? nothing : html`<oc-config-issues ?filled=${issues.length > 0} .issues=${issues} @jump=${(event: CustomEvent<{ issue: Issue }>) => this.jump(event.detail.issue)}></oc-config-issues>`}
      ${this.content(issues)}
      ${
        this.reviewing
          ? html`<oc-config-review
              .check=${this.reviewing}
              .old=${base}
              .now=${text}
              ?busy=${this.busy}
              @save=${this.save}
              @close=${() => (this.reviewing = undefined)}
            ></oc-config-review>`
          : nothing
      }
    </div>`;
  }
}
customElements.define("oc-config-page", ConfigPage);
