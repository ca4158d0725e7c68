import { html, nothing, type TemplateResult } from "lit";
import { duration, exactly, moment, money, plural, tokens } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { place } from "../../shell/router.ts";
import { LEVELS } from "./run-list.ts";
import { isLive, sumsOf, type Story } from "./story-rows.ts";
import { channelOf, OUTCOMES, startPlace, startText, storyMs, storyName, verdictText } from "./story-words.ts";
import { t } from "../../words/words.ts";

export interface HeadActs {
  copy(): void;
  save(): void;
  /** Of a run under way, where it may be stopped. */
  readonly stop?: (() => void) | undefined;
}

const fact = (name: string, value: string | TemplateResult | undefined, title = ""): TemplateResult | typeof nothing =>
  value === undefined || value === ""
    ? nothing
    : html`<div class="fact" title=${title}>
        <dt>${name}</dt>
        <dd>${value}</dd>
      </div>`;

/** It is being answered by the gateway that is asked, or will be: there is nothing to do. */
const isPlain = ({ verdict, steps }: Story): boolean =>
  verdict.outcome === "waiting" || (verdict.outcome === "running" && !steps.some(({ kind }) => kind === "approval"));

/** What started it, where nobody wrote a message. */
function startLine(story: Story): TemplateResult | typeof nothing {
  const text = startText(story);
  const to = startPlace(story);
  if (text === undefined) return nothing;
  return html`<p class="start">${t("Started by:")} ${to === undefined ? text : html`<a href=${to}>${text}</a>`}</p>`;
}

/** What can be done with a story. */
export function storyActions({ about }: Story, { copy, save, stop }: HeadActs): TemplateResult {
  return html`${
      about.sessionKey === undefined
        ? nothing
        : html`<a class="button" href=${place("chat", [about.sessionKey], { run: about.turnId })}>${icon("chat", 16)} ${t("Show in chat")}</a>`
    }
    ${stop ? html`<button @click=${stop}>${icon("stop", 16)} ${t("Stop")}</button>` : nothing}
    <button @click=${copy}>${icon("copy", 16)} ${t("Copy as text")}</button>
    <button @click=${save}>${icon("download", 16)} ${t("Save as image")}</button>`;
}

/** How a story stands, what to do, and what it came to. */
export function storyHead(story: Story, now: number): TemplateResult {
  const { verdict, about, steps } = story;
  const sums = sumsOf(story);
  const began = steps[0]?.at;
  return html`<div class="story">
      <div class="row wrap">
        <span class="badge ${LEVELS[verdict.level]}">${OUTCOMES[verdict.outcome] ?? verdict.outcome}</span>
        <h2 class="verdict" aria-live=${isLive(story) ? "off" : "polite"}>${verdictText(story)}</h2>
        <span class="faint mono cut">${storyName(story)}</span>
      </div>
      ${startLine(story)} ${about.asked === undefined ? nothing : html`<p class="soft asked">“${about.asked}”</p>`}
      ${verdict.todo === undefined || isPlain(story) ? nothing : html`<p class="note ${verdict.level === "bad" ? "bad" : ""}">${t`What to do: ${verdict.todo}`}</p>`}
    </div>
    <dl class="facts">
      ${fact(t("Started"), began === undefined ? undefined : moment(began, now), began === undefined ? "" : exactly(began))}
      ${fact(t("Duration"), isLive(story) && began !== undefined ? t`${duration(Math.max(0, now - began))} so far` : duration(storyMs(story)))}
      ${fact(t("Wait time"), sums.waitedMs < 1 ? undefined : duration(sums.waitedMs))}
      ${fact(t("Model"), sums.calls === 0 ? undefined : `${duration(sums.modelMs)}, ${plural(sums.calls, t("call"), t("calls"))}`)}
      ${fact(t("Tools"), sums.tools === 0 ? undefined : `${duration(sums.toolMs)}, ${plural(sums.tools, t("call"), t("calls"))}`)}
      ${fact(t("Tokens"), sums.tokens === 0 ? undefined : tokens(sums.tokens))} ${fact(t("Cost"), sums.cost === 0 ? undefined : money(sums.cost))}
      ${fact(about.start ? t("Start") : t("Channel"), channelOf(story))}
      ${fact(t("Session"), about.sessionKey === undefined ? undefined : html`<a href=${place("trace", [], { session: about.sessionKey })} title=${about.sessionKey}>${about.sessionName ?? about.sessionKey}</a>`)}
    </dl>`;
}
