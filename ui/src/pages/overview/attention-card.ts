import { css, html, nothing, type TemplateResult } from "lit";
import { ago, exactly } from "../../base/figures.ts";
import { icon, type IconName } from "../../look/icons.ts";
import { t } from "../../words/words.ts";
import { fixOf, type Fix, type Problem } from "./overview-facts.ts";
import { problemWords } from "./problem-words.ts";

/** Someone or something that waits for a person. */
export interface Request {
  readonly icon: IconName;
  readonly title: string;
  readonly detail: string;
  readonly href: string;
  readonly action: string;
}

/** For `static styles` of the page. */
export const attentionLook = css`
  .mark {
    display: grid;
    place-items: center;
    flex: none;
    width: 32px;
    height: 32px;
    border-radius: var(--radius-small);
    color: var(--warn);
    background: var(--warn-soft);
  }
  .mark.bad {
    color: var(--bad);
    background: var(--bad-soft);
  }
  .strong {
    font-weight: 600;
  }
  .lines .problem {
    align-items: flex-start;
    overflow-wrap: anywhere;
  }
  .two {
    display: -webkit-box;
    overflow: hidden;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
  }
`;

/** One button: what can be done here is done, else the page that helps is opened. */
export function fixButton(fix: Fix, run: (fix: Fix) => void, look = ""): TemplateResult {
  if (fix.kind === "link") return html`<a class="button ${look}" href=${fix.href}>${fix.label}</a>`;
  return html`<button class=${look} @click=${() => run(fix)}>${fix.label}</button>`;
}

const MOST = 4;

export interface Attention {
  readonly requests: readonly Request[];
  /** Without the one that the headline shows. */
  readonly problems: readonly Problem[];
  readonly now: number;
  readonly mayChange: boolean;
  readonly isOpen: boolean;
  readonly open: () => void;
  readonly run: (fix: Fix) => void;
}

const requestLine = ({ icon: name, title, detail, href, action }: Request): TemplateResult =>
  html`<li>
    <span class="mark warn">${icon(name, 16)}</span>
    <div class="grow">
      <p class="strong cut">${title}</p>
      <p class="faint cut">${detail}</p>
    </div>
    <a class="button" href=${href}>${action}</a>
  </li>`;

const problemLine = (problem: Problem, { now, mayChange, run }: Attention): TemplateResult =>
  html`<li class="problem">
    <span class="mark ${problem.level === "error" ? "bad" : "warn"}">${icon("warn", 16)}</span>
    <div class="grow">
      <p class="two"><span class="visually-hidden">${problem.level === "error" ? t("Error") : t("Warning")}: </span>${problemWords(problem.text)}</p>
      ${problem.todo === undefined ? nothing : html`<p class="faint two">${problemWords(problem.todo)}</p>`}
      <p class="faint" title=${exactly(problem.at)}>${ago(problem.at, now)}${problem.count > 1 ? t`, ${problem.count} times` : ""}</p>
    </div>
    ${fixButton(fixOf(problem, mayChange), run)}
  </li>`;

/** What waits for a person, each with one button: requests, then problems. */
export function attentionCard(attention: Attention): TemplateResult {
  const { requests, problems, isOpen, open } = attention;
  const lines = [...requests.map(requestLine), ...problems.map((problem) => problemLine(problem, attention))];
  const hidden = isOpen ? 0 : Math.max(0, lines.length - MOST);
  return html`<section class="card flush" aria-labelledby="attention">
    <h2 class="title row">
      <span id="attention">${t("Needs attention")}</span>${lines.length === 0 ? nothing : html`<span class="badge">${lines.length}</span>`}
    </h2>
    ${
      lines.length === 0
        ? html`<p class="soft empty">${t("Nothing needs attention")}</p>`
        : html`<ul class="lines">
            ${hidden === 0 ? lines : lines.slice(0, MOST)}
          </ul>`
    }
    ${hidden === 0 ? nothing : html`<p class="foot"><button class="plain small" @click=${open}>${t`Show ${hidden} more`}</button></p>`}
  </section>`;
}
