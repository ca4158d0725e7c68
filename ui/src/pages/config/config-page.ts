import { html, nothing, type TemplateResult } from "lit";
import { query, state } from "lit/decorators.js";
import { plural } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import type { JsonEditor } from "../../parts/json-editor.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { failedNote } from "../../parts/page-look.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { configLook } from "./config-look.ts";
import { conflictNotice } from "./conflict.ts";
import "./field.ts";
import type { Form } from "./form.ts";
import { issuesOf, type Issue } from "./issues.ts";
import "./issues-list.ts";
import { keptDraft } from "./kept-draft.ts";
import { createEditor, type Editor } from "./model/editor.ts";
import type { Check } from "./model/draft.ts";
import { readJson5 } from "./model/json5.ts";
import type { Operation } from "./model/operations.ts";
import { valueAt, type ValuePath } from "./model/path.ts";
import { groupsOf, reachablePath, search, sectionOf } from "./model/sections.ts";
import "./review.ts";
import "./sections-nav.ts";
import { assistFor, textView } from "./text-view.ts";
import "./versions.ts";
import type { Version, Versions } from "./versions.ts";
import { t } from "../../words/words.ts";

type View = "form" | "text" | "versions";

const VIEWS: readonly (readonly [View, string])[] = [
  ["form", t("Form")],
  ["text", t("Text")],
  ["versions", t("Versions")],
];
const FIRST = "agents";

