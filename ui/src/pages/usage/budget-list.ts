import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { exactly, figure, inPercent, moment, money, tokens } from "../../base/figures.ts";
import { editConfig } from "../../link/edit-config.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/meter.ts";
import { failedNote } from "../../parts/page-look.ts";
import { section, sectionLook } from "../../parts/section.ts";
import "../../parts/select.ts";
import { stateDot, type Tone } from "../../parts/state.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";
import { configuredBudgets, parseBudget, scopeWords, type BudgetConfig, type BudgetState } from "./usage-facts.ts";

type Report = MethodResult<"usage.budgets">;

const TONES: Readonly<Record<BudgetState["state"], readonly [Tone, string]>> = {
  ok: ["good", t("Within budget")],
  warn: ["warn", t("Nearly used up")],
  stop: ["bad", t("Used up, calls are stopped")],
};

const limitWords = ({ usd, tokens: most }: Pick<BudgetConfig, "usd" | "tokens">): string =>
  [usd === undefined ? "" : money(usd), most === undefined ? "" : t`${figure(most)} tokens`].filter(Boolean).join(", ");

/** Where a budget stands in the configuration, -1 when it is not there. */
function positionOf(budget: BudgetConfig, budgets: readonly BudgetConfig[]): number {
  const written = JSON.stringify(budget);
  return budgets.findIndex((one) => JSON.stringify(one) === written);
}

const FORM = { per: "day", unit: "usd", limit: "", onLimit: "stop", agent: "" };

