import { html, nothing, type TemplateResult } from "lit";
import { duration, exactly, moment, money, plural, tokens } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { place } from "../../shell/router.ts";
import { LEVELS } from "./run-list.ts";
import { isLive, sumsOf, type Story } from "./story-rows.ts";
import { channelOf, OUTCOMES, startPlace, startText, storyMs, storyName, verdictText } from "./story-words.ts";

export interface HeadActs {
  readonly now: number;
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
  return html`<p class="start">Started by: ${to === undefined ? text : html`<a href=${to}>${text}</a>`}</p>`;
}

/** How a story stands, what to do, and what it came to. */
export function storyHead(story: Story, { now, copy, save, stop }: HeadActs): TemplateResult {
  const { verdict, about, steps } = story;
  const sums = sumsOf(story);
  const began = steps[0]?.at;
  return html`<header class="head">
      <div class="row wrap">
        <span class="badge ${LEVELS[verdict.level]}">${OUTCOMES[verdict.outcome] ?? verdict.outcome}</span>
        <span class="faint mono cut grow">${storyName(story)}</span>
        ${
          about.sessionKey === undefined
            ? nothing
            : html`<a class="button" href=${place("chat", [about.sessionKey], { run: about.turnId })}>${icon("chat", 16)} In the chat</a>`
        }
        ${stop ? html`<button @click=${stop}>${icon("stop", 16)} Stop</button>` : nothing}
        <button @click=${copy}>${icon("copy", 16)} Copy as text</button>
        <button @click=${save}>${icon("download", 16)} Save as picture</button>
      </div>
      <h1 class="verdict" aria-live=${isLive(story) ? "off" : "polite"}>${verdictText(story)}</h1>
      ${startLine(story)} ${about.asked === undefined ? nothing : html`<p class="soft asked">“${about.asked}”</p>`}
      ${verdict.todo === undefined || isPlain(story) ? nothing : html`<p class="note ${verdict.level === "bad" ? "bad" : ""}">What to do: ${verdict.todo}</p>`}
    </header>
    <dl class="facts">
      ${fact("Began", began === undefined ? undefined : moment(began, now), began === undefined ? "" : exactly(began))}
      ${fact("Took", isLive(story) && began !== undefined ? `${duration(Math.max(0, now - began))} so far` : duration(storyMs(story)))}
      ${fact("Waited", sums.waitedMs < 1 ? undefined : duration(sums.waitedMs))}
      ${fact("Model", sums.calls === 0 ? undefined : `${duration(sums.modelMs)}, ${plural(sums.calls, "call")}`)}
      ${fact("Tools", sums.tools === 0 ? undefined : `${duration(sums.toolMs)}, ${plural(sums.tools, "call")}`)}
      ${fact("Tokens", sums.tokens === 0 ? undefined : tokens(sums.tokens))} ${fact("Cost", sums.cost === 0 ? undefined : money(sums.cost))}
      ${fact(about.start ? "Start" : "Channel", channelOf(story))}
      ${fact("Session", about.sessionKey === undefined ? undefined : html`<a href=${place("trace", [], { session: about.sessionKey })} title=${about.sessionKey}>${about.sessionName ?? about.sessionKey}</a>`)}
    </dl>`;
}
