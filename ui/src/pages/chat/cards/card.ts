import { html, nothing, type TemplateResult } from "lit";
import { icon, type IconName } from "../../../look/icons.ts";
import { duration } from "../../../base/figures.ts";
import { codeBlock, type ProseActions } from "../markdown/draw.ts";
import type { AskedCommand } from "../model/commands.ts";
import type { Call } from "../model/items.ts";
import { fieldsOf, textOf } from "../model/said.ts";
import type { ToolView } from "../model/state.ts";
import { factsOfAsked } from "./asked.ts";
import "./elapsed.ts";
import { differenceOf } from "./difference.ts";
import { changedLines, diffRows, type DiffRow } from "./diff-rows.ts";
import { argumentsText, outputOf, tailOf } from "./output.ts";
import { summaryOf } from "./summary.ts";
import { verbOf } from "./verbs.ts";
import { t } from "../../../words/words.ts";

/** What a card is drawn from: a call of the transcript, what is known of it live, or both. */
export interface CardFacts {
  readonly name: string;
  readonly args: unknown;
  readonly state: "running" | "done" | "failed" | "lost" | "asked" | "denied" | "expired" | "restarted";
  readonly output: string;
  readonly details: unknown;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** What became of it, in words. */
  readonly note?: string | undefined;
}

/** The facts of a call: its result counts most, then what is heard of it; without either it runs as long as its run does. */
export function factsOf(call: Call, live: ToolView | undefined, running: boolean, asked?: AskedCommand): CardFacts {
  const { name, args, startedAt, result } = call;
  if (result) {
    const { isError, content, details, ts } = result;
    if (asked) return factsOfAsked(call, asked);
    return {
      name,
      args,
      // It runs once it is approved; its outcome follows later in the conversation.
      state: isError ? "failed" : fieldsOf(details)["status"] === "approval-pending" ? "asked" : "done",
      output: outputOf(content),
      details,
      startedAt: startedAt < ts ? startedAt : undefined,
      endedAt: ts,
    };
  }
  if (live) return { ...factsOfTool(live), args: args ?? live.args };
  return { name, args, state: running ? "running" : "lost", output: "", details: undefined, startedAt: running ? startedAt : undefined, endedAt: undefined };
}

/** The facts of a call known from events only. */
export function factsOfTool({ name, args, state, result, startedAt, endedAt }: ToolView): CardFacts {
  return { name, args, state, output: outputOf(result), details: undefined, startedAt, endedAt };
}

/** The exit code of a command that did not end well. */
function exitOf({ details }: CardFacts): number | undefined {
  const exit = fieldsOf(details)["exitCode"];
  return typeof exit === "number" && exit !== 0 ? exit : undefined;
}

/** The tool did its part; what it ran did not. */
const seenState = (facts: CardFacts): CardFacts["state"] => (facts.state === "done" && exitOf(facts) !== undefined ? "failed" : facts.state);

export const isEdit = (name: string): boolean => name === "edit" || name === "write" || name === "apply_patch";

/** True for what is shown though its turn is folded: all but what went as it should, and changes of files. */
export const isLoud = (facts: CardFacts): boolean => seenState(facts) !== "done" || isEdit(facts.name);

/** Failures show by themselves what happened. */
export const isUnfoldedAtFirst = (facts: CardFacts): boolean => seenState(facts) === "failed";

const WORDS = {
  denied: t("Denied"),
  restarted: t("Gateway restarted"),
  expired: t("Not approved in time"),
  running: t("Running"),
  done: t("Done"),
  failed: t("Failed"),
  lost: t("No result"),
  asked: t("Waiting for approval"),
} as const;
const PICTURES = { denied: "close", restarted: "close", expired: "clock", done: "check", failed: "warn", lost: "warn", asked: "clock" } as const;
/** States that are also shown in words. */
const SAID: ReadonlySet<CardFacts["state"]> = new Set(["asked", "denied", "expired", "restarted", "lost"]);
const TAIL_LINES = 12;
const TAIL_CHARS = 4000;

function mark(facts: CardFacts): TemplateResult {
  const { state, startedAt, endedAt } = facts;
  const took = startedAt !== undefined && endedAt !== undefined && endedAt - startedAt >= 100 ? duration(endedAt - startedAt) : "";
  const time = state === "running" && startedAt !== undefined ? html`<oc-elapsed .since=${startedAt}></oc-elapsed>` : took;
  const exit = exitOf(facts);
  const seen = seenState(facts);
  return html`<span class="card-state ${seen}"
    ><span class=${SAID.has(seen) ? "" : "visually-hidden"}>${WORDS[seen]}</span>${
      exit === undefined ? nothing : html`<span class="exit">${t`exit ${exit}`}</span>`
    }${time}</span
  >`;
}

function sign(facts: CardFacts): TemplateResult {
  const seen = seenState(facts);
  if (seen === "running") return html`<span class="spinner" aria-hidden="true"></span>`;
  const name: IconName = seen === "done" && isEdit(facts.name) ? "edit" : PICTURES[seen];
  return html`<span class="sign ${seen}">${icon(name, 15)}</span>`;
}

function section(title: string, content: unknown): TemplateResult {
  return html`<div role="group" aria-label=${title}>
    <div class="part">${title}</div>
    ${content}
  </div>`;
}

