import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { capital } from "../../base/capital.ts";
import { bytes, plural } from "../../base/figures.ts";
import { randomId } from "../../base/random-id.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/disclosure.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { pageLook } from "../../parts/page-look.ts";
import { sectionLook } from "../../parts/section.ts";
import "../../parts/select.ts";
import { badge } from "../../parts/state.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";
import type { Review } from "./skill-facts.ts";

const FETCH_MS = 300_000;
const EVERYONE = "";
const SEVERITIES: Readonly<Record<string, string>> = { critical: t("Critical"), warn: t("Warning"), info: t("Note") };
const EXAMPLE_NAME = "invoice-check";
const EXAMPLE_SOURCE = `https://github.com/acme/skills#v2:${EXAMPLE_NAME}`;

/** Brings a skill in, after a look at what it contains; or makes one to start from. Sends `added` with its name. */
export class AddSkill extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    sectionLook,
    factsLook,
    css`
      form {
        display: grid;
        gap: 14px;
        max-width: 640px;
      }
      .field {
        display: grid;
        gap: 4px;
        font-size: var(--type-ui);
        color: var(--ink-soft);
      }
      .review {
        display: grid;
        gap: 14px;
        max-width: 720px;
        margin-top: 20px;
        padding: 16px;
        border: 1px solid var(--line);
        border-radius: var(--radius);
      }
      .review ul {
        display: grid;
        gap: 4px;
        list-style: none;
        margin: 0;
        padding: 0;
        font-size: var(--type-ui);
      }
      .review li {
        overflow-wrap: anywhere;
      }
      dl.facts {
        font-size: var(--type-ui);
      }
      .note {
        margin: 0;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property({ attribute: false }) agents: readonly { readonly id: string; readonly name: string }[] = [];
  @property() kind: "install" | "new" = "install";
  @state() private target = EVERYONE;
  @state() private busy = false;
  @state() private failure: string | undefined;
  @state() private reviewed: (Review & { readonly source: string; readonly sha256: string | undefined; readonly agentId: string | undefined }) | undefined;

  private async attempt(work: () => Promise<void>): Promise<void> {
    this.busy = true;
    this.failure = undefined;
    try {
      await work();
    } catch (error) {
      this.failure = failureText(error);
    }
    this.busy = false;
  }

  private added(name: string): void {
    this.dispatchEvent(new CustomEvent("added", { detail: name }));
  }

  private fieldsOf(event: SubmitEvent): (name: string) => string {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    return (name) => {
      const value = data.get(name);
      return typeof value === "string" ? value.trim() : "";
    };
  }

  private review(event: SubmitEvent): Promise<void> {
    const field = this.fieldsOf(event);
    const [source, sha256, agentId] = [field("source"), field("sha256") || undefined, this.target || undefined];
    this.reviewed = undefined;
    return this.attempt(async () => {
      const found = await this.context.link.request(
        "skills.review",
        { source, ...(sha256 && { sha256 }), ...(agentId && { agentId }) },
        { timeoutMs: FETCH_MS },
      );
      this.reviewed = { ...found, source, sha256, agentId };
    });
  }

  private install(): Promise<void> {
    const { reviewed } = this;
    if (!reviewed) return Promise.resolve();
    const { source, sha256, agentId, digest, replaces, shadows } = reviewed;
    return this.attempt(async () => {
      const params = { source, digest, force: replaces || shadows, idempotencyKey: randomId(), ...(sha256 && { sha256 }), ...(agentId && { agentId }) };
      const { name, status } = await this.context.link.request("skills.add", params, { timeoutMs: FETCH_MS });
      this.context.toasts.say(status === "replaced" ? t`${name} was replaced.` : t`${name} was installed.`);
      this.reviewed = undefined;
      this.added(name);
    });
  }

  private create(event: SubmitEvent): Promise<void> {
    const field = this.fieldsOf(event);
    const agentId = this.target || undefined;
    return this.attempt(async () => {
      const params = { name: field("name"), description: field("description"), idempotencyKey: randomId(), ...(agentId && { agentId }) };
      const { name } = await this.context.link.request("skills.create", params);
      this.context.toasts.say(t`${name} was created. Replace the lines of the template.`);
      this.added(name);
    });
  }

  private targets(): TemplateResult {
    const options = [{ value: EVERYONE, label: t("All agents") }, ...this.agents.map(({ id, name }) => ({ value: id, label: t`Only ${name}` }))];
    return html`<div class="field">
      ${t("For")}
      <oc-select
        block
        label=${t("For")}
        .value=${this.target}
        .options=${options}
        @choose=${({ detail }: CustomEvent<string>) => {
          this.target = detail;
          this.reviewed = undefined;
        }}
      ></oc-select>
    </div>`;
  }

  private report(reviewed: Review): TemplateResult {
    const { review, path, replaces, shadows } = reviewed;
    const { name, description, files, findings, bins, anyBins, env, config, install, homepage } = review;
    const scripts = files.filter(({ script }) => script);
    const list = (names: readonly string[]): string | undefined => (names.length === 0 ? undefined : names.join(", "));
    return html`<section class="review" aria-label=${t`Review of ${name}`}>
      <div>
        <h2>${name}</h2>
        <p class="soft words">${description}</p>
      </div>
      ${
        findings.length === 0
          ? html`<p class="note" role="status">
              ${t("The check found nothing suspicious. It cannot find everything: look at the files of sources that you do not know.")}
            </p>`
          : html`<div class="note bad" role="alert">
              ${plural(findings.length, t("suspicious place"), t("suspicious places"))}
              <ul>
                ${findings.map(({ severity, message, file, line }) => html`<li>${badge(severity === "critical" ? "bad" : "warn", SEVERITIES[severity] ?? capital(severity))} ${file === undefined ? "" : html`<code>${file}${line === undefined ? "" : `:${line}`}</code>`} ${message}</li>`)}
              </ul>
            </div>`
      }
      ${facts([
        [t("Scripts"), scripts.length === 0 ? t("none") : list(scripts.map((file) => file.path))],
        [t("Programs"), list([...bins, ...(anyBins.length === 0 ? [] : [t`one of ${anyBins.join(", ")}`])])],
        [t("Variables"), list(env)],
        [t("Settings"), list(config)],
        [t("Installers"), list(install)],
        [t("Homepage"), homepage],
        [t("Folder"), html`<code>${path}</code>`],
      ])}
      <oc-disclosure label=${plural(files.length, t("file"), t("files"))} fact=${bytes(review.bytes)}>
        <ul>
          ${files.map((file) => html`<li><code>${file.path}</code> <span class="faint">${bytes(file.bytes)}${file.script ? t(", script") : ""}</span></li>`)}
        </ul>
      </oc-disclosure>
      ${replaces ? html`<p class="note warn">${t("A skill of this name is installed. It is replaced, with changes that were made to it.")}</p>` : nothing}
      ${shadows && !replaces ? html`<p class="note warn">${t("A bundled skill has this name. This one is used instead of it.")}</p>` : nothing}
      <div class="row">
        <button class="primary" ?disabled=${this.busy} @click=${() => void this.install()}>${replaces ? t("Replace skill") : t("Install skill")}</button>
        <button ?disabled=${this.busy} @click=${() => (this.reviewed = undefined)}>${t("Cancel")}</button>
      </div>
    </section>`;
  }

  private installForm(): TemplateResult {
    return html`<form @submit=${(event: SubmitEvent) => void this.review(event)}>
        <p class="soft">
          ${t("Skills are instructions that agents follow, and scripts that they run. You see what a skill contains before it is installed. Nothing of it runs during the installation.")}
        </p>
        <label class="field"
          >${t("Source")}<input name="source" required spellcheck="false" autocomplete="off" autocapitalize="off" placeholder=${EXAMPLE_SOURCE} />
        </label>
        <p class="faint">
          ${t("An https address of an archive, a Git repository, or a folder or archive on the gateway’s machine. #ref:folder chooses one of several skills.")}
        </p>
        ${this.targets()}
        <oc-disclosure label=${t("Verify the archive")}
          ><label class="field">${t("Expected SHA-256")}<input name="sha256" spellcheck="false" autocomplete="off" pattern="[0-9a-fA-F]{64}" /></label
        ></oc-disclosure>
        <div>
          <button class=${this.reviewed ? "" : "primary"} ?disabled=${this.busy}>${this.busy && !this.reviewed ? t("Fetching…") : t("Review skill")}</button>
        </div>
      </form>
      <div aria-live="polite">${this.reviewed ? this.report(this.reviewed) : nothing}</div>`;
  }

  private newForm(): TemplateResult {
    return html`<form @submit=${(event: SubmitEvent) => void this.create(event)}>
      <label class="field"
        >${t("Name")}<input
          name="name"
          required
          maxlength="64"
          pattern="[a-z0-9][a-z0-9\\-]*"
          placeholder=${EXAMPLE_NAME}
          spellcheck="false"
          autocapitalize="off"
      /></label>
      <p class="faint">${t("Lower-case letters, digits and “-”")}</p>
      <label class="field"
        >${t("When to use it")}<input name="description" required maxlength="200" placeholder=${t("Check invoices against orders and list the differences.")} />
      </label>
      <p class="faint">${t("One line. Agents choose skills by it.")}</p>
      ${this.targets()}
      <div><button class="primary" ?disabled=${this.busy}>${t("Create skill")}</button></div>
    </form>`;
  }

  protected override render(): TemplateResult {
    return html`${this.failure === undefined ? nothing : html`<div class="note bad" role="alert">${this.failure}</div>`}
    ${this.kind === "install" ? this.installForm() : this.newForm()}`;
  }
}
customElements.define("oc-add-skill", AddSkill);
