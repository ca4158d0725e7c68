import { html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { flatBranch, subagentTree, waitsFor, type MethodResult } from "openclaw/client";
import { randomId } from "../../base/random-id.ts";
import { ago, exactly, money, plural, tokens } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { emptyState } from "../../parts/empty.ts";
import { pageHead } from "../../parts/page-head.ts";
import { failedNote, loadingLine, missingNote, pageLook } from "../../parts/page-look.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { titleOf } from "../chat/sidebar-groups.ts";
import { isActive, nameOf, runningOnly, stateOf, tookText, totalOf, type Branch, type Root, type Subagent } from "./subagent-facts.ts";
import { subagentsLook } from "./subagents-look.ts";
import { t } from "../../words/words.ts";

/** Events come in bursts: what is shown is fetched once for all of them. */
const SETTLE_MS = 150;
/** What a run does changes only what it has cost. */
const COST_MS = 2000;
const TITLES = 200;

/** Work that agents handed to others: who started whom, how it goes, what it costs, and what to do about it. */
export class SubagentsPage extends Page {
  static override styles = [sheet, pageLook, subagentsLook];
  @state() private loaded: MethodResult<"subagents.list"> | undefined;
  @state() private titles: ReadonlyMap<string, string> = new Map();
  @state() private failure: string | undefined;
  @state() private closed: ReadonlySet<string> = new Set();
  @state() private steering: string | undefined;
  @state() private onlyRunning = false;
  private settling: ReturnType<typeof setTimeout> | undefined;
  private dueAt = Infinity;
  /** Readings that were begun: an answer that a later one has overtaken is not shown. */
  private reads = 0;
  /** The gateway's clock less the browser's. */
  private skew = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    const { link } = this.context;
    this.during(link.on("subagent", () => this.changed(SETTLE_MS)));
    this.during(
      link.on("agent", ({ sessionKey = "", stream }) => {
        if (sessionKey.includes(":subagent:")) this.changed(stream === "lifecycle" ? SETTLE_MS : COST_MS);
      }),
    );
    this.during({ [Symbol.dispose]: () => clearTimeout(this.settling) });
    // Times are shown relative to now.
    this.every(1000, () => {
      if (this.loaded?.subagents.some(isActive)) this.requestUpdate();
    });
    this.every(30_000, () => void this.load());
  }

  /** Fetches again after so long, or sooner where that is planned. */
  private changed(ms: number): void {
    const at = Date.now() + ms;
    if (at >= this.dueAt) return;
    clearTimeout(this.settling);
    this.dueAt = at;
    this.settling = setTimeout(() => {
      this.dueAt = Infinity;
      void this.load();
    }, ms);
  }

  private get sessionKey(): string | undefined {
    return this.route.rest[0];
  }

  override async load(): Promise<void> {
    const { link } = this.context;
    if (!link.has("subagents.list")) return;
    const read = (this.reads += 1);
    try {
      const loaded = await link.request("subagents.list", this.sessionKey === undefined ? {} : { sessionKey: this.sessionKey });
      if (read !== this.reads) return;
      this.skew = loaded.ts - Date.now();
      this.loaded = loaded;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
      return;
    }
    const roots = subagentTree(this.loaded.subagents);
    if (roots.every(({ sessionKey }) => this.titles.has(sessionKey))) return;
    const found = await link.request("sessions.list", { limit: TITLES, includeGlobal: true, includeDerivedTitles: true }).catch(() => undefined);
    const titles = (found?.sessions ?? []).map((row): readonly [string, string] => [row.key, titleOf(row)]);
    this.titles = new Map([...roots.map(({ sessionKey }): readonly [string, string] => [sessionKey, sessionKey]), ...titles]);
  }

  private async stop(branch: Branch): Promise<void> {
    const { dialogs, link, toasts } = this.context;
    const { subagent } = branch;
    const name = nameOf(subagent);
    const isRunning = isActive(subagent);
    const below = totalOf(flatBranch(branch)).running - (isRunning ? 1 : 0);
    const others = below === 0 ? "" : t`Everything it started (${plural(below, t("sub-agent"), t("sub-agents"))}) stops now and reports no result.`;
    const body = isRunning || waitsFor(branch) > 0 ? t`It stops now and reports no result. ${others}` : others;
    if (!(await dialogs.confirm({ title: t`Stop ${name}?`, body, yes: t("Stop"), danger: true }))) return;
    await this.attempt(async () => {
      const { killed } = await link.request("subagents.kill", { sessionKey: subagent.sessionKey, idempotencyKey: randomId() });
      toasts.say(killed === 0 ? t`${name} had already ended.` : t`Stopped ${plural(killed, t("sub-agent"), t("sub-agents"))}.`);
    });
    await this.load();
  }

  private async steer(event: SubmitEvent, subagent: Subagent): Promise<void> {
    event.preventDefault();
    const form = event.target;
    const written = form instanceof HTMLFormElement ? new FormData(form).get("message") : null;
    const message = typeof written === "string" ? written.trim() : "";
    if (message === "") return;
    const { link, toasts } = this.context;
    await this.attempt(async () => {
      const { steered } = await link.request("subagents.steer", { sessionKey: subagent.sessionKey, message, idempotencyKey: randomId() });
      toasts.say(steered ? t`${nameOf(subagent)} continues with your message.` : t`${nameOf(subagent)} had already ended.`);
      this.steering = undefined;
    });
    await this.load();
  }

  private toggle(key: string): void {
    const closed = new Set(this.closed);
    if (!closed.delete(key)) closed.add(key);
    this.closed = closed;
  }

  protected override updated(): void {
    const box = this.renderRoot.querySelector<HTMLTextAreaElement>("form textarea:not([data-seen])");
    box?.setAttribute("data-seen", "");
    box?.focus();
  }

  private actions(branch: Branch): TemplateResult {
    const { subagent } = branch;
    const { sessionKey, hasSession } = subagent;
    const name = nameOf(subagent);
    const may = this.context.link.may("operator.write");
    const isRunning = totalOf(flatBranch(branch)).running > 0;
    const turn = (): void => {
      this.steering = this.steering === sessionKey ? undefined : sessionKey;
    };
    return html`<div class="actions">
      ${hasSession ? html`<a class="button small" href=${place("chat", [sessionKey])} aria-label=${t`Open ${name}`}>${t("Open")}</a>` : nothing}
      ${
        may && isActive(subagent)
          ? html`<button class="small" aria-label=${t`Steer ${name}`} aria-expanded=${this.steering === sessionKey ? "true" : "false"} @click=${turn}>
              ${t("Steer")}
            </button>`
          : nothing
      }
      ${may && isRunning ? html`<button class="small danger" aria-label=${t`Stop ${name}`} @click=${() => void this.stop(branch)}>${t("Stop")}</button>` : nothing}
    </div>`;
  }

  private steerForm(subagent: Subagent): TemplateResult | typeof nothing {
    if (this.steering !== subagent.sessionKey || !isActive(subagent)) return nothing;
    const send = (event: SubmitEvent): void => void this.steer(event, subagent);
    const key = (event: KeyboardEvent): void => {
      if (event.key === "Escape") this.steering = undefined;
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (event.target instanceof HTMLTextAreaElement) event.target.form?.requestSubmit();
    };
    return html`<form class="steer" @submit=${send}>
      <label>
        <span class="faint">${t("It stops its current work and continues with this message.")}</span>
        <textarea name="message" rows="2" maxlength="4000" aria-label=${t`Message to ${nameOf(subagent)}`} @keydown=${key}></textarea>
      </label>
      <div class="row">
        <button class="primary small">${t("Send")}</button>
        <button type="button" class="small" @click=${() => (this.steering = undefined)}>${t("Cancel")}</button>
      </div>
    </form>`;
  }

  private spent(branch: Branch): string {
    const { subagent, children } = branch;
    const own = [subagent.model, subagent.tokens.total === 0 ? undefined : t`${tokens(subagent.tokens.total)} tokens`, money(subagent.costUsd)];
    const all = totalOf(flatBranch(branch));
    const below = children.length === 0 ? undefined : t`${money(all.costUsd)} including sub-agents`;
    return [...own, below].filter((part) => part !== undefined).join(" · ");
  }

  private branch(branch: Branch): TemplateResult {
    const { subagent, children } = branch;
    const { sessionKey, label, task, error, endedAt, createdAt, agentId } = subagent;
    const name = nameOf(subagent);
    const isOpen = !this.closed.has(sessionKey);
    const { level, text } = stateOf(branch);
    const ended = endedAt === undefined || waitsFor(branch) > 0 ? "" : t` · ended ${ago(endedAt, Date.now() + this.skew)}`;
    const fold =
      children.length === 0
        ? nothing
        : html`<button
            class="plain fold"
            aria-expanded=${isOpen ? "true" : "false"}
            aria-label=${t`Sub-agents of ${name}`}
            @click=${() => this.toggle(sessionKey)}
          >
            ${isOpen ? "▾" : "▸"}
          </button>`;
    const when = endedAt ?? createdAt;
    return html`<li data-status=${subagent.status} aria-label=${name}>
      <div class="line">
        ${fold}
        <div class="grow">
          <div class="row wrap">
            <span class="name">${name}</span><span class="badge ${level}">${text}</span>
            <span class="faint" title=${exactly(when)}> ${tookText(branch, Date.now() + this.skew)}${ended} </span>
          </div>
          ${label === undefined ? nothing : html`<div class="faint task" title=${task}>${task}</div>`}
          ${error === undefined ? nothing : html`<div class="reason">${error}</div>`}
          <div class="faint">${agentId === "main" ? "" : t`agent ${agentId} · `}${this.spent(branch)}</div>
        </div>
        ${this.actions(branch)}
      </div>
      ${this.steerForm(subagent)}
      ${
        children.length > 0 && isOpen
          ? html`<ul>
              ${this.branches(children)}
            </ul>`
          : nothing
      }
    </li>`;
  }

  private branches(branches: readonly Branch[]): unknown {
    return repeat(
      branches,
      ({ subagent }) => subagent.sessionKey,
      (branch) => this.branch(branch),
    );
  }

  private root({ sessionKey, children }: Root): TemplateResult {
    const { running, costUsd } = totalOf(children.flatMap(flatBranch));
    const title = this.titles.get(sessionKey) ?? sessionKey;
    return html`<section aria-label=${title}>
      <header class="root">
        <h2><a href=${place("chat", [sessionKey])}>${title}</a></h2>
        <span class="faint">${running === 0 ? t("none running") : t`${running} running`} · ${money(costUsd)}</span>
      </header>
      <ul class="tree">
        ${this.branches(children)}
      </ul>
    </section>`;
  }

  private shown({ subagents, truncated }: MethodResult<"subagents.list">): TemplateResult {
    const { running, costUsd } = totalOf(subagents);
    const all = subagentTree(subagents);
    const roots = this.onlyRunning ? all.map((root) => ({ ...root, children: runningOnly(root.children) })).filter(({ children }) => children.length > 0) : all;
    const turn = (event: Event): void => void (event.target instanceof HTMLInputElement && (this.onlyRunning = event.target.checked));
    const fact = t`${running} running · ${plural(subagents.length, t("sub-agent"), t("sub-agents"))} in the last 24 hours · ${money(costUsd)}`;
    return html`${pageHead({
        title: t("Sub-agents"),
        fact: html`<span role="status">${fact}</span>`,
        actions: html`<label class="row"><input type="checkbox" .checked=${this.onlyRunning} @change=${turn} /> ${t("Only running")}</label>`,
      })}
      <div class="page">
        ${this.failed()}${this.sessionKey === undefined ? nothing : html`<p class="note">${t("Showing one session only.")} <a href="subagents">${t("Show all")}</a></p>`}
        ${truncated ? html`<p class="note">${t`Not all are listed: running sub-agents and the newest ${subagents.length} are shown.`}</p>` : nothing}
        ${
          roots.length === 0
            ? subagents.length > 0
              ? emptyState({ icon: "tree", title: t("No sub-agent is running") })
              : emptyState({
                  icon: "tree",
                  title: t("No sub-agents yet"),
                  text: html`${t("Agents start them for work that can be done separately. Ask for it in a chat, or run")} <code>/subagents spawn</code>.`,
                  action: html`<a class="button" href="chat">${t("Open chat")}</a>`,
                })
            : repeat(
                roots,
                ({ sessionKey }) => sessionKey,
                (root) => this.root(root),
              )
        }
      </div>`;
  }

  private failed(): TemplateResult | typeof nothing {
    return this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load());
  }

  protected override render(): TemplateResult {
    const { loaded, failure } = this;
    if (loaded) return this.shown(loaded);
    const isThere = this.context.link.has("subagents.list");
    return html`${pageHead({ title: t("Sub-agents") })}
      <div class="page">${isThere ? (failure === undefined ? loadingLine() : this.failed()) : missingNote(t("Viewing sub-agents"))}</div>`;
  }
}
customElements.define("oc-subagents-page", SubagentsPage);