const SIGNS = { same: " ", added: "+", removed: "−", mark: " " } as const;
const row = ({ kind, before, after, text }: DiffRow): TemplateResult =>
  html`<span class="d ${kind}"><i>${before ?? ""}</i><i>${after ?? ""}</i><b>${SIGNS[kind]}</b>${text}${"\n"}</span>`;

/** Lines of a change that are drawn. */
const MOST_ROWS = 400;

function changeBlock(change: string): TemplateResult {
  const rows = diffRows(change);
  const left = rows.length - MOST_ROWS;
  return html`<pre class="diff" tabindex="0" role="group" aria-label=${t("Change")}>
${rows.slice(0, MOST_ROWS).map(row)}${left > 0 ? html`<span class="d mark">${t`${left} more lines`}</span>` : nothing}</pre>`;
}

/** A command with what it wrote, as a terminal shows it. */
function terminal(command: string, { output, state }: CardFacts, actions: ProseActions): TemplateResult {
  return html`<div class="terminal-frame" role="group" aria-label=${state === "failed" ? t("Error") : t("Result")}>
    <button class="plain small copy" aria-label=${t("Copy command")} title=${t("Copy command")} @click=${() => actions.copy(command)}>
      ${icon("copy", 14)}
    </button>
    <pre
      class="terminal"
      tabindex="0"
      dir="ltr"
    ><span class="prompt">$ </span><span class="typed">${command}</span>${output === "" ? nothing : `\n${output}`}</pre>
  </div>`;
}

const commandOf = ({ name, args }: CardFacts): string => (name === "exec" || name === "bash" ? textOf(fieldsOf(args)["command"]) : "");

/** Arguments that the card does not show otherwise. */
function otherArguments({ name, args }: CardFacts, isCommand: boolean, isChange: boolean): string {
  if (isChange) return "";
  const rest = isCommand ? Object.fromEntries(Object.entries(fieldsOf(args)).filter(([field]) => field !== "command")) : args;
  const text = argumentsText(rest);
  return text === "{}" || (name === "" && text === '""') ? "" : text;
}

/** Everything about a call, drawn when the card is unfolded. */
function cardBody(facts: CardFacts, pictures: unknown, actions: ProseActions): TemplateResult {
  const { name, args, output, details, state } = facts;
  const change = differenceOf(name, args, details);
  const command = commandOf(facts);
  const asked = otherArguments(facts, command !== "", change !== undefined);
  const isShown = command !== "" || (change !== undefined && state === "done");
  return html`<div class="card-body">
    ${command === "" ? nothing : terminal(command, facts, actions)} ${change === undefined ? nothing : changeBlock(change)}
    ${asked === "" ? nothing : section(t("Arguments"), codeBlock(asked, "json", actions))}
    ${output === "" || isShown ? nothing : section(state === "failed" ? t("Error") : t("Result"), codeBlock(output, "", actions))} ${pictures}
    ${facts.note === undefined ? nothing : html`<p class="faint">${facts.note}</p>`}
    ${output === "" && state === "done" && pictures === nothing ? html`<p class="faint">${t("No output")}</p>` : nothing}
    ${state === "lost" && facts.note === undefined ? html`<p class="faint">${t("No result: the run or the gateway stopped before it finished.")}</p>` : nothing}
  </div>`;
}

export interface CardOptions {
  readonly unfolded: boolean;
  readonly toggle: (open: boolean) => void;
  readonly pictures: () => unknown;
  readonly actions: ProseActions;
  /** Stops what runs; undefined where that cannot be done. */
  readonly stop?: (() => void) | undefined;
}

function sizes({ name, args, details, state }: CardFacts): TemplateResult | typeof nothing {
  const change = isEdit(name) && state === "done" ? differenceOf(name, args, details) : undefined;
  if (change === undefined) return nothing;
  const { added, removed } = changedLines(change);
  return html`<span class="plus">+${added}</span><span class="minus">−${removed}</span>`;
}

/** A tool's call as one line that unfolds. While it runs the end of its output is shown below. */
export function card(facts: CardFacts, { unfolded, toggle, pictures, actions, stop }: CardOptions): TemplateResult {
  const { name, args, output, state } = facts;
  const tail = state === "running" && !unfolded && output !== "" ? tailOf(output, TAIL_LINES, TAIL_CHARS) : undefined;
  const framed = unfolded || state === "running";
  return html`<div class="tool ${seenState(facts)} ${framed ? "framed" : ""}">
    <div class="card-line">
      <button class="card-head" aria-expanded=${unfolded} @click=${() => toggle(!unfolded)}>
        ${sign(facts)}<span class="card-name">${verbOf(name, state)}</span>
        <code class="card-about cut">${summaryOf(name, args)}</code>${sizes(facts)}${mark(facts)}
        <span class="chevron">${icon(unfolded ? "up" : "down", 14)}</span>
      </button>
      ${
        state === "running" && stop
          ? html`<button class="plain icon stop-step" aria-label=${t("Stop this step")} title=${t("Stop this step and the answer")} @click=${stop}>
              ${icon("stop", 15)}
            </button>`
          : nothing
      }
    </div>
    ${tail ? html`<pre class="terminal tail" tabindex="0" role="group" aria-label=${t("Output so far")}>${tail.cut ? "…\n" : ""}${tail.text}<span class="caret"></span></pre>` : nothing}
    ${unfolded ? cardBody(facts, pictures(), actions) : nothing}
  </div>`;
}
