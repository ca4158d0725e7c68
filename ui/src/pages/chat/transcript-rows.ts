import { html, nothing, type TemplateResult } from "lit";
import { exactly, moment, money, tokens } from "../../base/figures.ts";
import type { Link } from "../../link/link.ts";
import { icon, type IconName } from "../../look/icons.ts";
import { place } from "../../shell/router.ts";
import { card, factsOf, factsOfTool } from "./cards/card.ts";
import { pictureIndexes } from "./cards/output.ts";
import "./cards/picture.ts";
import { prose, type ProseActions } from "./markdown/draw.ts";
import { adviceFor } from "./model/advice.ts";
import type { AskedCommand } from "./model/commands.ts";
import { WRITTEN_BY_GATEWAY, type AnswerItem, type Call, type Item, type SaidItem, type TurnUsage } from "./model/items.ts";
import { fieldsOf } from "./model/said.ts";
import { systemRow } from "./transcript-system.ts";
import type { Aside, ChatEntry, PendingMessage, RunPart, RunView, ToolView } from "./model/state.ts";

/** What rows of the log need and can do. */
export interface RowTools extends ProseActions {
  readonly link: Pick<Link, "request">;
  readonly sessionKey: string;
  readonly mayWrite: boolean;
  isUnfolded(callId: string): boolean;
  unfold(callId: string, open: boolean): void;
  /** What is heard of a call that has no result yet. */
  live(callId: string): ToolView | undefined;
  /** The outcome of a call that needed approval. */
  asked(call: Call): AskedCommand | undefined;
  /** A run is under way. */
  readonly running: boolean;
  /** Says it again as it was said, with its pictures. */
  again(entry: ChatEntry): void;
  edit(entry: ChatEntry): void;
  /** Copies all that it says, also where it is shown cut. */
  copyAll(entry: ChatEntry): void;
  resend(runId: string): void;
  discard(runId: string): void;
}

/** An answer that means "say nothing". */
const SILENCE = "NO_REPLY";
/** True while what was written may become it. */
const isSilent = (text: string): boolean => text.trim() !== "" && SILENCE.startsWith(text.trim());

const action = (name: IconName, label: string, work: () => void): TemplateResult =>
  html`<button class="plain small act" aria-label=${label} title=${label} @click=${work}>${icon(name, 15)}</button>`;

const traceLink = (runId: string | undefined): TemplateResult | typeof nothing =>
  runId === undefined
    ? nothing
    : html`<a class="act" href=${place("trace", [runId])} aria-label="Trace of this run" title="Trace of this run">${icon("trace", 15)}</a>`;

const time = (at: number): TemplateResult | typeof nothing =>
  at > 0 ? html`<time datetime=${new Date(at).toISOString()} title=${exactly(at)}>${moment(at)}</time>` : nothing;

function pictures(entry: ChatEntry, tools: RowTools): TemplateResult | typeof nothing {
  const indexes = pictureIndexes(entry.content);
  if (indexes.length === 0) return nothing;
  return html`<div class="pictures">
    ${indexes.map((index) => {
      const size = fieldsOf(entry.content[index])["bytes"];
      return html`<oc-chat-picture
        .link=${tools.link}
        .sessionKey=${tools.sessionKey}
        .seq=${entry.seq}
        .index=${index}
        .size=${typeof size === "number" ? size : undefined}
      ></oc-chat-picture>`;
    })}
  </div>`;
}

function usageText(usage: TurnUsage): string {
  const cached = usage.cached > 0 ? `, ${tokens(usage.cached)} cached` : "";
  const cost = usage.cost === undefined ? "" : ` · ${money(usage.cost)}`;
  return `${tokens(usage.input + usage.cached)} in${cached} · ${tokens(usage.output)} out${cost}`;
}

/** What failed, what to do about it, and the trace. */
function failure(error: string, runId: string | undefined, asked: SaidItem | undefined, tools: RowTools): TemplateResult {
  const { text, link } = adviceFor(error);
  return html`<div class="note bad" role="group" aria-label="Error">
    <p class="wrapped" dir="auto">${error}</p>
    <p class="soft">${text}</p>
    <div class="row wrap">
      ${link ? html`<a class="button small" href=${link.place}>${link.words}</a>` : nothing}
      ${asked && tools.mayWrite ? html`<button class="small" @click=${() => tools.again(asked.entry)}>${icon("retry", 14)}Send again</button>` : nothing}
      ${runId === undefined ? nothing : html`<a class="button small" href=${place("trace", [runId])}>${icon("trace", 14)}Trace</a>`}
    </div>
  </div>`;
}

