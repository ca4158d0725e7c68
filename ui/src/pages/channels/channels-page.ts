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
import { stateDot } from "../../parts/state.ts";
import { tabs, tabsLook } from "../../parts/tabs.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import "./account-card.ts";
import { bindingsOf, issuesOf, standing, type Account, type Status } from "./channel-facts.ts";
import type { Stranger } from "./pairing-requests.ts";
import type { Allowed } from "./senders-list.ts";
import "./pairing-requests.ts";
import "./route-tester.ts";
import { t } from "../../words/words.ts";

const PROBE_MS = 10_000;
/** A connection may take 10 s to end. */
const STOP_MS = 20_000;

/** Chat platforms: how their accounts do, who asks to be let in, and which agent answers whom. */
export class ChannelsPage extends Page {
  static override styles = [
    sheet,
    pageLook,
    pageHeadLook,
    tabsLook,
    tableLook,
    inspectorLook,
    emptyLook,
    skeletonLook,
    css`
      .bare {
        margin-top: 8px;
      }
      .bindings {
        margin-bottom: 14px;
      }
      .issue {
        max-width: 70ch;
        font-size: var(--type-ui);
      }
      .issue.bad {
        color: var(--bad);
      }
    `,
  ];
  @state() private status: Status | undefined;
  @state() private strangers: readonly Stranger[] = [];
  @state() private allowed: readonly Allowed[] | undefined;
  @state() private busy: ReadonlySet<string> = new Set();
  @state() private config: unknown;
  @state() private failure: string | undefined;
  @state() private probing = false;

  override connectedCallback(): void {
    super.connectedCallback();
    this.every(5000, () => {
      if (!this.probing) void this.refresh();
    });
  }

  override async load(): Promise<void> {
    await this.refresh();
    const config = await this.context.link.request("config.get", {}).catch(() => undefined);
    this.config = config?.config;
  }

