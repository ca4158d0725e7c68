import { html, nothing, type TemplateResult } from "lit";
import { duration } from "../../../base/figures.ts";
import { icon } from "../../../look/icons.ts";
import { codeBlock, type ProseActions } from "../markdown/draw.ts";
import type { AskedCommand } from "../model/commands.ts";
import type { Call } from "../model/items.ts";
import { fieldsOf } from "../model/said.ts";
import type { ToolView } from "../model/state.ts";
import { factsOfAsked } from "./asked.ts";
import "./elapsed.ts";
import { differenceOf } from "./difference.ts";
import { argumentsText, outputOf, tailOf } from "./output.ts";
import { summaryOf } from "./summary.ts";

/** What a card is drawn from: a call of the transcript, what is known of it live, or both. */
export interface CardFacts {
  readonly name: string;
  readonly args: unknown;
  readonly state: "running" | "done" | "failed" | "lost" | "asked" | "denied" | "expired";
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

const WORDS = {
  denied: "Denied",
  expired: "Not decided in time",
  running: "Running",
  done: "Done",
  failed: "Failed",
  lost: "No result",
  asked: "Asked whether it may run",
} as const;
const PICTURES = { denied: "close", expired: "clock", done: "check", failed: "warn", lost: "warn", asked: "clock" } as const;
/** States that are also shown in words. */
const SAID: ReadonlySet<CardFacts["state"]> = new Set(["asked", "denied", "expired"]);
const TAIL_LINES = 12;
const TAIL_CHARS = 4000;

function mark({ state, startedAt, endedAt, details }: CardFacts): TemplateResult {
  const took = startedAt !== undefined && endedAt !== undefined && endedAt - startedAt >= 100 ? duration(endedAt - startedAt) : "";
  const time = state === "running" && startedAt !== undefined ? html`<oc-elapsed .since=${startedAt}></oc-elapsed>` : took;
  const exit = fieldsOf(details)["exitCode"];
  const ended = typeof exit === "number" && exit !== 0 ? html`<span class="exit">exit ${exit}</span>` : nothing;
  // The tool did its part; what it ran did not.
  const seen = state === "done" && ended !== nothing ? "failed" : state;
  const picture = seen === "running" ? html`<span class="spinner" aria-hidden="true"></span>` : icon(PICTURES[seen], 14);
  return html`<span class="card-state ${seen}">${picture}<span class=${SAID.has(seen) ? "" : "visually-hidden"}>${WORDS[seen]}</span>${ended}${time}</span>`;
}

function section(title: string, content: unknown): TemplateResult {
  return html`<div role="group" aria-label=${title}>
    <div class="part">${title}</div>
    ${content}
  </div>`;
}

/** Everything about a call, drawn when the card is unfolded. */
function cardBody(facts: CardFacts, pictures: unknown, actions: ProseActions): TemplateResult {
  const { name, args, output, details, state } = facts;
  const change = differenceOf(name, args, details);
  const command =
    name === "exec" && typeof (args as { command?: unknown } | undefined)?.command === "string" ? (args as { command: string }).command : undefined;
  const asked = argumentsText(args);
  return html`<div class="card-body">
    ${command === undefined ? nothing : section("Command", codeBlock(command, "sh", actions))}
    ${change === undefined ? nothing : section("Change", codeBlock(change, "diff", actions))}
    ${asked === "" || asked === "{}" ? nothing : section("Arguments", codeBlock(asked, "json", actions))}
    ${output === "" ? nothing : section(state === "failed" ? "Error" : "Result", codeBlock(output, "", actions))} ${pictures}
    ${facts.note === undefined ? nothing : html`<p class="faint">${facts.note}</p>`}
    ${output === "" && state === "done" && pictures === nothing ? html`<p class="faint">It gave nothing back.</p>` : nothing}
    ${state === "lost" && facts.note === undefined ? html`<p class="faint">There is no result: the run was stopped or the gateway ended before it came.</p>` : nothing}
  </div>`;
}

/** A tool's call as a foldable card. While it runs the end of its output is shown below. */
export function card(
  facts: CardFacts,
  options: { readonly unfolded: boolean; readonly toggle: (open: boolean) => void; readonly pictures: () => unknown; readonly actions: ProseActions },
): TemplateResult {
  const { name, args, output, state } = facts;
  const { unfolded, toggle, pictures, actions } = options;
  const tail = state === "running" && !unfolded && output !== "" ? tailOf(output, TAIL_LINES, TAIL_CHARS) : undefined;
  return html`<div class="tool ${state}">
    <button class="card-head" aria-expanded=${unfolded} @click=${() => toggle(!unfolded)}>
      ${icon(unfolded ? "down" : "right", 14)}<span class="card-name">${name}</span><span class="card-about cut">${summaryOf(name, args)}</span>${mark(facts)}
    </button>
    ${tail ? html`<pre class="tail" tabindex="0" role="group" aria-label="Output so far">${tail.cut ? "…\n" : ""}${tail.text}</pre>` : nothing}
    ${unfolded ? cardBody(facts, pictures(), actions) : nothing}
  </div>`;
}