function callCard(call: Call, tools: RowTools): TemplateResult {
  const facts = factsOf(call, tools.live(call.id), tools.running, tools.asked(call));
  const { result } = call;
  return card(facts, {
    unfolded: tools.isUnfolded(call.id),
    toggle: (open) => tools.unfold(call.id, open),
    pictures: () => (result ? pictures(result, tools) : nothing),
    actions: tools,
  });
}

const thought = (text: string, live: boolean): TemplateResult | typeof nothing =>
  text === ""
    ? nothing
    : html`<details class="thought">
        <summary>${live ? "Reasoning …" : "Reasoning"}</summary>
        <p class="wrapped" dir="auto">${text}</p>
      </details>`;

function saidRow({ entry, text }: SaidItem, tools: RowTools): TemplateResult {
  const who = [entry.from, entry.channel].filter((word) => word !== undefined).join(" · ");
  const again = text !== "" || pictureIndexes(entry.content).length > 0;
  const system = entry.told === undefined ? nothing : systemRow(entry.told);
  return html`${system}
    <div class="said" role="group" aria-label="${entry.from ?? "You"} said">
      ${who === "" ? nothing : html`<div class="who">${who}</div>`} ${pictures(entry, tools)}
      ${text === "" ? nothing : html`<div class="bubble wrapped" dir="auto">${text}</div>`}
      ${entry.cut ? html`<p class="faint">Too long to be shown whole. Copy, edit and send again take all of it.</p>` : nothing}
      <div class="foot">
        <span class="acts">
          ${text === "" ? nothing : action("copy", "Copy the message", () => tools.copyAll(entry))}
          ${again && tools.mayWrite ? [action("edit", "Edit and send again", () => tools.edit(entry)), action("retry", "Send again", () => tools.again(entry))] : nothing}
          ${traceLink(entry.runId)}
        </span>
        ${time(entry.ts)}
      </div>
    </div>`;
}

const STOPPED: Readonly<Record<string, string>> = { aborted: "Stopped.", length: "Cut off: the model reached the most it may write at once." };

function answerFoot({ entry, text, turn }: AnswerItem, tools: RowTools): TemplateResult {
  const model = entry.model === WRITTEN_BY_GATEWAY ? "" : [entry.provider, entry.model].filter(Boolean).join("/");
  return html`<div class="foot">
    ${time(entry.ts)} ${model === "" ? nothing : html`<span class="cut" title=${model}>${entry.model ?? model}</span>`}
    ${turn?.usage ? html`<span title="Tokens and price of this turn">${usageText(turn.usage)}</span>` : nothing}
    <span class="acts">${text === "" ? nothing : action("copy", "Copy the answer", () => tools.copyAll(entry))} ${traceLink(entry.runId)}</span>
  </div>`;
}

function answerRow(item: AnswerItem, going: boolean, tools: RowTools): TemplateResult {
  const { entry, text, thinking, calls, turn, failed } = item;
  const stopped = STOPPED[entry.stopReason ?? ""];
  return html`<div class="answer" role="group" aria-label="Answer">
    ${thought(thinking, false)} ${text === "" ? nothing : isSilent(text) ? html`<p class="faint">Chose not to answer.</p>` : prose(text, tools)}
    ${pictures(entry, tools)} ${calls.map((call) => callCard(call, tools))}
    ${entry.cut ? html`<p class="faint">Too long to be shown whole. The exported session has all of it.</p>` : nothing}
    ${failed === undefined ? nothing : failure(failed, entry.runId, turn?.asked, tools)}
    ${stopped === undefined ? nothing : html`<p class="faint">${stopped}</p>`} ${turn && !going ? answerFoot(item, tools) : nothing}
  </div>`;
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "full" });

/** One item of the transcript. `going`: its turn goes on. */
export function itemRow(item: Item, going: boolean, tools: RowTools): TemplateResult {
  switch (item.kind) {
    case "day":
      return html`<div class="mark" role="separator"><span>${day.format(item.at)}</span></div>`;
    case "user":
      return saidRow(item, tools);
    case "answer":
      return answerRow(item, going, tools);
    case "result":
      return html`<div class="answer">${callCard(item.call, tools)}</div>`;
    case "compaction":
      return html`<details class="summary">
        <summary class="mark"><span>Earlier messages were summarised</span></summary>
        ${item.text === "" ? nothing : prose(item.text, tools)}
      </details>`;
    default:
      if (item.entry.error !== undefined) return failure(item.entry.error, item.entry.runId, item.asked, tools);
      if (item.entry.told !== undefined) return systemRow(item.entry.told);
      return html`<div class="mark aside wrapped"><span dir="auto">${item.text}</span></div>`;
  }
}

