import { html, nothing, type TemplateResult } from "lit";
import { bytes } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import type { AttachedFile } from "./composer-files.ts";
import { t } from "../../words/words.ts";

export const NO_SPACE = t(
  "Not sent: this browser has no space to store the message until it is delivered. Send again to send it anyway; it is lost if you close this page before it arrives.",
);
export const USUAL = t("Enter sends, Shift+Enter adds a new line, / lists commands and prompts, @ files and agents.");
export const QUEUES = t("The agent is answering. Messages you send now are queued. Esc stops the answer.");

/** What stands below the text in the box, and what its buttons do. */
export interface BarParts {
  readonly may: boolean;
  readonly running: boolean;
  readonly canSend: boolean;
  /** Undefined where the gateway keeps no prompts. */
  readonly prompts: (() => void) | undefined;
  readonly pick: (event: Event) => void;
  readonly stop: () => void;
  readonly send: () => void;
}

const promptsButton = (open: () => void): TemplateResult =>
  html`<button class="plain icon prompts" aria-label=${t("Prompts")} title=${t("Prompts")} @click=${open}>${icon("prompts")}</button>`;

export function composerBar({ may, running, canSend, prompts, pick, stop, send }: BarParts): TemplateResult {
  return html`<div class="bar">
    <label class="attach" title=${t("Attach files")}>
      ${icon("attach")}<span class="visually-hidden">${t("Attach files")}</span>
      <input type="file" multiple ?disabled=${!may} @change=${pick} />
    </label>
    ${prompts && may ? promptsButton(prompts) : nothing}
    <slot name="pickers"></slot>
    <span class="grow"></span>
    <slot name="meter"></slot>
    <slot name="talk"></slot>
    ${
      running
        ? html`<button class="stop" aria-label=${t("Stop")} title=${t("Stop (Esc)")} @click=${stop}>${icon("stop", 16)}<span>${t("Stop")}</span></button>`
        : nothing
    }
    <button
      class="icon primary send"
      aria-label=${running ? t("Add to queue") : t("Send")}
      title=${running ? t("Add to queue (Enter)") : t("Send (Enter)")}
      ?disabled=${!canSend}
      @click=${send}
    >
      ${icon("send")}
    </button>
  </div>`;
}

const attachedFile = (file: AttachedFile, remove: (file: AttachedFile) => void): TemplateResult =>
  html`<li>
    ${file.kind === "image" ? html`<img src="data:${file.mimeType};base64,${file.data}" alt="" />` : icon("sessions")}
    <span class="cut" title=${file.name}>${file.name}</span><span class="faint">${bytes(file.bytes)}</span>
    <button class="plain small" aria-label=${t`Remove ${file.name}`} @click=${() => remove(file)}>${icon("close", 14)}</button>
  </li>`;

/** The files that go with a message, above its text. */
export function attachedFiles(files: readonly AttachedFile[], remove: (file: AttachedFile) => void): TemplateResult | typeof nothing {
  if (files.length === 0) return nothing;
  return html`<ul class="files" aria-label=${t("Attached")}>
    ${files.map((file) => attachedFile(file, remove))}
  </ul>`;
}
