import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { ago, duration, exactly } from "../../base/figures.ts";
import { randomId } from "../../base/random-id.ts";
import { Watch } from "../../base/signal.ts";
import { editConfig, type ConfigEdit } from "../../link/edit-config.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { badge, stateDot } from "../../parts/state.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import {
  allowing,
  commandLists,
  keyOf,
  nodeName,
  plainLooks,
  platformName,
  type CommandLists,
  type Invoke,
  type NodeFacts,
  type NodeLine,
  type Refused,
} from "./node-facts.ts";

const LOOK_MS = 15_000;
const WHICH = "system.which";
const EXAMPLE = "git";

/** One node: what it is, what it may be asked for, and what it was asked for. Sends `changed`. */
export class NodeDetail extends LitElement {
  static override styles = [
    sheet,
    factsLook,
    css`
      :host {
        display: grid;
        gap: 20px;
        overflow-wrap: anywhere;
      }
      h3 {
        margin-bottom: 6px;
        font-size: var(--type-small);
        line-height: 16px;
        color: var(--ink-faint);
      }
      form {
        display: flex;
        align-items: end;
        gap: 8px;
      }
      form label {
        flex: 1;
        min-width: 0;
        display: grid;
        gap: 4px;
        color: var(--ink-soft);
      }
      dl.facts {
        font-size: var(--type-ui);
        grid-template-columns: 84px minmax(0, 1fr);
      }
      ul {
        display: grid;
        gap: 8px;
        list-style: none;
        margin: 0;
        padding: 0;
      }
      li {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px 8px;
      }
      li > code {
        flex: 1;
        min-width: 0;
      }
      li > .why {
        flex-basis: 100%;
        color: var(--ink-soft);
      }
      pre {
        max-height: 240px;
        margin: 8px 0 0;
        padding: 10px 12px;
        overflow: auto;
        white-space: pre-wrap;
        background: var(--code);
        border-radius: var(--radius-small);
      }
      .looks {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
        margin-top: 8px;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property({ attribute: false }) node!: NodeLine;
  @state() private described: NodeFacts | undefined;
  @state() private invokes: readonly Invoke[] | undefined;
  @state() private looking = false;
  @state() private found: { readonly command: string; readonly text: string; readonly isBad: boolean } | undefined;
  private readonly approvals = new Watch(this, () => this.context.approvals.state);

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get("node");
    if (!changed.has("node")) return;
    if (before?.nodeId !== this.node.nodeId) this.found = this.described = this.invokes = undefined;
    void this.load();
  }

  private async load(): Promise<void> {
    const { link } = this.context;
    const { nodeId } = this.node;
    const [described, recent] = await Promise.all([
      link.request("node.describe", { nodeId }).catch(() => undefined),
      link.has("node.invokes") ? link.request("node.invokes", { nodeId }).catch(() => undefined) : undefined,
    ]);
    if (nodeId !== this.node.nodeId) return;
    this.described = described ?? this.described;
    this.invokes = recent?.invokes ?? this.invokes;
  }

  private changed(): void {
    this.dispatchEvent(new CustomEvent("changed"));
  }

  private async rename(displayName: string): Promise<void> {
    const { link, toasts } = this.context;
    const { nodeId, displayName: before } = this.node;
    if (displayName === "" || displayName === before) return;
    try {
      await link.request("node.rename", { nodeId, displayName });
      const undo = before === undefined ? undefined : { label: t("Undo"), run: () => void this.renameBack(nodeId, before) };
      toasts.say(t`The node is now called ${displayName}.`, undo);
    } catch (error) {
      toasts.warn(failureText(error));
    }
    this.changed();
  }

  private async renameBack(nodeId: string, displayName: string): Promise<void> {
    await this.context.link.request("node.rename", { nodeId, displayName }).catch((error: unknown) => this.context.toasts.warn(failureText(error)));
    this.changed();
  }

  private async allow(refused: Refused): Promise<void> {
    const { dialogs, link, toasts } = this.context;
    const { command } = refused;
    const body = t("Agents may then use it on every node that offers it. The node’s own rules still apply.");
    if (!(await dialogs.confirm({ title: t`Allow ${command}?`, body, yes: t("Allow") }))) return;
    let before: CommandLists | undefined;
    try {
      await editConfig(link, (config) => {
        before = commandLists(config);
        return listsEdit(allowing(refused, before));
      });
      toasts.say(t`${command} is allowed.`, before && { label: t("Undo"), run: () => void this.setLists(before!) });
    } catch (error) {
      toasts.warn(failureText(error));
    }
    this.changed();
  }

  private async setLists(lists: CommandLists): Promise<void> {
    await editConfig(this.context.link, () => listsEdit(lists)).catch((error: unknown) => this.context.toasts.warn(failureText(error)));
    this.changed();
  }

  /** Runs a command that changes nothing and shows what it answers. */
  private async look(command: string, params?: unknown): Promise<void> {
    const { nodeId } = this.node;
    this.looking = true;
    try {
      const request = { nodeId, command, timeoutMs: LOOK_MS, idempotencyKey: randomId(), ...(params === undefined ? {} : { params }) };
      const { payload } = await this.context.link.request("node.invoke", request, { timeoutMs: LOOK_MS * 2 });
      this.found = { command, text: answerText(command, payload), isBad: false };
    } catch (error) {
      this.found = { command, text: failureText(error), isBad: true };
    }
    this.looking = false;
    await this.load();
  }

  private named(event: SubmitEvent, name: string): string {
    event.preventDefault();
    const value = new FormData(event.target as HTMLFormElement).get(name);
    return typeof value === "string" ? value.trim() : "";
  }

  private about(): TemplateResult | typeof nothing {
    const { node } = this;
    const { connected, connectedAtMs, lastSeenAtMs } = node;
    const when = connected ? connectedAtMs : lastSeenAtMs;
    const time = when === undefined ? t("never") : html`<span title=${exactly(when)}>${ago(when)}</span>`;
    return facts([
      [t("State"), stateDot(connected ? "good" : "", connected ? t("Online") : t("Offline"))],
      [connected ? t("Connected") : t("Last seen"), time],
      [t("Platform"), platformName(node.platform)],
      [t("Model"), node.modelIdentifier ?? node.deviceFamily],
      [t("Version"), node.version],
      [t("From"), node.remoteIp],
      [t("Can do"), node.caps.join(", ")],
      [t("Node"), html`<code>${node.nodeId}</code>`],
    ]);
  }

  private nameForm(): TemplateResult | typeof nothing {
    if (!this.node.paired || !this.context.link.may("operator.pairing")) return nothing;
    return html`<form @submit=${(event: SubmitEvent) => void this.rename(this.named(event, "name"))}>
      <label>${t("Name")}<input name="name" maxlength="100" .value=${this.node.displayName ?? nodeName(this.node)} /></label>
      <button>${t("Rename")}</button>
    </form>`;
  }

  private refusedRow(refused: Refused): TemplateResult {
    const key = keyOf(refused);
    return html`<li>
      <code>${refused.command}</code>
      ${
        this.context.link.may("operator.admin")
          ? html`<button class="small" aria-label=${t`Allow ${refused.command}`} @click=${() => void this.allow(refused)}>${t("Allow…")}</button>`
          : nothing
      }
      <span class="why"
        >${refused.why === "denied" ? t("Denied by") : t("Off until it is listed in")}
        <a href=${place("config", [], { path: key })}><code>${key}</code></a></span
      >
    </li>`;
  }

  private commands(): TemplateResult | typeof nothing {
    const { commands, connected } = this.node;
    if (!connected) return html`<p class="soft">${t("Its commands are known while it is connected.")}</p>`;
    const refused = this.described?.refused ?? [];
    const waiting = this.approvals.value.waiting.filter(({ request }) => request.nodeId === this.node.nodeId);
    return html`${
        waiting.length === 0
          ? nothing
          : html`<section aria-label=${t("Waiting for approval")}>
              <h3>${t("Waiting for approval")}</h3>
              <ul>
                ${waiting.map(({ request }) => html`<li><code>${request.command}</code><a class="button small" href="approvals">${t("Review")}</a></li>`)}
              </ul>
            </section>`
      }
      <section aria-label=${t("Allowed commands")}>
        <h3>${t("Allowed commands")}</h3>
        ${
          commands.length === 0
            ? html`<p class="soft">${t("None")}</p>`
            : html`<ul>
                ${commands.map((command) => html`<li><code>${command}</code></li>`)}
              </ul>`
        }
      </section>
      ${
        refused.length === 0
          ? nothing
          : html`<section aria-label=${t("Refused by the configuration")}>
              <h3>${t("Refused by the configuration")}</h3>
              <ul>
                ${refused.map((one) => this.refusedRow(one))}
              </ul>
            </section>`
      }`;
  }

  private looks(): TemplateResult | typeof nothing {
    const { commands, connected } = this.node;
    const plain = plainLooks(commands);
    const canFind = commands.includes(WHICH);
    if (!connected || !this.context.link.may("operator.write") || (plain.length === 0 && !canFind)) return nothing;
    const { found } = this;
    const find = (event: SubmitEvent): void => {
      const bins = this.named(event, "program")
        .split(/[\s,]+/)
        .filter(Boolean);
      if (bins.length > 0) void this.look(WHICH, { bins });
    };
    return html`<section aria-label=${t("Ask the node")}>
      <h3>${t("Ask the node")}</h3>
      ${
        canFind
          ? html`<form @submit=${find}>
              <label>${t("Program")}<input name="program" placeholder=${EXAMPLE} spellcheck="false" autocapitalize="off" maxlength="200" /></label>
              <button ?disabled=${this.looking}>${t("Find")}</button>
            </form>`
          : nothing
      }
      ${
        plain.length === 0
          ? nothing
          : html`<div class="looks">
              ${plain.map((command) => html`<button class="small" ?disabled=${this.looking} @click=${() => void this.look(command)}><code>${command}</code></button>`)}
            </div>`
      }
      <div role="status">${found ? html`<pre class=${found.isBad ? "state bad" : ""}>${found.text}</pre>` : nothing}</div>
    </section>`;
  }

  private invokeRow({ command, startedAtMs, outcome, durationMs, message }: Invoke): TemplateResult {
    const word = { running: badge("info", t("Running")), done: badge("", t("Done")), failed: badge("bad", t("Failed")) }[outcome];
    return html`<li>
      <code>${command}</code>${word}
      <span class="why"
        ><span title=${exactly(startedAtMs)}>${ago(startedAtMs)}</span
        >${durationMs === undefined ? "" : `, ${duration(durationMs)}`}${message === undefined ? "" : `: ${message}`}</span
      >
    </li>`;
  }

  private recent(): TemplateResult | typeof nothing {
    if (!this.invokes) return nothing;
    return html`<section aria-label=${t("Recent commands")}>
      <h3>${t("Recent commands")}</h3>
      ${
        this.invokes.length === 0
          ? html`<p class="soft">${t("None since the gateway started")}</p>`
          : html`<ul>
              ${this.invokes.map((invoke) => this.invokeRow(invoke))}
            </ul>`
      }
    </section>`;
  }

  protected override render(): TemplateResult {
    return html`${this.about()} ${this.nameForm()} ${this.commands()} ${this.looks()} ${this.recent()}`;
  }
}
customElements.define("oc-node-detail", NodeDetail);

/** The edit that makes the two lists these; an empty one is taken out. */
function listsEdit({ allow, deny }: CommandLists): ConfigEdit {
  const lists = [
    { path: "gateway.nodes.allowCommands", value: allow },
    { path: "gateway.nodes.denyCommands", value: deny },
  ];
  const [set, unset] = [lists.filter(({ value }) => value.length > 0), lists.filter(({ value }) => value.length === 0).map(({ path }) => path)];
  return { ...(set.length === 0 ? {} : { set }), ...(unset.length === 0 ? {} : { unset }) };
}

/** What a node answered, for people. */
function answerText(command: string, payload: unknown): string {
  const bins = command === WHICH ? (payload as { bins?: Record<string, string> } | null)?.bins : undefined;
  if (!bins) return JSON.stringify(payload ?? null, null, 2);
  const lines = Object.entries(bins).map(([name, path]) => `${name}: ${path}`);
  return lines.length === 0 ? t("Not found on the node") : lines.join("\n");
}