/** The configuration: forms and text of the same file, checked while it is edited, reviewed before it is written, and taken back afterwards. */
export class ConfigPage extends Page {
  static override styles = [sheet, pageHeadLook, skeletonLook, configLook];
  private model!: Editor;
  @state() private words = "";
  @state() private onlySet = false;
  @state() private target: Form["target"];
  @state() private reviewing: Check | undefined;
  @state() private busy = false;
  @state() private versions: Versions | undefined;
  @state() private version: Version | undefined;
  @query("oc-json-editor") private editor!: JsonEditor | null;
  private readonly assist = assistFor(
    () => this.model,
    () => this.context.link,
  );
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
    this.model = createEditor({ link: this.context.link, kept: keptDraft(), failureText, later });
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
      title: t("Leave with unsaved changes?"),
      body: t("Your changes stay in this browser, except for secrets you typed, and are here when you come back."),
      yes: t("Leave"),
      no: t("Stay"),
    });
  }

  override async load(): Promise<void> {
    await this.model.load();
    if (this.view === "versions") await this.loadVersions();
    await this.seek();
  }

  protected override routeChanged(): void {
    if (this.view === "versions") void this.loadVersions();
    void this.seek();
  }

  /** Shows the key that the address names. */
  private async seek(): Promise<void> {
    const sought = this.route.query.get("path");
    if (sought !== null) await this.reveal(reachablePath(sought, this.model.draft.state.value.value));
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
    if (!this.isConnected) return;
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
      this.context.toasts.say(done.reload.kind === "restart" ? t("Restored. The gateway is restarting.") : t("Restored."));
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
    // The gateway compares with the file as it is: what this page compares with is the same, or a conflict.
    await this.model.load();
    const check = await this.model.draft.checked();
    this.busy = false;
    if (check?.valid) this.reviewing = check;
    else if (check) this.context.toasts.warn(t`${plural(check.issues.length, t("problem"), t("problems"))} to fix before saving.`);
  }

  private async save(): Promise<void> {
    const { reviewing } = this;
    if (!reviewing) return;
    this.busy = true;
    const saved = await this.attempt(() => this.model.save(reviewing));
    this.busy = false;
    // Of a file that was changed meanwhile the dialog says so: it does not close as if this had been saved.
    if (saved === false) return;
    this.reviewing = undefined;
    if (saved) this.context.toasts.say(reviewing.reload.kind === "restart" ? t("Saved. The gateway is restarting.") : t("Saved."));
  }

  async merge(): Promise<void> {
    this.reviewing = undefined;
    await this.attempt(() => this.model.merge(), t("Merged. Review it before saving."));
  }

  async reload(): Promise<void> {
    this.reviewing = undefined;
    await this.model.discard();
  }

  private async discard(): Promise<void> {
    const yes = await this.context.dialogs.confirm({ title: t("Discard all changes?"), body: t("The file is not changed."), yes: t("Discard"), danger: true });
    if (yes) await this.model.discard();
  }

  private bar(issues: readonly Issue[]): TemplateResult {
    const { draft } = this.model;
    const { checking, failure } = draft.state.value;
    const bad = issues.filter((issue) => issue.bad).length;
    const { changed } = draft;
    const isOther = this.model.state.value.conflict !== undefined;
    const word = isOther
      ? t("The file was changed")
      : failure !== undefined
        ? failure
        : checking
          ? t("Checking…")
          : bad > 0
            ? plural(bad, t("problem"), t("problems"))
            : changed
              ? t("Valid")
              : t("Saved");
    return html`<div class="tabs" role="group" aria-label=${t("View")}>
        ${VIEWS.map(([view, label]) => html`<button aria-pressed=${this.view === view} @click=${() => this.go(view)}>${label}</button>`)}
      </div>
      <span class="badge ${isOther || failure !== undefined || bad > 0 ? "bad" : changed || checking ? "info" : "good"} state" role="status">${word}</span>
      <button ?disabled=${!changed || this.busy} @click=${this.discard}>${t("Discard")}</button>
      <button class="primary" ?disabled=${!changed || this.busy || bad > 0} title=${t("Ctrl+S")} @click=${this.review}>${t("Review")}</button>`;
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
          aria-label=${t("Search settings")}
          placeholder=${t("Search settings")}
          .value=${this.words}
          @input=${(event: InputEvent) => (this.words = (event.target as HTMLInputElement).value)}
        />
        <label class="row"
          ><input
            type="checkbox"
            .checked=${this.onlySet}
            @change=${(event: Event) => (this.onlySet = (event.target as HTMLInputElement).checked)}
          />${t("Show only set values")}</label
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
        ${broken ? html`<p class="note warn">${t("The text is not valid JSON5. Fix it to use the form.")} <button class="small" @click=${() => this.go("text")}>${t("Edit text")}</button></p>` : nothing}
        ${
          this.words.trim() !== ""
            ? this.found()
            : section
              ? html`<div>
                    <h2>${section.label}</h2>
                    <p class="soft">${section.help ?? ""}</p>
                  </div>
                  ${this.onlySet && valueAt(value, section.path) === undefined ? html`<p class="soft">${t("Nothing is set in this section.")}</p>` : nothing}
                  <oc-config-field bare .form=${form} .path=${section.path} .schema=${section.schema}></oc-config-field>`
              : html`<p class="soft">${t("There is no section with this name.")}</p>`
        }
      </div>
    </div>`;
  }

  private found(): TemplateResult {
    const matches = search(this.model.state.value.hints, this.words);
    if (matches.length === 0) return html`<p class="soft">${t("No settings match by name, key or help text.")}</p>`;
    return html`<ul class="found" aria-label=${t("Settings found")}>
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
    const note = html`<p class="note bad">${unreadable} <button class="small" @click=${() => this.go("versions")}>${t("Earlier versions")}</button></p>`;
    // What is being written stays, as while something else writes the file.
    if (unreadable !== undefined && !this.model.draft.changed) return note;
    return html`${unreadable === undefined ? nothing : note} ${this.view === "text" ? textView(this.model, issues, this.assist) : this.form(issues)}`;
  }

  protected override render(): TemplateResult {
    const { phase, failure, path, exists, conflict } = this.model.state.value;
    const { link } = this.context;
    const fact = html`<span title=${path}>${path}${exists ? "" : t(" (does not exist yet; saving creates it)")}</span>`;
    const head = pageHead({ title: t("Configuration"), fact });
    if (!link.may("operator.admin"))
      return html`${head}
        <div class="page stack">
          <p class="note warn">${t("This browser cannot change the configuration. It needs the scope operator.admin.")}</p>
        </div>`;
    if (link.state.value.kind === "open" && !link.has("config.check"))
      return html`${head}
        <div class="page stack">
          <p class="note">${t("This gateway cannot check a configuration before saving it. Update the gateway to edit here.")}</p>
        </div>`;
    if (phase === "failed") {
      return html`${head}
        <div class="page stack">${failedNote(failure ?? "", () => void this.load())}</div>`;
    }
    if (phase === "loading")
      return html`${head}
        <div class="page stack">${skeleton(8, "text")}</div>`;
    const issues = issuesOf(this.model.draft.state.value.check);
    const { base, text } = this.model.draft.state.value;
    const jump = ({ detail }: CustomEvent<{ issue: Issue }>): void => void this.jump(detail.issue);
    // Below the text: it does not jump while one types.
    const problems = html`<oc-config-issues ?filled=${issues.length > 0} .issues=${issues} @jump=${jump}></oc-config-issues>`;
    return html`${pageHead({ title: t("Configuration"), fact, actions: this.bar(issues) })}
      <div class="page stack">
        ${conflict && !this.reviewing ? conflictNotice(base, conflict, this) : nothing} ${this.view === "form" ? problems : nothing} ${this.content(issues)}
        ${this.view === "text" ? problems : nothing}
        ${
          this.reviewing
            ? html`<oc-config-review
                .check=${this.reviewing}
                .old=${base}
                .now=${text}
                .conflict=${conflict}
                ?busy=${this.busy}
                @save=${this.save}
                @merge=${this.merge}
                @reload=${this.reload}
                @close=${() => (this.reviewing = undefined)}
              ></oc-config-review>`
            : nothing
        }
      </div>`;
  }
}
customElements.define("oc-config-page", ConfigPage);
