import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { tokens } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/avatar.ts";
import "../../parts/copy-button.ts";
import { missingNote, pageLook } from "../../parts/page-look.ts";
import "../../parts/select.ts";
import { settingLook } from "../../parts/setting-look.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import type { AgentLine } from "./agent-facts.ts";

type Model = MethodResult<"models.list">["models"][number];

/** Name, picture, model and workspace of an agent. Sends `saved`. */
export class AgentGeneral extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    settingLook,
    css`
      .large {
        --avatar: 44px;
      }
      .savebar {
        margin-top: 16px;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property({ attribute: false }) agent!: AgentLine;
  @state() private models: readonly Model[] = [];
  @state() private draft: Pick<AgentLine, "name" | "avatar" | "model" | "workspace"> | undefined;
  @state() private busy = false;
  private guarded: Disposable | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.guarded = this.context.router.guard(() => this.mayLeave());
    void this.context.link.request("models.list", {}).then(
      ({ models }) => (this.models = models),
      () => undefined, // The model that is set stays the only choice.
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.guarded?.[Symbol.dispose]();
  }

  private mayLeave(): boolean | Promise<boolean> {
    if (Object.keys(this.changes).length === 0) return true;
    const body = t`The changes to ${this.agent.name} are not saved.`;
    return this.context.dialogs.confirm({ title: t("Discard changes?"), body, yes: t("Discard"), no: t("Keep editing"), danger: true });
  }

  private get shown(): NonNullable<AgentGeneral["draft"]> {
    return this.draft ?? this.agent;
  }

  private get changes(): Readonly<Record<string, string>> {
    const { draft, agent } = this;
    if (!draft) return {};
    return Object.fromEntries(
      (["name", "avatar", "model", "workspace"] as const).filter((key) => draft[key].trim() !== agent[key]).map((key) => [key, draft[key].trim()]),
    );
  }

  private change(patch: Partial<NonNullable<AgentGeneral["draft"]>>): void {
    const { name, avatar, model, workspace } = this.shown;
    this.draft = { name, avatar, model, workspace, ...patch };
  }

  private async save(event: Event): Promise<void> {
    event.preventDefault();
    const { link, toasts } = this.context;
    const { agent, changes } = this;
    if (Object.keys(changes).length === 0 || this.busy) return;
    const before = Object.fromEntries(Object.keys(changes).map((key) => [key, agent[key as keyof AgentLine]]));
    const put = async (fields: Readonly<Record<string, unknown>>): Promise<void> => {
      await link.request("agents.update", { agentId: agent.id, ...fields });
      this.draft = undefined;
      this.dispatchEvent(new CustomEvent("saved"));
    };
    const undo = (): void => void put(before).catch((error: unknown) => toasts.warn(failureText(error)));
    const canUndo = Object.values(before).every((value) => value !== "");
    this.busy = true;
    try {
      await put(changes);
      toasts.say(t`${this.agent.name} was saved.`, canUndo ? { label: t("Undo"), run: undo } : undefined);
    } catch (error) {
      toasts.warn(failureText(error));
    } finally {
      this.busy = false;
    }
  }

  private modelField(): TemplateResult {
    const { model } = this.shown;
    const listed = this.models.map(({ id, name, provider, contextWindow, hasKey }) => ({
      value: `${provider}/${id}`,
      label: name,
      group: provider,
      hint: hasKey === false ? t("no key") : contextWindow === undefined ? undefined : t`${tokens(contextWindow)} context`,
      disabled: hasKey === false,
    }));
    const others = model === "" || listed.some(({ value }) => value === model) ? [] : [{ value: model, label: model, group: t("As configured") }];
    return html`<oc-select
      block
      label=${t("Model")}
      placeholder=${t("Chosen by the gateway")}
      .value=${model}
      .options=${[...others, ...listed]}
      @choose=${(event: CustomEvent<string>) => this.change({ model: event.detail })}
    ></oc-select>`;
  }

  private text(field: "name" | "avatar" | "workspace", label: string): TemplateResult {
    return html`<input
      aria-label=${label}
      autocomplete="off"
      spellcheck="false"
      .value=${this.shown[field]}
      @input=${(event: InputEvent) => this.change({ [field]: (event.target as HTMLInputElement).value })}
    />`;
  }

  private setting(label: string, help: string | TemplateResult, control: TemplateResult): TemplateResult {
    return html`<div class="setting">
      <div>
        <b>${label}</b>
        <p>${help}</p>
      </div>
      <div class="control">${control}</div>
    </div>`;
  }

  protected override render(): TemplateResult {
    const { agent, context } = this;
    if (!context.link.has("agents.update") || !context.link.may("operator.admin")) return missingNote(t("Editing agents"));
    const count = Object.keys(this.changes).length;
    return html`<form @submit=${(event: Event) => void this.save(event)}>
      <div class="settings">
        ${this.setting(t("Name"), t("The agent's name in chats and lists."), this.text("name", t("Name")))}
        ${this.setting(
          t("Avatar"),
          t("A picture in the workspace, such as avatar.png. Without one its emoji or initials are shown; the emoji is in IDENTITY.md."),
          html`<div class="row"><oc-avatar class="large" .looks=${agent}></oc-avatar>${this.text("avatar", t("Avatar"))}</div>`,
        )}
        ${this.setting(t("Model"), t("The model that answers unless a chat uses another one. Models without a key cannot be selected."), this.modelField())}
        ${this.setting(t("Workspace"), t("The folder on the gateway's machine that the agent works in."), this.text("workspace", t("Workspace")))}
        ${this.setting(t("ID"), t("Part of its session keys. It does not change."), html`<span class="row"><code>${agent.id}</code><oc-copy-button what="ID" .text=${agent.id}></oc-copy-button></span>`)}
        ${this.setting(
          t("More settings"),
          t("Heartbeat, thinking, limits and everything else."),
          html`<a class="button" href=${place("config", [], { path: "agents" })}>${t("Open in Configuration")}</a>`,
        )}
      </div>
      <div class="row savebar" role="status">
        <button class="primary" ?disabled=${count === 0 || this.busy}>${t("Save")}</button>
        ${count === 0 ? nothing : html`<button type="button" class="plain" @click=${() => (this.draft = undefined)}>${t("Discard")}</button><span class="faint">${t("Unsaved changes")}</span>`}
      </div>
    </form>`;
  }
}
customElements.define("oc-agent-general", AgentGeneral);
