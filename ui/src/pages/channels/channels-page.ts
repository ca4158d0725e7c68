import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { failedNote, loadingLine, missingNote, pageLook } from "../../parts/page-look.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import "./account-card.ts";
import { bindingsOf, type Account, type Status } from "./channel-facts.ts";
import type { Stranger } from "./pairing-requests.ts";
import type { Allowed } from "./senders-list.ts";
import "./pairing-requests.ts";
import "./route-tester.ts";

const PROBE_MS = 10_000;
/** A connection may take 10 s to end. */
const STOP_MS = 20_000;

/** Chat platforms: how their accounts do, who asks to be let in, and which agent answers whom. */
export class ChannelsPage extends Page {
  static override styles = [
    sheet,
    pageLook,
    css`
      .accounts {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(min(380px, 100%), 1fr));
        gap: 12px;
        align-items: start;
      }
      .bindings {
        margin-bottom: 14px;
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
    const body = "It stops, and its credentials are forgotten. To use it again it has to be set up again.";
    if (!(await dialogs.confirm({ title: `Log ${channel} out?`, body, yes: "Log out", danger: true }))) return;
    const answer = await this.attempt(() => link.request("channels.logout", { channel, accountId }));
    if (answer) this.context.toasts.say(answer.cleared ? "The account is logged out." : "There was nothing to forget.");
    await this.load();
  }

  /** Starts, stops or restarts an account. */
  private async run(channel: string, { accountId }: Account, verb: "start" | "stop" | "restart"): Promise<void> {
    const { link } = this.context;
    const name = `${channel}:${accountId}`;
    this.busy = new Set([...this.busy, name]);
    const done = { start: "The account is started.", stop: "The account is stopped.", restart: "The account is restarted." }[verb];
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
    const body = "The next message from there is a stranger’s: it is not answered, and where pairing is on it gets a code.";
    if (!(await dialogs.confirm({ title: `Remove ${senderId}?`, body, yes: "Remove", danger: true }))) return;
    const gone = await this.attempt(() => link.request("channels.pairing.revoke", { channel, accountId, senderId }));
    if (gone) toasts.say(gone.path === undefined ? `${senderId} was removed.` : `${senderId} was removed; ${gone.path} lets them in all the same.`);
    await this.refresh();
  }

  private pairedOf(channel: string, account: string): readonly Allowed[] | undefined {
    return this.allowed?.filter((one) => one.channel === channel && one.accountId === account.toLowerCase() && one.source !== "config");
  }

  private channel(id: string, { channelLabels, channelAccounts }: Status): TemplateResult {
    const accounts = channelAccounts[id] ?? [];
    return html`<section id=${id}>
      <h2>${channelLabels[id] ?? id}</h2>
      ${
        accounts.length === 0
          ? html`<p class="soft">No account. <a href=${place("start", [], { step: "channel", channel: id })}>Set it up</a></p>`
          : html`<div class="accounts">
              ${accounts.map(
                (account) =>
                  html`<oc-account-card
                    .context=${this.context}
                    .channel=${id}
                    .account=${account}
                    .config=${this.config}
                    .paired=${this.pairedOf(id, account.accountId)}
                    ?named=${accounts.length > 1}
                    ?busy=${this.busy.has(`${id}:${account.accountId}`)}
                    @run=${({ detail }: CustomEvent<"start" | "stop" | "restart">) => void this.run(id, account, detail)}
                    @revoke=${({ detail }: CustomEvent<string>) => void this.revoke(id, account, detail)}
                    @logout=${() => void this.logout(id, account)}
                    @done=${() => void this.load()}
                  ></oc-account-card>`,
              )}
            </div>`
      }
    </section>`;
  }

  private routes(status: Status): TemplateResult {
    const bindings = bindingsOf(this.config);
    return html`<section>
      <h2>Routing</h2>
      ${
        bindings.length === 0
          ? html`<p class="soft bindings">
              No bindings: the default agent answers everybody. <a href=${place("config", [], { path: "bindings" })}>Add one</a>
            </p>`
          : html`<div class="scroll bindings">
              <table>
                <thead>
                  <tr>
                    <th>Binding</th>
                    <th>When</th>
                    <th>Agent</th>
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

  private body(status: Status): TemplateResult {
    return html`<section aria-live="polite">
        <h2>Pending requests</h2>
        ${
          this.context.link.may("operator.pairing")
            ? html`<oc-pairing-requests .context=${this.context} .requests=${this.strangers} @decided=${() => void this.refresh()}></oc-pairing-requests>`
            : missingNote("Seeing who asks")
        }
      </section>
      ${
        status.channelOrder.length === 0
          ? html`<div class="empty">
                No channel is there. Channels are plugins: <a href="plugins">turn one on</a>, or
                <a href=${place("start", [], { step: "channel" })}>set one up</a>.
              </div>
              <br />`
          : status.channelOrder.map((id) => this.channel(id, status))
      }
      ${this.routes(status)}`;
  }

  protected override render(): TemplateResult {
    const failed = this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load());
    return html`<div class="page">
      <header class="head">
        <h1>Channels</h1>
        <button ?disabled=${this.probing || !this.status} @click=${() => void this.probe()}>${this.probing ? "Asking…" : "Check connections"}</button>
        <a class="button" href=${place("start", [], { step: "channel" })}>Set up a channel</a>
      </header>
      ${failed} ${this.status ? this.body(this.status) : this.failure === undefined ? loadingLine() : nothing}
    </div>`;
  }
}

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