  private async refresh(): Promise<void> {
    const { link } = this.context;
    try {
      const fresh = await link.request("channels.status", {});
      this.status = this.status ? keptProbes(this.status, fresh) : fresh;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
    if (!link.may("operator.pairing")) return;
    if (link.has("channels.pairing.allowed"))
      this.allowed = (await link.request("channels.pairing.allowed", {}).catch(() => undefined))?.senders ?? this.allowed;
    this.strangers = (await link.request("channels.pairing.list", {}).catch(() => undefined))?.requests ?? this.strangers;
  }

  private async probe(): Promise<void> {
    this.probing = true;
    const found = await this.attempt(() => this.context.link.request("channels.status", { probe: true, timeoutMs: PROBE_MS }, { timeoutMs: PROBE_MS * 3 }));
    if (found) this.status = found;
    this.probing = false;
  }

  private async logout(channel: string, { accountId }: Account): Promise<void> {
    const { dialogs, link } = this.context;
    const body = t("The account stops and its credentials are deleted. To use it again, set it up again.");
    if (!(await dialogs.confirm({ title: t`Log out of ${channel}?`, body, yes: t("Log out"), danger: true }))) return;
    const answer = await this.attempt(() => link.request("channels.logout", { channel, accountId }));
    if (answer) this.context.toasts.say(answer.cleared ? t("Account logged out") : t("No stored credentials found"));
    await this.load();
  }

  /** Starts, stops or restarts an account. */
  private async run(channel: string, { accountId }: Account, verb: "start" | "stop" | "restart"): Promise<void> {
    const { link } = this.context;
    const name = `${channel}:${accountId}`;
    this.busy = new Set([...this.busy, name]);
    const done = { start: t("Account started"), stop: t("Account stopped"), restart: t("Account restarted") }[verb];
    const params = { channel, accountId };
    await this.attempt(
      () =>
        verb === "stop"
          ? link.request("channels.stop", params, { timeoutMs: STOP_MS })
          : link.request("channels.start", { ...params, ...(verb === "restart" ? { restart: true } : {}) }, { timeoutMs: STOP_MS }),
      done,
    );
    await this.refresh();
    this.busy = new Set([...this.busy].filter((other) => other !== name));
  }

  private async revoke(channel: string, { accountId }: Account, senderId: string): Promise<void> {
    const { dialogs, link, toasts } = this.context;
    const body = t("Messages from this sender are no longer answered. If pairing is on, the sender gets a new code.");
    if (!(await dialogs.confirm({ title: t`Remove ${senderId}?`, body, yes: t("Remove"), danger: true }))) return;
    const gone = await this.attempt(() => link.request("channels.pairing.revoke", { channel, accountId, senderId }));
    if (gone) toasts.say(gone.path === undefined ? t`${senderId} was removed.` : t`${senderId} was removed, but ${gone.path} still allows this sender.`);
    await this.refresh();
  }

  private pairedOf(channel: string, account: string): readonly Allowed[] | undefined {
    return this.allowed?.filter((one) => one.channel === channel && one.accountId === account.toLowerCase() && one.source !== "config");
  }

  private inspector({ channel: id, account }: Row, label: string): TemplateResult {
    return html`<oc-inspector .heading=${`${label}, ${account.name ?? account.accountId}`} @close=${() => this.context.router.go("channels")}>
      <oc-account-card
        .context=${this.context}
        .channel=${id}
        .account=${account}
        .config=${this.config}
        .paired=${this.pairedOf(id, account.accountId)}
        named
        ?busy=${this.busy.has(`${id}:${account.accountId}`)}
        @run=${({ detail }: CustomEvent<"start" | "stop" | "restart">) => void this.run(id, account, detail)}
        @revoke=${({ detail }: CustomEvent<string>) => void this.revoke(id, account, detail)}
        @logout=${() => void this.logout(id, account)}
        @done=${() => void this.load()}
      ></oc-account-card>
    </oc-inspector>`;
  }

  private table(rows: readonly Row[], { channelLabels }: Status, chosen: string | undefined): TemplateResult {
    const last = ({ account }: Row): number => Math.max(account.lastInboundAt ?? 0, account.lastOutboundAt ?? 0);
    const to = (row: Row): string => place("channels", [row.channel, row.account.accountId]);
    return html`<div class="data-card">
      ${dataTable<Row>({
        label: t("Accounts"),
        rows,
        keyOf: keyOfRow,
        chosen,
        open: (row) => this.context.router.go(to(row)),
        columns: [
          {
            head: t("Channel"),
            cell: (row) =>
              html`<a class="name" href=${to(row)}>${channelLabels[row.channel] ?? row.channel}</a>
                <span class="faint">${row.account.name ?? row.account.accountId}</span>${keyOfRow(row) === chosen ? nothing : firstIssue(row.account)}`,
          },
          {
            head: t("State"),
            cell: ({ account }) => {
              const { word, look } = standing(account);
              return stateDot(look, word);
            },
          },
          ...(chosen === undefined
            ? [{ head: t("Mode"), isWide: true, cell: ({ account }: Row) => html`<span class="soft">${account.mode ?? "–"}</span>` }]
            : []),
          {
            head: t("Last message"),
            isWide: true,
            isNumber: true,
            cell: (row) =>
              last(row) === 0 ? html`<span class="soft">–</span>` : html`<span class="soft" title=${exactly(last(row))}>${ago(last(row))}</span>`,
          },
        ],
      })}
    </div>`;
  }

  private routes(status: Status): TemplateResult {
    const bindings = bindingsOf(this.config);
    return html`<section>
      <h2>${t("Routing")}</h2>
      ${
        bindings.length === 0
          ? html`<p class="soft bindings">
              ${t("No bindings. The default agent answers everyone.")} <a href=${place("config", [], { path: "bindings" })}>${t("Add one")}</a>
            </p>`
          : html`<div class="scroll bindings">
              <table>
                <thead>
                  <tr>
                    <th>${t("Binding")}</th>
                    <th>${t("When")}</th>
                    <th>${t("Agent")}</th>
                  </tr>
                </thead>
                <tbody>
                  ${bindings.map(
                    ({ path, when, agentId }) =>
                      html`<tr>
                        <td>
                          <a href=${place("config", [], { path })}><code>${path}</code></a>
                        </td>
                        <td>${when}</td>
                        <td><a href=${place("agents", [agentId])}>${agentId}</a></td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
      }
      <oc-route-tester .context=${this.context} .channels=${status.channelOrder}></oc-route-tester>
    </section>`;
  }

  private accounts(status: Status, chosen: Row | undefined): TemplateResult {
    const rows = rowsOf(status);
    const bare = status.channelOrder.filter((id) => (status.channelAccounts[id] ?? []).length === 0);
    return html`<section aria-live="polite">
        <h2>${t("Pending requests")}</h2>
        ${
          this.context.link.may("operator.pairing")
            ? html`<oc-pairing-requests .context=${this.context} .requests=${this.strangers} @decided=${() => void this.refresh()}></oc-pairing-requests>`
            : missingNote(t("Viewing pairing requests"))
        }
      </section>
      <section>
        <h2>${t("Accounts")}</h2>
        ${
          rows.length > 0
            ? this.table(rows, status, chosen && keyOfRow(chosen))
            : emptyState({
                icon: "channels",
                title: t("No channels yet"),
                text: t("Connect a channel to chat from your phone. Channels are plugins."),
                action: html`<a class="button" href=${place("start", [], { step: "channel" })}>${t("Set up a channel")}</a>`,
              })
        }
        ${bare.map((id) => html`<p class="soft bare">${status.channelLabels[id] ?? id}: ${t("No account yet.")} <a href=${place("start", [], { step: "channel", channel: id })}>${t("Set it up")}</a></p>`)}
      </section>`;
  }

  protected override routeChanged(): void {
    if (!this.status) void this.load();
  }

  protected override render(): TemplateResult {
    const { status } = this;
    const [first, account] = this.route.rest;
    const isRouting = first === "routing" && account === undefined;
    const chosen = status && rowsOf(status).find((row) => row.channel === first && row.account.accountId === account);
    const failed = this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load());
    const connected = status ? rowsOf(status).filter((row) => standing(row.account).look === "good").length : 0;
    const actions = html`<button ?disabled=${this.probing || !status} @click=${() => void this.probe()}>
        ${icon("retry", 16)}${this.probing ? t("Checking…") : t("Check connections")}
      </button>
      <a class="button" href=${place("start", [], { step: "channel" })}>${icon("plus", 16)}${t("Set up a channel")}</a>`;
    return html`<div class="filled">
      ${pageHead({ title: t("Channels"), fact: status && rowsOf(status).length > 0 ? t`${connected} of ${rowsOf(status).length} connected` : nothing, actions })}
      ${tabs(t("Channel sections"), [
        { label: t("Accounts"), href: place("channels"), isCurrent: !isRouting, count: this.strangers.length },
        { label: t("Routing"), href: place("channels", ["routing"]), isCurrent: isRouting },
      ])}
      <div class="with-inspector">
        <div class="scroller">
          <div class="page">
            ${failed} ${status ? (isRouting ? this.routes(status) : this.accounts(status, chosen)) : this.failure === undefined ? skeleton(4) : nothing}
          </div>
        </div>
        ${status && chosen ? this.inspector(chosen, status.channelLabels[chosen.channel] ?? chosen.channel) : nothing}
      </div>
    </div>`;
  }
}

/** An account in the table. */
interface Row {
  readonly channel: string;
  readonly account: Account;
}

const keyOfRow = ({ channel, account }: Row): string => `${channel}:${account.accountId}`;

/** What is wrong with an account, where all are listed. The inspector says it of the one that is looked at. */
function firstIssue(account: Account): TemplateResult | typeof nothing {
  const [issue] = issuesOf(account);
  return issue ? html`<div class="issue words ${standing(account).look === "bad" ? "bad" : "soft"}">${issue.message}</div>` : nothing;
}

const rowsOf = ({ channelOrder, channelAccounts }: Status): readonly Row[] =>
  channelOrder.flatMap((channel) => (channelAccounts[channel] ?? []).map((account) => ({ channel, account })));

/** A status without probes shows what the last probe found. */
function keptProbes(known: Status, fresh: Status): Status {
  const accounts = Object.entries(fresh.channelAccounts).map(([id, rows]) => {
    const probed = (account: Account): Account => {
      const before = known.channelAccounts[id]?.find(({ accountId }) => accountId === account.accountId);
      return account.probe === undefined && before?.probe !== undefined ? { ...account, probe: before.probe } : account;
    };
    return [id, rows.map(probed)] as const;
  });
  return { ...fresh, channelAccounts: Object.fromEntries(accounts) };
}
customElements.define("oc-channels-page", ChannelsPage);
