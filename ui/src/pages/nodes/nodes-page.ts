import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { ago, exactly } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { dataTable, tableLook } from "../../parts/data-table.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import { inspectorLook } from "../../parts/inspector.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { failedNote, missingNote, pageLook } from "../../parts/page-look.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { badge, stateDot } from "../../parts/state.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import "./add-node.ts";
import "./node-detail.ts";
import { nodeName, nodeRequests, platformName, type NodeLine, type NodeRequest } from "./node-facts.ts";
import "./node-requests.ts";

/** A node that comes is announced by nothing: it is looked for so often. */
const LOOK_MS = 5000;

/** Machines and phones that run commands for agents: who asks, who is there, and what they may be asked for. */
export class NodesPage extends Page {
  static override styles = [
    sheet,
    pageLook,
    pageHeadLook,
    tableLook,
    inspectorLook,
    emptyLook,
    skeletonLook,
    css`
      .add {
        max-width: 760px;
        margin-inline: auto;
        padding: 16px;
        border: 1px solid var(--line);
        border-radius: var(--radius);
      }
      .add > h2 {
        margin-bottom: 10px;
      }
      .empty-state {
        padding-bottom: 16px;
      }
    `,
  ];
  @state() private nodes: readonly NodeLine[] | undefined;
  @state() private requests: readonly NodeRequest[] = [];
  @state() private failure: string | undefined;
  @state() private adding = false;
  private reads = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    const { link } = this.context;
    for (const event of ["node.pair.requested", "node.pair.resolved", "device.pair.requested", "device.pair.resolved", "presence"] as const)
      this.during(link.on(event, () => void this.load()));
    this.every(LOOK_MS, () => void this.load());
  }

  override async load(): Promise<void> {
    const { link } = this.context;
    if (!link.has("node.list")) return;
    const read = (this.reads += 1);
    const mayPair = link.may("operator.pairing");
    try {
      const [{ nodes }, devices, own] = await Promise.all([
        link.request("node.list", {}),
        mayPair ? link.request("device.pair.list", {}) : undefined,
        mayPair ? link.request("node.pair.list", {}) : undefined,
      ]);
      if (read !== this.reads) return;
      this.nodes = nodes;
      this.requests = nodeRequests(devices?.pending ?? [], own?.pending ?? []);
      this.failure = undefined;
    } catch (error) {
      if (read === this.reads) this.failure = failureText(error);
    }
  }

  protected override routeChanged(): void {
    if (!this.nodes) void this.load();
  }

  private choose(nodeId: string | undefined): void {
    this.context.router.go(place("nodes", nodeId === undefined ? [] : [nodeId]));
  }

  private async discard(node: NodeLine): Promise<void> {
    const { dialogs, link } = this.context;
    const { nodeId } = node;
    const name = nodeName(node);
    const body = t(
      "Its token is revoked and its connection closed. A node on another machine then needs your approval again; one on this machine connects again while it runs.",
    );
    if (!(await dialogs.confirm({ title: t`Remove ${name}?`, body, yes: t("Remove"), danger: true }))) return;
    await this.attempt(
      async () => {
        const [devices, own] = await Promise.all([link.request("device.pair.list", {}), link.request("node.pair.list", {})]);
        if (own.paired.some((one) => one.nodeId === nodeId)) await link.request("node.pair.remove", { nodeId });
        if (devices.paired.some(({ deviceId }) => deviceId === nodeId)) await link.request("device.pair.remove", { deviceId: nodeId });
        this.choose(undefined);
      },
      t`${name} was removed.`,
    );
    await this.load();
  }

  private removeButton(node: NodeLine, isSmall: boolean): TemplateResult | typeof nothing {
    if (!node.paired || !this.context.link.may("operator.pairing")) return nothing;
    return html`<button class="plain danger ${isSmall ? "small" : ""}" aria-label=${t`Remove ${nodeName(node)}`} @click=${() => void this.discard(node)}>
      ${t("Remove")}
    </button>`;
  }

  private seen({ connected, connectedAtMs, lastSeenAtMs }: NodeLine): TemplateResult {
    if (connected) return html`<span class="soft" title=${connectedAtMs === undefined ? nothing : exactly(connectedAtMs)}>${t("now")}</span>`;
    return lastSeenAtMs === undefined
      ? html`<span class="soft">${t("never")}</span>`
      : html`<span class="soft" title=${exactly(lastSeenAtMs)}>${ago(lastSeenAtMs)}</span>`;
  }

  private table(nodes: readonly NodeLine[], chosen: string | undefined): TemplateResult {
    const soft = (text: string): TemplateResult => html`<span class="soft">${text === "" ? "–" : text}</span>`;
    return html`<div class="data-card">
      ${dataTable<NodeLine>({
        label: t("Nodes"),
        rows: nodes,
        keyOf: ({ nodeId }) => nodeId,
        chosen,
        open: ({ nodeId }) => this.choose(nodeId),
        actions: (node) => this.removeButton(node, true),
        columns: [
          {
            head: t("Node"),
            cell: (node) =>
              html`<a class="name" href=${place("nodes", [node.nodeId])}>${nodeName(node)}</a> ${node.paired ? nothing : badge("warn", t("Not paired"))}`,
          },
          { head: t("State"), cell: ({ connected }) => stateDot(connected ? "good" : "", connected ? t("Online") : t("Offline")) },
          { head: t("Platform"), isWide: true, cell: ({ platform }) => soft(platformName(platform)) },
          ...(chosen === undefined
            ? [
                { head: t("Version"), isWide: true, cell: ({ version }: NodeLine) => soft(version ?? "") },
                { head: t("Can do"), isWide: true, cell: ({ caps }: NodeLine) => soft(caps.join(", ")) },
              ]
            : []),
          { head: t("Last seen"), isNumber: true, isWide: true, cell: (node) => this.seen(node) },
        ],
      })}
    </div>`;
  }

  private lists(nodes: readonly NodeLine[], chosen: string | undefined): TemplateResult {
    const isEmpty = nodes.length === 0;
    const showsHow = isEmpty || this.adding;
    return html`<div aria-live="polite">
        <oc-node-requests .context=${this.context} .requests=${this.requests} @decided=${() => void this.load()}></oc-node-requests>
      </div>
      ${
        isEmpty
          ? emptyState({
              icon: "node",
              title: t("No nodes yet"),
              text: t("A node is another machine or phone that runs commands, shows notifications or provides a camera for your agents."),
            })
          : html`<section>${this.table(nodes, chosen)}</section>`
      }
      ${
        showsHow
          ? html`<section class="add" aria-labelledby="add">
              <h2 id="add">${t("Add a node")}</h2>
              <oc-add-node></oc-add-node>
            </section>`
          : nothing
      }`;
  }

  protected override render(): TemplateResult {
    const { nodes } = this;
    const isThere = this.context.link.has("node.list");
    const [id] = this.route.rest;
    const chosen = nodes?.find(({ nodeId }) => nodeId === id);
    const online = nodes?.filter(({ connected }) => connected).length ?? 0;
    const fact = nodes && nodes.length > 0 ? t`${online} of ${nodes.length} online` : nothing;
    const add = html`<button aria-expanded=${this.adding} @click=${() => (this.adding = !this.adding)}>${icon("plus", 16)}${t("Add node")}</button>`;
    return html`<div class="filled">
      ${pageHead({ title: t("Nodes"), fact, actions: nodes && nodes.length > 0 ? add : nothing })}
      <div class="with-inspector">
        <div class="scroller">
          <div class="page">
            ${this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load())} ${isThere ? nothing : missingNote(t("Viewing nodes"))}
            ${nodes ? this.lists(nodes, chosen?.nodeId) : isThere && this.failure === undefined ? skeleton(3) : nothing}
          </div>
        </div>
        ${
          chosen
            ? html`<oc-inspector .heading=${nodeName(chosen)} @close=${() => this.choose(undefined)}>
                <oc-node-detail .context=${this.context} .node=${chosen} @changed=${() => void this.load()}></oc-node-detail>
                <div class="row">${this.removeButton(chosen, false)}</div>
              </oc-inspector>`
            : nothing
        }
      </div>
    </div>`;
  }
}
customElements.define("oc-nodes-page", NodesPage);