/** Items whose drawing depends on more than themselves: a call without a result. */
export const isOpen = (item: Item): boolean => item.kind === "answer" && item.calls.some(({ result }) => result === undefined);

/** The calls of an item. */
export const callsOf = (item: Item): readonly Call[] => (item.kind === "answer" ? item.calls : item.kind === "result" ? [item.call] : []);

function partRow(part: RunPart, last: boolean, tools: RowTools): TemplateResult | typeof nothing {
  if (part.kind === "tool") {
    const { tool } = part;
    const toggle = (open: boolean): void => tools.unfold(tool.toolCallId, open);
    return card(factsOfTool(tool), { unfolded: tools.isUnfolded(tool.toolCallId), toggle, pictures: () => nothing, actions: tools });
  }
  const { text, thinking } = part;
  return html`${thought(thinking, last && text === "")}${text === "" || isSilent(text) ? nothing : html`<div class=${last ? "writing" : ""}>${prose(text, tools)}</div>`}`;
}

/** A run with what is not in the transcript. `written`: calls that are drawn there; `asked`: what it answers. */
export function runRow(run: RunView, written: ReadonlySet<string>, asked: SaidItem | undefined, tools: RowTools): TemplateResult {
  const parts = run.parts.filter((part) => part.kind === "said" || !written.has(part.tool.toolCallId));
  const { ended } = run;
  const last = parts.at(-1);
  const busy = run.tools.some(({ state }) => state === "running");
  const quiet = ended === undefined && !busy && (last === undefined || (last.kind === "said" && (last.text === "" || isSilent(last.text))));
  return html`<div class="answer live" role="group" aria-label="Answer" aria-busy=${ended === undefined}>
    ${parts.map((part, at) => partRow(part, ended === undefined && at === parts.length - 1, tools))}
    ${quiet ? html`<p class="working soft"><span class="spinner" aria-hidden="true"></span>${run.compacting ? "Summarising earlier messages" : "Working"}</p>` : nothing}
    ${ended?.how === "error" ? failure(ended.error ?? "The run failed without saying why", run.runId, asked, tools) : nothing}
    ${ended?.how === "aborted" ? html`<p class="faint">Stopped.</p>` : nothing}
  </div>`;
}

/** A command that was given here. */
export function asideRow({ text, ts }: Aside): TemplateResult {
  return html`<div class="said" role="group" aria-label="You said">
    <div class="bubble wrapped" dir="auto">${text}</div>
    <div class="foot">${time(ts)}</div>
  </div>`;
}

const WAITS: Readonly<Record<PendingMessage["state"], string>> = {
  unsent: "Waiting for the connection",
  sending: "Sending",
  accepted: "",
  failed: "Not sent",
};

/** A message that is not in the transcript yet. */
export function pendingRow(message: PendingMessage, waits: boolean, tools: RowTools): TemplateResult {
  const { runId, text, images, state, error, from, channel, ts } = message;
  const who = [from, channel].filter((word) => word !== undefined).join(" · ");
  const label = state === "accepted" && waits ? "Waits for its turn" : WAITS[state];
  return html`<div class="said pending ${state}" role="group" aria-label="${from ?? "You"} said">
    ${who === "" ? nothing : html`<div class="who">${who}</div>`}
    ${images > 0 ? html`<div class="faint">${images === 1 ? "1 attachment" : `${images} attachments`}</div>` : nothing}
    ${text === "" ? nothing : html`<div class="bubble wrapped" dir="auto">${text}</div>`}
    ${state === "failed" ? html`<div class="note bad"><p class="wrapped">${error}</p></div>` : nothing}
    <div class="foot">
      ${label === "" ? time(ts) : html`<span>${label}</span>`}
      ${
        state === "failed" || state === "unsent"
          ? html`<span class="always">
              ${state === "failed" ? html`<button class="small" @click=${() => tools.resend(runId)}>${icon("retry", 14)}Send again</button>` : nothing}
              <button class="small" @click=${() => tools.discard(runId)}>${icon("trash", 14)}Discard</button>
            </span>`
          : nothing
      }
    </div>
  </div>`;
}
