import { html, nothing, type TemplateResult } from "lit";
import { duration, plural } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import "../../parts/avatar.ts";
import type { Looks } from "../../parts/avatar-facts.ts";
import "./cards/elapsed.ts";
import type { Work } from "./model/items.ts";
import { t } from "../../words/words.ts";

/** Whole seconds: nobody needs to know more of how long an answer took. */
const took = (ms: number): string => (ms >= 1000 && ms < 60_000 ? `${Math.round(ms / 1000)} s` : duration(Math.max(1, Math.round(ms))));

const stepsText = (count: number): string => plural(count, t("step"), t("steps"));

const who = (agent: Looks): TemplateResult => html`<oc-avatar .looks=${agent}></oc-avatar><b dir="auto">${agent.name}</b>`;

export interface HeadOptions {
  readonly agent: Looks;
  /** The turn is not over. */
  readonly going: boolean;
  readonly open: boolean;
  toggle(): void;
}

/** How an answer begins: who gives it, and how long it took with how many steps, which this line folds. */
export function turnHead({ startedAt, endedAt, steps }: Work, { agent, going, open, toggle }: HeadOptions): TemplateResult {
  if (going) return liveHead(agent, startedAt);
  if (steps === 0) return html`<div class="by">${who(agent)}</div>`;
  const ms = endedAt - startedAt;
  const text = ms >= 100 ? t`worked for ${took(ms)}, ${stepsText(steps)}` : stepsText(steps);
  return html`<button class="by plain work" aria-expanded=${open} @click=${toggle}>
    ${who(agent)}<span class="faint">${text}</span><span class="turns">${icon("right", 14)}</span>
  </button>`;
}

/** How an answer begins that is being given. */
export function liveHead(agent: Looks, startedAt: number | undefined): TemplateResult {
  return html`<div class="by">
    ${who(agent)}<span class="faint">${t("working")}${startedAt === undefined ? nothing : html` <oc-elapsed .since=${startedAt}></oc-elapsed>`}</span>
  </div>`;
}
