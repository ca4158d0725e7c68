import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { loadWebDevice } from "openclaw/client";
import { ago, exactly, plural } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { browserKeys } from "../../link/keys.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/copy-button.ts";
import { dataTable, tableLook } from "../../parts/data-table.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import { inspectorLook } from "../../parts/inspector.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { failedNote, missingNote, pageLook } from "../../parts/page-look.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { badge } from "../../parts/state.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { inOrder, lastSeen, liveTokens, nameOf, programOf, scopeWords, type Paired, type Token, type Waiting } from "./device-facts.ts";
import "./login-link.ts";
import { t } from "../../words/words.ts";

const when = (at: number | undefined): TemplateResult | undefined => (at === undefined ? undefined : html`<span title=${exactly(at)}>${ago(at)}</span>`);

/** Who may connect: devices that wait, devices that are in, and this browser. */
export class DevicesPage extends Page {
  static override styles = [
    sheet,
    factsLook,
    pageLook,
    pageHeadLook,
    tableLook,
    inspectorLook,
    emptyLook,
    skeletonLook,
    css`
      oc-inspector dl.facts {
        font-size: var(--type-ui);
        grid-template-columns: 84px minmax(0, 1fr);
      }
      section:not(:has(*)) {
        margin: 0;
      }
      .card > .row {
        margin-bottom: 10px;
      }
      .card > .actions {
        margin: 12px 0 0;
        justify-content: flex-end;
      }
      h3 {
        overflow-wrap: anywhere;
      }
    `,
  ];
  @state() private waiting: readonly Waiting[] = [];
  @state() private paired: readonly Paired[] | undefined;
  @state() private own: string | undefined;
  @state() private failure: string | undefined;
  /** A token that was made just now: shown once. */
  @state() private fresh: { readonly deviceId: string; readonly role: string; readonly token: string } | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    const { link } = this.context;
    this.during(link.on("device.pair.requested", () => void this.load()));
    this.during(link.on("device.pair.resolved", () => void this.load()));
    this.every(20_000, () => void this.load());
  }

  override async load(): Promise<void> {
    if (!this.context.link.may("operator.pairing")) return;
    this.own ??= globalThis.isSecureContext
      ? await loadWebDevice(browserKeys).then(
          ({ id }) => id,
          () => undefined,
        )
      : undefined;
    try {
      const { pending, paired } = await this.context.link.request("device.pair.list", {});
      this.waiting = pending;
      this.paired = paired;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  private async change(work: () => Promise<unknown>, done: string): Promise<void> {
    await this.attempt(work, done);
    if (this.context.link.state.value.kind === "open") await this.load();
  }

  private async sure(title: string, body: string, yes: string): Promise<boolean> {
    return this.context.dialogs.confirm({ title, body, yes, danger: true });
  }

  private async forget(device: Paired): Promise<void> {
    const { link } = this.context;
    const name = nameOf(device);
    if (
      !(await this.sure(t`Remove ${name}?`, t("Its tokens are revoked and its connections closed. To connect again, it must be approved again."), t("Remove")))
    )
      return;
    await this.change(() => link.request("device.pair.remove", { deviceId: device.deviceId }), t`${name} was removed.`);
  }

  private async revoke({ deviceId }: Paired, { role }: Token): Promise<void> {
    const { link } = this.context;
    if (!(await this.sure(t`Revoke the ${role} token?`, t("Connections that use it are closed immediately."), t("Revoke")))) return;
    await this.change(() => link.request("device.token.revoke", { deviceId, role }), t("Token revoked"));
  }

  private async rotate({ deviceId }: Paired, { role }: Token): Promise<void> {
    const { link } = this.context;
    if (
      !(await this.sure(
        t`Rotate the ${role} token?`,
        t("The old token stops working immediately. The new one is shown here once: enter it on the device."),
        t("Rotate"),
      ))
    )
      return;
    await this.change(async () => {
      const { token } = await link.request("device.token.rotate", { deviceId, role });
      this.fresh = { deviceId, role, token };
    }, t("New token created"));
  }

  private async logout(): Promise<void> {
    const body = t("To sign in again, you need the gateway’s token, its password or a sign-in link.");
    if (await this.sure(t("Sign out this browser?"), body, t("Sign out"))) this.context.link.logout();
  }

  private scopes(scopes: readonly string[]): TemplateResult {
    return html`<span class="chips">${scopes.map((scope) => html`<span class="badge" title=${scope}>${scopeWords(scope)}</span>`)}</span>`;
  }

  private waitingCard(request: Waiting): TemplateResult {
    const { link } = this.context;
    const { requestId, deviceId, role, scopes = [], remoteIp, isRepair, ts } = request;
    const name = nameOf(request);
    return html`<li class="card">
      <div class="row">
        <h3 class="grow">${name}</h3>
        <span class="badge warn">${isRepair ? t("Requests more access") : t("Waiting")}</span>
      </div>
      ${facts([
        [t("Requested"), when(ts)],
        [t("Wants to"), this.scopes(scopes)],
        [t("Role"), role],
        [t("Program"), programOf(request)],
        [t("From"), remoteIp],
        [t("Device"), html`<code>${deviceId}</code>`],
      ])}
      <div class="row actions">
        <button
          class="small"
          aria-label=${t`Reject ${name}`}
          @click=${() => void this.change(() => link.request("device.pair.reject", { requestId }), t`${name} was rejected.`)}
        >
          ${t("Reject")}
        </button>
        <button
          class="small primary"
          aria-label=${t`Approve ${name}`}
          @click=${() => void this.change(() => link.request("device.pair.approve", { requestId }), t`${name} was approved.`)}
        >
          ${t("Approve")}
        </button>
      </div>
    </li>`;
  }

  private tokenRow(device: Paired, token: Token, isOwn: boolean): TemplateResult {
    const { fresh } = this;
    const shown = fresh !== undefined && fresh.deviceId === device.deviceId && fresh.role === token.role ? fresh.token : undefined;
    return html`<div>
      ${this.scopes(token.scopes)}
      ${
        isOwn
          ? nothing
          : html`<button class="small plain" aria-label=${t`New token for ${nameOf(device)} as ${token.role}`} @click=${() => void this.rotate(device, token)}>
                ${t("New token")}
              </button>
              <button class="small plain" aria-label=${t`Revoke the ${token.role} token of ${nameOf(device)}`} @click=${() => void this.revoke(device, token)}>
                ${t("Revoke")}
              </button>`
      }
      ${
        shown === undefined
          ? nothing
          : html`<div class="note">
              <code>${shown}</code> <oc-copy-button what=${t("the new token")} .text=${shown}></oc-copy-button>
              <div class="faint">${t("It is not shown again.")}</div>
            </div>`
      }
    </div>`;
  }

  private leaving(device: Paired, isSmall: boolean): TemplateResult {
    return device.deviceId === this.own
      ? html`<button class="plain ${isSmall ? "small" : ""}" @click=${() => void this.logout()}>${t("Sign out this browser")}</button>`
      : html`<button class="plain danger ${isSmall ? "small" : ""}" aria-label=${t`Remove ${nameOf(device)}`} @click=${() => void this.forget(device)}>
          ${t("Remove")}
        </button>`;
  }

  private inspector(device: Paired): TemplateResult {
    const isOwn = device.deviceId === this.own;
    return html`<oc-inspector .heading=${nameOf(device)} @close=${() => this.choose(undefined)}>
      ${facts([
        [t("Last seen"), when(lastSeen(device)) ?? t("never")],
        [t("Approved"), when(device.approvedAtMs)],
        [t("Program"), programOf(device)],
        [t("From"), device.remoteIp],
        ...liveTokens(device).map((token) => [t`Token (${token.role})`, this.tokenRow(device, token, isOwn)] as const),
        [t("Device"), html`<code>${device.deviceId}</code>`],
      ])}
      <div class="row">${this.leaving(device, false)}</div>
    </oc-inspector>`;
  }

  private choose(deviceId: string | undefined): void {
    this.context.router.go(place("devices", deviceId === undefined ? [] : [deviceId]));
  }

  private table(paired: readonly Paired[], chosen: string | undefined): TemplateResult {
    return html`<div class="data-card">
      ${dataTable<Paired>({
        label: t("Devices"),
        rows: inOrder(paired, this.own),
        keyOf: ({ deviceId }) => deviceId,
        chosen,
        open: ({ deviceId }) => this.choose(deviceId),
        actions: (device) => this.leaving(device, true),
        columns: [
          {
            head: t("Device"),
            cell: (device) =>
              html`<a class="name" href=${place("devices", [device.deviceId])}>${nameOf(device)}</a>
                ${device.deviceId === this.own ? badge("info", t("This browser")) : nothing}
                ${liveTokens(device).length === 0 ? badge("warn", t("No token")) : nothing}`,
          },
          { head: t("Program"), isWide: true, cell: (device) => html`<span class="soft">${programOf(device)}</span>` },
          { head: t("Last seen"), isNumber: true, cell: (device) => when(lastSeen(device)) ?? t("never") },
          ...(chosen === undefined
            ? [{ head: t("From"), isWide: true, isNumber: true, cell: ({ remoteIp }: Paired) => html`<span class="soft">${remoteIp ?? "–"}</span>` }]
            : []),
        ],
      })}
    </div>`;
  }

  private lists(paired: readonly Paired[], chosen: string | undefined): TemplateResult {
    const isKnown = paired.some(({ deviceId }) => deviceId === this.own);
    return html`<section aria-live="polite">
        ${
          this.waiting.length === 0
            ? nothing
            : html`<h2>${t("Pending requests")}</h2>
                <ul class="cards list">
                  ${this.waiting.map((request) => this.waitingCard(request))}
                </ul>`
        }
      </section>
      <section>
        ${
          isKnown
            ? nothing
            : html`<div class="note">
                ${t`This browser is signed in without a device identity${globalThis.isSecureContext ? "" : t(": browsers store one only over HTTPS or on this machine")}.`}
                <button class="small" @click=${() => void this.logout()}>${t("Sign out this browser")}</button>
              </div>`
        }
        ${
          paired.length === 0
            ? emptyState({ icon: "devices", title: t("No paired devices"), text: t("A device that connects for the first time asks for approval here.") })
            : this.table(paired, chosen)
        }
      </section>`;
  }

  protected override render(): TemplateResult {
    const allowed = this.context.link.may("operator.pairing");
    const [id] = this.route.rest;
    const chosen = this.paired?.find(({ deviceId }) => deviceId === id);
    const fact = this.paired ? plural(this.paired.length, t("device"), t("devices")) : nothing;
    return html`<div class="filled">
      ${pageHead({ title: t("Devices"), fact })}
      <div class="with-inspector">
        <div class="scroller">
          <div class="page">
            ${this.failure === undefined ? nothing : failedNote(this.failure, () => void this.load())} ${allowed ? nothing : missingNote(t("Viewing devices"))}
            ${this.paired ? this.lists(this.paired, chosen?.deviceId) : allowed && this.failure === undefined ? skeleton(3) : nothing}
            <section><oc-login-link .context=${this.context}></oc-login-link></section>
          </div>
        </div>
        ${chosen ? this.inspector(chosen) : nothing}
      </div>
    </div>`;
  }

  protected override routeChanged(): void {
    if (!this.paired) void this.load();
  }
}
customElements.define("oc-devices-page", DevicesPage);