/** Limits on what models may cost: how much is used, when they reset, and changing them. */
export class BudgetList extends LitElement {
  static override styles = [
    sheet,
    sectionLook,
    css`
      .use {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        gap: 4px 16px;
        align-items: baseline;
        margin-top: 6px;
        font-size: var(--type-ui);
      }
      meter {
        grid-column: 1 / -1;
        width: 100%;
        height: 10px;
      }
      form {
        padding: 12px 16px 16px;
        border-top: 1px solid var(--line);
      }
      form .row {
        margin-top: 12px;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @state() private report: Report | undefined;
  @state() private configured: readonly BudgetConfig[] = [];
  @state() private failure: string | undefined;
  @state() private form: typeof FORM | undefined;
  @state() private agents: readonly string[] = [];
  @state() private problem: string | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.load();
  }

  private async load(): Promise<void> {
    const { link } = this.context;
    if (!link.has("usage.budgets")) return;
    try {
      const [report, { config, valid }] = await Promise.all([link.request("usage.budgets", {}), link.request("config.get", {})]);
      this.report = report;
      // Of a file with errors nothing is known: the budgets that were read before are still in use.
      if (valid) this.configured = configuredBudgets(config);
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  /** Changes the list as it is now: another tab or a command may have changed it since it was loaded. */
  private async change(change: (budgets: readonly BudgetConfig[]) => readonly BudgetConfig[]): Promise<boolean> {
    const { link, toasts } = this.context;
    try {
      await editConfig(link, (config) => {
        const budgets = change(configuredBudgets(config));
        return budgets.length === 0 ? { unset: ["usage.budgets"] } : { set: [{ path: "usage.budgets", value: budgets }] };
      });
      return true;
    } catch (error) {
      toasts.warn(failureText(error));
      return false;
    } finally {
      await this.load();
    }
  }

  private async begin(): Promise<void> {
    this.form = { ...FORM };
    const { agents } = await this.context.link.request("agents.list", {}).catch(() => ({ agents: [] }));
    this.agents = agents.map(({ id }) => id);
  }

  private async drop(budget: BudgetConfig): Promise<void> {
    let from = 0;
    const removed = await this.change((budgets) => {
      from = positionOf(budget, budgets);
      if (from < 0) throw new Error(t("This budget was changed or removed elsewhere."));
      return budgets.toSpliced(from, 1);
    });
    if (!removed) return;
    const undo = (): void => void this.change((budgets) => (positionOf(budget, budgets) < 0 ? budgets.toSpliced(from, 0, budget) : budgets));
    this.context.toasts.say(t("Budget removed"), { label: t("Undo"), run: undo });
  }

  private async add(event: Event): Promise<void> {
    event.preventDefault();
    if (!this.form) return;
    const budget = parseBudget(this.form);
    this.problem = typeof budget === "string" ? budget : undefined;
    if (typeof budget === "string") return;
    if (!(await this.change((budgets) => [...budgets, budget]))) return;
    this.form = undefined;
    this.context.toasts.say(t("Budget added"));
  }

  private used(state: BudgetState): TemplateResult {
    const { used, limit, share, period } = state;
    const amounts = [
      limit.usd === undefined ? "" : t`${money(used.usd)} of ${money(limit.usd)}`,
      limit.tokens === undefined ? "" : t`${tokens(used.tokens)} of ${tokens(limit.tokens)} tokens`,
    ].filter(Boolean);
    const [tone, word] = TONES[state.state];
    const name = scopeWords(state);
    return html`<div class="use">
      <span>${name === t("Everything") ? nothing : html`${name}: `}${amounts.join(", ")} (${inPercent(Math.floor(share * 100))})</span>
      <span>${stateDot(tone, word)}</span>
      <oc-meter label=${amounts.join(", ")} .share=${share} .warnAt=${state.warnAt}></oc-meter>
      <span class="faint" title=${exactly(period.to, this.report?.timeZone)}>${t`Resets ${moment(period.to)}`}</span>
    </div>`;
  }

  private budget(budget: BudgetConfig, at: number, mayEdit: boolean): TemplateResult {
    const states = (this.report?.budgets ?? []).filter(({ path }) => path === `usage.budgets[${at}]`);
    const name = t`${limitWords(budget)} per ${budget.per === "day" ? t("day") : t("month")}`;
    return html`<li>
      <div class="row wrap">
        <strong>${name}</strong>
        <span class="grow soft">${scopeWords(budget)} · ${budget.onLimit === "warn" ? t("warns at the limit") : t("stops at the limit")}</span>
        ${mayEdit ? html`<button class="small danger" aria-label=${t`Remove the budget ${name}`} @click=${() => void this.drop(budget)}>${t("Remove")}</button>` : nothing}
      </div>
      ${states.length === 0 ? html`<p class="faint">${t("Nothing used yet.")}</p>` : states.map((state) => this.used(state))}
    </li>`;
  }

  private field(name: keyof typeof FORM, value: string): void {
    if (this.form) this.form = { ...this.form, [name]: value };
  }

  private formView(form: typeof FORM): TemplateResult {
    const choose = (name: Exclude<keyof typeof FORM, "limit">, label: string, options: readonly (readonly [string, string])[]): TemplateResult =>
      html`<oc-select
        block
        label=${label}
        .value=${form[name]}
        .options=${options.map(([value, word]) => ({ value, label: word }))}
        @choose=${({ detail }: CustomEvent<string>) => this.field(name, detail)}
      ></oc-select>`;
    return html`<form aria-label=${t("Add budget")} @submit=${(event: Event) => void this.add(event)}>
      <div class="fields">
        <label
          >${t("Limit")}<input
            name="limit"
            inputmode="decimal"
            aria-describedby="problem"
            aria-invalid=${this.problem === undefined ? "false" : "true"}
            .value=${form.limit}
            @input=${(event: Event) => this.field("limit", (event.target as HTMLInputElement).value)}
        /></label>
        ${choose("unit", t("Unit"), [
          ["usd", t("US dollars")],
          ["tokens", t("Tokens")],
        ])}
        ${choose("per", t("Period"), [
          ["day", t("Per day")],
          ["month", t("Per month")],
        ])}
        ${choose("onLimit", t("At the limit"), [
          ["stop", t("Stop calls")],
          ["warn", t("Only warn")],
        ])}
        ${this.agents.length < 2 ? nothing : choose("agent", t("Agent"), [["", t("All agents")], ...this.agents.map((id) => [id, id] as const)])}
      </div>
      <p id="problem" role="alert" class="state bad">${this.problem ?? ""}</p>
      <div class="row"><button class="primary">${t("Save")}</button><button type="button" @click=${() => (this.form = undefined)}>${t("Cancel")}</button></div>
    </form>`;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { link } = this.context;
    if (!link.has("usage.budgets")) return nothing;
    const mayEdit = link.may("operator.admin") && link.has("config.edit");
    const { configured, report, form } = this;
    return section({
      id: "budgets",
      title: t("Budgets"),
      fact: report && configured.length > 0 ? t`Days and months of ${report.timeZone}` : undefined,
      actions: mayEdit && !form ? html`<button class="small" @click=${() => void this.begin()}>${icon("plus", 14)}${t("Add budget")}</button>` : nothing,
      body: html`${this.failure === undefined ? nothing : html`<div class="inside">${failedNote(this.failure, () => void this.load())}</div>`}
      ${
        report && configured.length === 0 && !form
          ? html`<div class="inside soft">
              ${t("No limits are set. A budget warns when it is nearly used up and stops calls to models when it is used up.")}
            </div>`
          : html`<ul class="rows">
              ${configured.map((budget, at) => this.budget(budget, at, mayEdit))}
            </ul>`
      }
      ${form ? this.formView(form) : nothing}`,
    });
  }
}
customElements.define("oc-budget-list", BudgetList);
