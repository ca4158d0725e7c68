import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { exactly } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import type { Link } from "../../link/link.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/select.ts";
import { createDrafts } from "../chat/composer-drafts.ts";
import {
  draftOf,
  fieldOf,
  jobOf,
  newDraft,
  patchOf,
  problemsOf,
  scheduleOf,
  unsavedText,
  withUnsaved,
  type Draft,
  type Field,
  type Problems,
  type Repeat,
} from "./job-draft.ts";
import { lengthText, scheduleText, type Job } from "./job-facts.ts";
import { locale, t } from "../../words/words.ts";

const PREVIEWED = 5;
/** So long nothing is typed before the gateway is asked. */
const QUIET_MS = 200;
const WEEK_BEGIN = Date.UTC(2026, 0, 4);
const DAY_MS = 86_400_000;

const REPEAT_NAMES: Readonly<Record<Repeat, string>> = {
  once: t("Once"),
  interval: t("At an interval"),
  daily: t("Every day"),
  weekdays: t("Every weekday"),
  weekly: t("Every week"),
  monthly: t("Every month"),
  custom: t("Cron expression"),
};

const UNIT_NAMES = { seconds: t("seconds"), minutes: t("minutes"), hours: t("hours"), days: t("days") } as const;

const dayName = new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" });
const WEEKDAYS = Array.from({ length: 7 }, (_, day): readonly [string, string] => [String(day), dayName.format(WEEK_BEGIN + day * DAY_MS)]);
const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

type Options = readonly (readonly [value: string, name: string])[];
/** What the gateway says about the schedule. */
type Preview = MethodResult<"cron.next"> | { readonly problem: string };

/** Makes a job, or changes one. Says `saved` with the job's id, or `left`. What is typed stays until then, also when the page is loaded again. */
export class JobForm extends LitElement {
  static override styles = [
    sheet,
    css`
      form {
        display: grid;
        gap: 18px;
        max-width: 640px;
      }
      fieldset {
        display: grid;
        gap: 14px;
        margin: 0;
        padding: 0;
        border: 0;
      }
      legend {
        padding: 0 0 8px;
        font-weight: 600;
      }
      .field {
        display: grid;
        gap: 4px;
        min-width: 0;
      }
      .pair {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(180px, 1fr));
        gap: 14px;
      }
      .wrong {
        color: var(--bad);
        font-size: var(--type-ui);
      }
      [aria-invalid="true"] {
        border-color: var(--bad) !important;
      }
      textarea {
        min-height: 84px;
        resize: vertical;
      }
      ol {
        margin: 6px 0 0;
        padding-inline-start: 22px;
      }
      .choice {
        display: flex;
        align-items: center;
        gap: 8px;
      }
    `,
  ];
  @property({ attribute: false }) link!: Link;
  /** The one to change; none: a new one. */
  @property({ attribute: false }) job: Job | undefined;
  @property({ type: Boolean }) offline = false;
  @state() private draft: Draft = newDraft(Date.now(), ownZone());
  @state() private problems: Problems = {};
  @state() private refusal: string | undefined;
  @state() private preview: Preview | undefined;
  @state() private isSaving = false;
  /** What is shown was typed before the page was loaded again. */
  @state() private isRestored = false;
  private readonly drafts = createDrafts();
  /** As the form is when nothing is typed. */
  private untouched = this.draft;
  /** What was wrong when it was to be saved is looked at again with every change. */
  private wasTried = false;
  /** The job as it was when the form was opened: what others change meanwhile stays as they have it. */
  private original: Job | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    this.original = this.job;
    this.untouched = this.job ? draftOf(this.job, Date.now()) : newDraft(Date.now(), ownZone());
    this.draft = withUnsaved(this.untouched, this.drafts.load(this.place));
    this.isRestored = unsavedText(this.untouched, this.draft) !== "";
    void this.look();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  private get place(): string {
    return `draft.job.${this.original?.id ?? "new"}`;
  }

  private discard(): void {
    this.drafts.save(this.place, "");
    this.draft = this.untouched;
    this.isRestored = false;
    this.problems = {};
    void this.look();
  }

  private leave(): void {
    this.drafts.save(this.place, "");
    this.dispatchEvent(new CustomEvent("left"));
  }

