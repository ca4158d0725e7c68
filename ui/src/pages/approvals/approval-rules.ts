import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { ago, exactly } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { dataTable, tableLook } from "../../parts/data-table.ts";
import { failedNote, missingNote } from "../../parts/page-look.ts";
import { section, sectionLook } from "../../parts/section.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";
import { policyWords, type AgentPolicy, type Remembered } from "./approval-facts.ts";
import "./command-tester.ts";

type Rules = MethodResult<"exec.approvals.get">;
type Entry = { readonly agentId: string; readonly pattern: string; readonly id: string; readonly lastUsedAt: number | undefined };

const used = (at: number | null | undefined): TemplateResult | string => (at ? html`<span title=${exactly(at)}>${ago(at)}</span>` : t("Never"));

function entriesOf({ file }: Rules): readonly Entry[] {
  return Object.entries(file.agents ?? {}).flatMap(([agentId, { allowlist = [] }]) =>
    allowlist.map(({ pattern, lastUsedAt, id }) => ({ agentId, pattern, lastUsedAt, id: `${agentId} ${id ?? pattern}` })),
  );
}

type Allowlist = NonNullable<NonNullable<Rules["file"]["agents"]>[string]["allowlist"]>;

const allowlistOf = ({ file }: Rules, agentId: string): Allowlist => file.agents?.[agentId]?.allowlist ?? [];

const withAllowlist = ({ file, hash }: Rules, agentId: string, allowlist: Allowlist) => ({
  file: { ...file, agents: { ...file.agents, [agentId]: { ...file.agents?.[agentId], allowlist } } },
  baseHash: hash,
});

/** What runs without asking, and why. */
export class ApprovalRules extends LitElement {
  static override styles = [
    sheet,
    tableLook,
    sectionLook,
    skeletonLook,
    css`
      .rows strong {
        display: block;
      }
      code {
        overflow-wrap: anywhere;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @state() private policies: readonly AgentPolicy[] | undefined;
  @state() private remembered: readonly Remembered[] = [];
  @state() private rules: Rules | undefined;
  @state() private failure: string | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.load();
  }

  private async load(): Promise<void> {
    const { link } = this.context;
    if (!link.may("operator.admin")) return;
    try {
      const [{ agents }, { commands }, rules] = await Promise.all([
        link.request("exec.approvals.policy", {}),
        link.request("exec.approvals.remembered", {}),
        link.request("exec.approvals.get", {}),
      ]);
      this.policies = agents;
      this.remembered = commands;
      this.rules = rules;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  private async change(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      await this.load();
      return true;
    } catch (error) {
      this.context.toasts.warn(failureText(error));
      await this.load();
      return false;
    }
  }

  private async forget({ id, command }: Remembered): Promise<void> {
    const { link, toasts } = this.context;
    if (!(await this.change(() => link.request("exec.approvals.forget", { id })))) return;
    const short = command.length > 60 ? `${command.slice(0, 60)}…` : command;
    toasts.say(t`“${short}” needs approval again`, {
      label: t("Undo"),
      run: () => void this.change(() => link.request("exec.approvals.restore", { id })),
    });
  }

  private async removeEntry({ agentId, pattern }: Entry): Promise<void> {
    const { link, toasts } = this.context;
    const { rules } = this;
    if (!rules) return;
    const removed = allowlistOf(rules, agentId).filter((one) => one.pattern === pattern);
    const put = (now: Rules, allowlist: Allowlist): Promise<unknown> => link.request("exec.approvals.set", withAllowlist(now, agentId, allowlist));
    const without = allowlistOf(rules, agentId).filter((one) => one.pattern !== pattern);
    if (!(await this.change(() => put(rules, without)))) return;
    // Into the file as it is then: what else was changed stays changed.
    const undo = async (): Promise<unknown> => {
      const now = await link.request("exec.approvals.get", {});
      const there = allowlistOf(now, agentId).filter((one) => one.pattern !== pattern);
      return put(now, [...there, ...removed]);
    };
    toasts.say(t`${pattern} was removed from the allowlist`, { label: t("Undo"), run: () => void this.change(undo) });
  }

  private policySection(policies: readonly AgentPolicy[]): TemplateResult {
    return section({
      id: "policy",
      title: t("Policy"),
      fact: t("The stricter of the configuration and the approvals file"),
      actions: html`<a class="button small plain" href="config/tools">${t("Edit configuration")}</a>`,
      body: html`<ul class="rows">
        ${policies.map(
          (policy) =>
            html`<li>
              <strong>${policy.agentId}</strong><span class="soft">${policyWords(policy)}</span>
              <div class="faint">${[`security=${policy.security}`, `ask=${policy.ask}`, `askFallback=${policy.askFallback}`].join(" ")}</div>
            </li>`,
        )}
      </ul>`,
    });
  }

  private rememberedSection(): TemplateResult {
    return section({
      id: "remembered",
      title: t("Always allowed"),
      fact: t("What “Always allow” stored"),
      body:
        this.remembered.length === 0
          ? html`<div class="inside soft">${t("Nothing yet. Commands you always allow are listed here.")}</div>`
          : dataTable<Remembered>({
              label: t("Always allowed"),
              rows: this.remembered,
              keyOf: ({ id }) => id,
              columns: [
                {
                  head: t("Covers"),
                  cell: ({ covers, command }) =>
                    html`<div class="words">${covers}</div>
                      <code class="faint">${command}</code>`,
                },
                { head: t("Agent"), isWide: true, cell: ({ agentId }) => agentId },
                { head: t("Last used"), isNumber: true, isWide: true, cell: ({ lastUsedAtMs }) => used(lastUsedAtMs) },
              ],
              actions: (one) =>
                html`<button class="small danger" aria-label=${t`Revoke ${one.command}`} @click=${() => void this.forget(one)}>${t("Revoke")}</button>`,
            }),
    });
  }

  private allowlistSection(rules: Rules): TemplateResult {
    const entries = entriesOf(rules);
    return section({
      id: "allowlist",
      title: t("Allowlist"),
      fact: html`<span title=${rules.path}>${t("Entries of the approvals file")}</span>`,
      body:
        entries.length === 0
          ? html`<div class="inside soft">${t("The approvals file has no entries.")}</div>`
          : dataTable<Entry>({
              label: t("Allowlist"),
              rows: entries,
              keyOf: ({ id }) => id,
              columns: [
                { head: t("Pattern"), cell: ({ pattern }) => html`<code>${pattern}</code>` },
                { head: t("Agent"), isWide: true, cell: ({ agentId }) => (agentId === "*" ? t("All agents") : agentId) },
                { head: t("Last used"), isNumber: true, isWide: true, cell: ({ lastUsedAt }) => used(lastUsedAt) },
              ],
              actions: (one) =>
                html`<button class="small danger" aria-label=${t`Remove ${one.pattern}`} @click=${() => void this.removeEntry(one)}>${t("Remove")}</button>`,
            }),
    });
  }

  protected override render(): TemplateResult {
    const { link } = this.context;
    if (!link.may("operator.admin") || !link.has("exec.approvals.policy")) return missingNote(t("Viewing the rules"));
    const { policies, rules, failure } = this;
    return html`${failure === undefined ? nothing : failedNote(failure, () => void this.load())}
    ${
      policies && rules
        ? html`<oc-command-tester .context=${this.context} .agents=${policies.map(({ agentId }) => agentId)}></oc-command-tester>
            ${this.policySection(policies)} ${this.rememberedSection()} ${this.allowlistSection(rules)}`
        : failure === undefined
          ? skeleton()
          : nothing
    }`;
  }
}
customElements.define("oc-approval-rules", ApprovalRules);