  private change(patch: Partial<Draft>): void {
    this.draft = { ...this.draft, ...patch };
    this.drafts.save(this.place, unsavedText(this.untouched, this.draft));
    if (this.wasTried) this.problems = problemsOf(this.draft);
    if (this.preview && "problem" in this.preview) this.preview = undefined;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), QUIET_MS);
  }

  /** Asks the gateway when the schedule runs. Only the answer to the last question counts. */
  private async look(): Promise<void> {
    this.asked += 1;
    const question = this.asked;
    const schedule = scheduleOf(this.draft);
    if (!schedule || !this.link.has("cron.next")) {
      this.preview = undefined;
      return;
    }
    const about = this.job ? { id: this.job.id } : {};
    const found = await this.link.request("cron.next", { schedule, count: PREVIEWED, ...about }).catch((error: unknown) => ({ problem: failureText(error) }));
    if (question === this.asked) this.preview = found;
  }

  private async save(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (this.isSaving || this.offline) return;
    this.wasTried = true;
    this.refusal = undefined;
    this.problems = problemsOf(this.draft);
    if (Object.keys(this.problems).length > 0) return this.showFirst();
    this.isSaving = true;
    try {
      const { original: job, draft, link } = this;
      const { id } = job
        ? await link.request("cron.update", { id: job.id, patch: patchOf(job, draft, Date.now()) })
        : await link.request("cron.add", jobOf(draft));
      this.drafts.save(this.place, "");
      this.dispatchEvent(new CustomEvent("saved", { detail: { id, name: draft.name.trim() } }));
    } catch (error) {
      const text = failureText(error);
      const field = fieldOf(text, this.draft);
      if (field === undefined) this.refusal = text;
      else {
        this.problems = { [field]: text };
        await this.showFirst();
      }
    } finally {
      this.isSaving = false;
    }
  }

  private async showFirst(): Promise<void> {
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>('[aria-invalid="true"], oc-select[invalid]')?.focus();
  }

  /** What is wrong with a field: found here, or by the gateway while one types. */
  private problemOf(field: Field): string | undefined {
    const own = this.problems[field];
    if (own !== undefined || !this.preview || !("problem" in this.preview)) return own;
    return (fieldOf(this.preview.problem, this.draft) ?? "expr") === field ? this.preview.problem : undefined;
  }

  private around(
    field: Field,
    label: string,
    control: (attributes: { invalid: "true" | "false"; by: string | typeof nothing }) => TemplateResult,
    hint = "",
  ): TemplateResult {
    const problem = this.problemOf(field);
    const by = [problem === undefined ? "" : `${field}-wrong`, hint === "" ? "" : `${field}-hint`].filter(Boolean).join(" ");
    return html`<div class="field">
      <label for=${field}>${label}</label>
      ${control({ invalid: problem === undefined ? "false" : "true", by: by === "" ? nothing : by })}
      ${problem === undefined ? nothing : html`<div class="wrong" id="${field}-wrong">${problem}</div>`}
      ${hint === "" ? nothing : html`<div class="faint" id="${field}-hint">${hint}</div>`}
    </div>`;
  }

  private input(field: Exclude<Field, "enabled">, label: string, { type = "text", hint = "", list = "" } = {}): TemplateResult {
    const typed = (event: InputEvent): void => this.change({ [field]: (event.target as HTMLInputElement).value });
    return this.around(
      field,
      label,
      ({ invalid, by }) =>
        html`<input
          id=${field}
          type=${type}
          autocomplete="off"
          list=${list === "" ? nothing : list}
          aria-invalid=${invalid}
          aria-describedby=${by}
          .value=${this.draft[field]}
          @input=${typed}
        />`,
      hint,
    );
  }

  private select(field: Exclude<Field, "enabled">, label: string, options: Options): TemplateResult {
    return this.around(
      field,
      label,
      ({ invalid }) =>
        html`<oc-select
          block
          id=${field}
          label=${label}
          ?invalid=${invalid === "true"}
          .description=${this.problemOf(field) ?? ""}
          .value=${this.draft[field]}
          .options=${options.map(([value, name]) => ({ value, label: name }))}
          @choose=${(event: CustomEvent<string>) => this.change({ [field]: event.detail })}
        ></oc-select>`,
    );
  }

  private what(): TemplateResult {
    const typed = (event: InputEvent): void => this.change({ text: (event.target as HTMLTextAreaElement).value });
    const { kind, text } = this.draft;
    return html`<fieldset>
      <legend>${t("What")}</legend>
      ${this.input("name", t("Name"))}
      ${this.select("kind", t("Type"), [
        ["reminder", t("Reminder in the main session")],
        ["work", t("Task in its own session")],
      ])}
      ${this.around(
        "text",
        kind === "reminder" ? t("Reminder") : t("Task"),
        ({ invalid, by }) => html`<textarea id="text" aria-invalid=${invalid} aria-describedby=${by} .value=${text} @input=${typed}></textarea>`,
      )}
      ${kind === "work" ? this.input("model", t("Model"), { hint: t("Empty: the agent’s model") }) : nothing}
    </fieldset>`;
  }

  private timeFields(): TemplateResult {
    const { repeat } = this.draft;
    if (repeat === "once") return this.input("at", t("Date and time"), { type: "datetime-local", hint: ownZone() });
    if (repeat === "interval")
      return html`<div class="pair">
        ${this.input("amount", t("Every"), { type: "number" })} ${this.select("unit", t("Unit"), Object.entries(UNIT_NAMES))}
      </div>`;
    const zone = this.input("zone", t("Time zone"), { hint: t("Empty: the gateway’s time zone"), list: "zones" });
    if (repeat === "custom") return html`${this.input("expr", t("Expression"), { hint: t("Minute, hour, day of month, month, day of week") })}${zone}`;
    return html`<div class="pair">
        ${repeat === "weekly" ? this.select("weekday", t("Day of the week"), WEEKDAYS) : nothing}
        ${repeat === "monthly" ? this.input("day", t("Day of the month"), { type: "number" }) : nothing} ${this.input("time", t("Time"), { type: "time" })}
      </div>
      ${zone}`;
  }

  private when(): TemplateResult {
    const schedule = scheduleOf(this.draft);
    const { preview } = this;
    return html`<fieldset>
      <legend>${t("When")}</legend>
      ${this.select("repeat", t("Repeat"), Object.entries(REPEAT_NAMES))} ${this.timeFields()}
      <datalist id="zones">${Intl.supportedValuesOf("timeZone").map((zone) => html`<option value=${zone}></option>`)}</datalist>
      <div role="status" aria-label=${t("Next runs")}>
        ${schedule ? html`<strong>${t`Runs ${scheduleText({ schedule })}`}</strong>` : nothing} ${preview && "times" in preview ? this.times(preview) : nothing}
      </div>
    </fieldset>`;
  }

  /** The next runs, in the zone of the schedule; fixed times and intervals in the browser's. */
  private times({ times, tz, spreadMs }: MethodResult<"cron.next">): TemplateResult {
    const zone = scheduleOf(this.draft)?.kind === "cron" ? tz : ownZone();
    return html`<div class="faint">${t`Times in ${zone}`}</div>
      <ol>
        ${times.map((at) => html`<li>${exactly(at, zone)}</li>`)}
      </ol>
      ${
        spreadMs === undefined
          ? nothing
          : html`<div class="faint">
              ${t`Starts up to ${lengthText(spreadMs)} later, always with the same delay, so that jobs on the hour do not all run at once.`}
            </div>`
      }`;
  }

  private where(): TemplateResult | typeof nothing {
    const { kind, result } = this.draft;
    if (kind === "reminder") return nothing;
    return html`<fieldset>
      <legend>${t("Result")}</legend>
      ${this.select("result", t("Send the answer to"), [
        ["last", t("Last used chat")],
        ["chat", t("A chat")],
        ["webchat", t("Main session in WebChat")],
        ["webhook", t("A webhook")],
        ["none", t("Nobody: keep it in the job’s session")],
      ])}
      ${result === "chat" ? html`<div class="pair">${this.input("channel", t("Channel"), { hint: t("For example telegram") })} ${this.input("to", t("Chat"), { hint: t("Empty: the last used one") })}</div>` : nothing}
      ${result === "webhook" ? this.input("to", t("Address")) : nothing}
    </fieldset>`;
  }

  protected override render(): TemplateResult {
    const toggled = (event: Event): void => this.change({ enabled: (event.target as HTMLInputElement).checked });
    return html`<form novalidate @submit=${(event: SubmitEvent) => void this.save(event)}>
      ${
        this.isRestored
          ? html`<div class="note" role="status">
              ${t("Your unsaved input was restored.")} <button type="button" class="small" @click=${() => this.discard()}>${t("Discard")}</button>
            </div>`
          : nothing
      }
      ${this.what()} ${this.when()} ${this.where()}
      <label class="choice"><input type="checkbox" .checked=${this.draft.enabled} @change=${toggled} />${t("Enabled")}</label>
      <div role="alert">${this.refusal === undefined ? nothing : html`<div class="note bad">${this.refusal}</div>`}</div>
      <div class="row">
        <button class="primary" type="submit" ?disabled=${this.isSaving || this.offline}>${this.job ? t("Save") : t("Add job")}</button>
        <button type="button" @click=${() => this.leave()}>${t("Cancel")}</button>
      </div>
    </form>`;
  }
}
customElements.define("oc-job-form", JobForm);
