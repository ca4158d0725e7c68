import { html, nothing, type TemplateResult } from "lit";
import { shownAnswer } from "openclaw/client";
import { exactly, moment, money, plural, tokens } from "../../base/figures.ts";
import type { Link } from "../../link/link.ts";
import { icon, type IconName } from "../../look/icons.ts";
import { place } from "../../shell/router.ts";
import type { Looks } from "../../parts/avatar-facts.ts";
import { card, factsOf, factsOfTool, isLoud, isUnfoldedAtFirst, type CardFacts } from "./cards/card.ts";
import { pictureIndexes } from "./cards/output.ts";
import "./cards/file.ts";
import "./cards/picture.ts";
import "./talk-aloud.ts";
import { prose, type ProseActions } from "./markdown/draw.ts";
import { adviceFor } from "./model/advice.ts";
import type { AskedCommand } from "./model/commands.ts";
import { WRITTEN_BY_GATEWAY, type AnswerItem, type Call, type Item, type SaidItem, type TurnUsage } from "./model/items.ts";
import { fieldsOf, withoutFileLines } from "./model/said.ts";
import { branchSwitch } from "./branch-switch.ts";
import { systemRow } from "./transcript-system.ts";
import { liveHead, turnHead } from "./transcript-turn.ts";
import type { Aside, ChatEntry, PendingMessage, RunPart, RunView, ToolView } from "./model/state.ts";
import { locale, t } from "../../words/words.ts";

/** What rows of the log need and can do. */
export interface RowTools extends ProseActions {
  readonly link: Pick<Link, "request" | "has">;
  readonly sessionKey: string;
  readonly mayWrite: boolean;
  /** Who answers. */
  readonly agent: Looks;
  /** What the reader chose; undefined: as it is by itself. */
  isUnfolded(id: string): boolean | undefined;
  /** Folds a card, or the steps of a turn by its key. */
  unfold(id: string, open: boolean): void;
  /** The newest change of a file in the turn that goes on: it is open. */
  readonly lastEdit: string | undefined;
  /** Ends the run. */
  readonly stop: (() => void) | undefined;
  /** Saves an answer as a file. */
  save(entry: ChatEntry): void;
  /** Hands an answer to another app, where the browser can. */
  readonly share: ((entry: ChatEntry) => void) | undefined;
  /** What is heard of a call that has no result yet. */
  live(callId: string): ToolView | undefined;
  /** The outcome of a call that needed approval. */
  asked(call: Call): AskedCommand | undefined;
  /** The card of the request that a call waits for, when it waits. */
  approval(call: Call): TemplateResult | typeof nothing;
  /** A run is under way. */
  readonly running: boolean;
  /** Says it again as it was said, with its pictures. */
  again(entry: ChatEntry): void;
  edit(entry: ChatEntry): void;
  /** Saves what it says as a prompt. */
  keep(entry: ChatEntry): void;
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
    : html`<a class="act" href=${place("trace", [runId])} aria-label=${t("Trace of this run")} title=${t("Trace of this run")}>${icon("trace", 15)}</a>`;

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

/** The files that an answer sends. */
function files({ seq }: ChatEntry, targets: readonly string[], { link, sessionKey }: RowTools): readonly TemplateResult[] {
  return targets.map(
    (target, index) => html`<oc-chat-file .link=${link} .sessionKey=${sessionKey} .seq=${seq} .index=${index} .target=${target}></oc-chat-file>`,
  );
}

/** Tokens of a turn, whole and in parts. */
function usageParts({ input, cached, output, cost }: TurnUsage): { readonly short: string; readonly whole: string; readonly cost: string } {
  const seen = input + cached;
  const whole = [t`${tokens(seen)} in`, cached > 0 ? t`${tokens(cached)} of them cached` : "", t`${tokens(output)} out`].filter(Boolean).join(", ");
  return { short: t`${tokens(seen + output)} tokens`, whole, cost: cost === undefined ? "" : money(cost) };
}

/** What failed, what to do about it, and the trace. */
function failure(error: string, runId: string | undefined, asked: SaidItem | undefined, tools: RowTools): TemplateResult {
  const { text, link } = adviceFor(error);
  return html`<div class="note bad" role="group" aria-label=${t("Error")}>
    <p class="wrapped" dir="auto">${error}</p>
    <p class="soft">${text}</p>
    <div class="row wrap">
      ${link ? html`<a class="button small" href=${link.place}>${link.words}</a>` : nothing}
      ${asked && tools.mayWrite ? html`<button class="small" @click=${() => tools.again(asked.entry)}>${icon("retry", 14)}${t("Send again")}</button>` : nothing}
      ${runId === undefined ? nothing : html`<a class="button small" href=${place("trace", [runId])}>${icon("trace", 14)}${t("Trace")}</a>`}
    </div>
  </div>`;
}

function stepCard(id: string, facts: CardFacts, pictures: () => unknown, tools: RowTools): TemplateResult {
  const unfolded = tools.isUnfolded(id) ?? (isUnfoldedAtFirst(facts) || tools.lastEdit === id);
  return card(facts, { unfolded, toggle: (open) => tools.unfold(id, open), pictures, actions: tools, stop: tools.stop });
}

/** The cards of an answer's calls. Of a turn that is folded, only those that should not be missed. */
function callCards(calls: readonly Call[], open: boolean, tools: RowTools): readonly unknown[] {
  return calls.flatMap((call) => {
    const facts = factsOf(call, tools.live(call.id), tools.running, tools.asked(call));
    const { result } = call;
    return open || isLoud(facts) ? [stepCard(call.id, facts, () => (result ? pictures(result, tools) : nothing), tools), tools.approval(call)] : [];
  });
}

const thought = (text: string, live: boolean): TemplateResult | typeof nothing =>
  text === ""
    ? nothing
    : html`<details class="thought">
        <summary>${live ? t("Reasoning…") : t("Reasoning")}</summary>
        <p class="wrapped" dir="auto">${text}</p>
      </details>`;

/** The files that came with a message. Those that are no longer stored have a name and nothing else. */
function fileCards({ files = [], seq }: ChatEntry, names: readonly string[], { link, sessionKey }: RowTools): readonly TemplateResult[] {
  if (files.length === 0) {
    return names.map(
      (name) => html`<div class="file-card"><span class="thumb">${icon("file", 18)}</span><span class="cut" dir="auto" title=${name}>${name}</span></div>`,
    );
  }
  void import("./cards/attachment.ts").catch(() => undefined);
  return files.map(
    ({ name, mimeType }, index) =>
      html`<oc-chat-attachment .link=${link} .sessionKey=${sessionKey} .seq=${seq} .index=${index} .name=${name} .mimeType=${mimeType}></oc-chat-attachment>`,
  );
}

function saidRow({ entry, text }: SaidItem, tools: RowTools): TemplateResult {
  const { words, names, notes } = withoutFileLines(text);
  const again = text !== "" || pictureIndexes(entry.content).length > 0;
  const system = entry.told === undefined ? nothing : systemRow(entry.told);
  if (!again && entry.told !== undefined) return html`${system}`;
  return html`${system}
    <div class="said" role="group" aria-label=${t`${entry.from ?? t("You")} said`}>
      ${entry.from === undefined ? nothing : html`<div class="who">${entry.from}</div>`} ${pictures(entry, tools)}
      ${words === "" ? nothing : html`<div class="bubble wrapped" dir="auto">${words}</div>`} ${fileCards(entry, names, tools)}
      ${notes.map((note) => html`<p class="faint wrapped" dir="auto">${note}</p>`)}
      ${entry.cut && words !== "" ? html`<p class="faint">${t("Too long to show in full. Copying, editing and sending again use the full text.")}</p>` : nothing}
      <div class="foot">
        <span class="acts">
          ${text === "" ? nothing : action("copy", t("Copy message"), () => tools.copyAll(entry))}
          ${again && tools.mayWrite ? [action("edit", t("Edit"), () => tools.edit(entry)), action("retry", t("Send again"), () => tools.again(entry))] : nothing}
          ${text !== "" && tools.mayWrite && tools.link.has("prompts.put") ? action("prompts", t("Save as prompt"), () => tools.keep(entry)) : nothing}
          ${traceLink(entry.runId)}
        </span>
        ${branchSwitch(entry, tools)} ${time(entry.ts)} ${entry.channel === undefined ? nothing : html`<span>${entry.channel}</span>`}
      </div>
    </div>`;
}

const STOPPED: Readonly<Record<string, string>> = { aborted: t("Stopped."), length: t("Cut off: the model reached its output limit.") };

function aloud(text: string, { link, mayWrite }: RowTools): TemplateResult | typeof nothing {
  const words = shownAnswer(text).text;
  return mayWrite && words !== "" && !isSilent(words) && link.has("talk.speak")
    ? html`<oc-aloud-button .link=${link} .text=${words}></oc-aloud-button>`
    : nothing;
}

/** The last line of an answer: when, who, how much, and where to look further. */
function answerFoot({ entry, turn }: AnswerItem, tools: RowTools): TemplateResult {
  const model = entry.model === WRITTEN_BY_GATEWAY ? "" : [entry.provider, entry.model].filter(Boolean).join("/");
  const usage = turn?.usage ? usageParts(turn.usage) : undefined;
  return html`<div class="foot">
    ${time(entry.ts)} ${model === "" ? nothing : html`<span class="cut" title=${model}>${entry.model ?? model}</span>`}
    ${usage ? html`<span title=${t`Tokens of this turn: ${usage.whole}`}>${usage.short}</span>` : nothing}
    ${usage && usage.cost !== "" ? html`<span title=${t("Cost of this turn")}>${usage.cost}</span>` : nothing}
    ${entry.runId === undefined ? nothing : html`<a href=${place("trace", [entry.runId])} title=${t("Trace of this run")}>${t("Trace")}</a>`}
    ${branchSwitch(entry, tools, true)}
  </div>`;
}

/** What can be done with an answer. */
function answerTools({ entry, text }: AnswerItem, tools: RowTools): TemplateResult | typeof nothing {
  if (shownAnswer(text).text === "") return nothing;
  const { share } = tools;
  return html`<div class="tools" role="toolbar" aria-label=${t("Message actions")}>
    ${action("copy", t("Copy answer as Markdown"), () => tools.copyAll(entry))} ${aloud(text, tools)}
    ${action("download", t("Save answer as file"), () => tools.save(entry))} ${share ? action("send", t("Share answer"), () => share(entry)) : nothing}
  </div>`;
}

function answerRow(item: AnswerItem, going: boolean, tools: RowTools): TemplateResult {
  const { entry, thinking, calls, turn, failed, work } = item;
  const { text, files: sent } = shownAnswer(item.text);
  const stopped = STOPPED[entry.stopReason ?? ""];
  const open = going || (tools.isUnfolded(work.key) ?? (work.failed || work.steps === 0));
  const head = { agent: tools.agent, going, open, toggle: () => tools.unfold(work.key, !open) };
  return html`<div class="answer" role="group" aria-label=${t("Answer")}>
    ${item.key === work.key ? turnHead(work, head) : nothing} ${open ? thought(thinking, false) : nothing}
    ${text === "" ? nothing : isSilent(text) ? html`<p class="faint">${t("Chose not to answer.")}</p>` : prose(text, tools)} ${files(entry, sent, tools)}
    ${pictures(entry, tools)} ${callCards(calls, open, tools)}
    ${entry.cut ? html`<p class="faint">${t("Too long to show in full. Copying it and saving it as a file use the full text.")}</p>` : nothing}
    ${failed === undefined ? nothing : failure(failed, entry.runId, turn?.asked, tools)}
    ${stopped === undefined ? nothing : html`<p class="faint">${stopped}</p>`}
    ${turn && !going ? [answerFoot(item, tools), answerTools(item, tools)] : branchSwitch(entry, tools)}
  </div>`;
}

const day = new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long" });
const dayInYear = new Intl.DateTimeFormat(locale, { dateStyle: "full" });
const near = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

/** `Today`, `Yesterday`, a day of this year, or of another one. */
function dayName(at: number): string {
  const start = (time: number): number => new Date(time).setHours(0, 0, 0, 0);
  const days = Math.round((start(at) - start(Date.now())) / 86_400_000);
  const name = days === 0 || days === -1 ? near.format(days, "day") : undefined;
  if (name !== undefined) return name.charAt(0).toLocaleUpperCase(locale) + name.slice(1);
  return (new Date(at).getFullYear() === new Date().getFullYear() ? day : dayInYear).format(at);
}

/** One item of the transcript. `going`: its turn goes on. */
export function itemRow(item: Item, going: boolean, tools: RowTools): TemplateResult {
  switch (item.kind) {
    case "day":
      return html`<div class="mark" role="separator"><span>${dayName(item.at)}</span></div>`;
    case "user":
      return saidRow(item, tools);
    case "answer":
      return answerRow(item, going, tools);
    case "result":
      return html`<div class="answer">${callCards([item.call], true, tools)}</div>`;
    case "compaction":
      return html`<details class="summary">
        <summary class="mark ruled"><span>${t("Earlier messages were summarised")}</span></summary>
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
    return stepCard(part.tool.toolCallId, factsOfTool(part.tool), () => nothing, tools);
  }
  const { thinking } = part;
  const { text } = shownAnswer(part.text);
  return html`${thought(thinking, last && text === "")}${text === "" || isSilent(text) ? nothing : html`<div class=${last ? "writing" : ""}>${prose(text, tools, last)}</div>`}`;
}

/** Where a run stands: the calls that the transcript shows already, what it answers, and whether its first lines are in the transcript. */
export interface RunPlace {
  readonly written: ReadonlySet<string>;
  readonly asked: SaidItem | undefined;
  readonly continues: boolean;
}

/** A run with what is not in the transcript. */
export function runRow(run: RunView, { written, asked, continues }: RunPlace, tools: RowTools): TemplateResult {
  const parts = run.parts.filter((part) => part.kind === "said" || !written.has(part.tool.toolCallId));
  const { ended } = run;
  const last = parts.at(-1);
  const busy = run.tools.some(({ state }) => state === "running");
  const quiet = ended === undefined && !busy && (last === undefined || (last.kind === "said" && (last.text === "" || isSilent(last.text))));
  return html`<div class="answer live" role="group" aria-label=${t("Answer")} aria-busy=${ended === undefined}>
    ${continues ? nothing : liveOrEnded(run, tools)} ${parts.map((part, at) => partRow(part, ended === undefined && at === parts.length - 1, tools))}
    ${quiet ? html`<p class="working soft"><span class="spinner" aria-hidden="true"></span>${run.compacting ? t("Summarising earlier messages") : t("Thinking…")}</p>` : nothing}
    ${ended?.how === "error" ? failure(ended.error ?? t("The run failed without an error message"), run.runId, asked, tools) : nothing}
    ${ended?.how === "aborted" ? html`<p class="faint">${t("Stopped.")}</p>` : nothing}
  </div>`;
}

const liveOrEnded = ({ ended, startedAt }: RunView, { agent }: RowTools): TemplateResult =>
  ended === undefined
    ? liveHead(agent, startedAt)
    : turnHead({ key: "", startedAt: 0, endedAt: 0, steps: 0, failed: false }, { agent, going: false, open: true, toggle: () => undefined });

/** A command that was given here. */
export function asideRow({ text, ts }: Aside): TemplateResult {
  return html`<div class="said" role="group" aria-label=${t("You said")}>
    <div class="bubble wrapped" dir="auto">${text}</div>
    <div class="foot">${time(ts)}</div>
  </div>`;
}

const WAITS: Readonly<Record<PendingMessage["state"], string>> = {
  unsent: t("Waiting for the connection"),
  sending: t("Sending"),
  accepted: "",
  failed: t("Not sent"),
};

/** A message that is not in the transcript yet. */
export function pendingRow(message: PendingMessage, waits: boolean, tools: RowTools): TemplateResult {
  const { runId, text, images, state, error, from, channel, ts } = message;
  const who = [from, channel].filter((word) => word !== undefined).join(" · ");
  const label = state === "accepted" && waits ? t("Queued") : WAITS[state];
  return html`<div class="said pending ${state}" role="group" aria-label=${t`${from ?? t("You")} said`}>
    ${who === "" ? nothing : html`<div class="who">${who}</div>`}
    ${images > 0 ? html`<div class="faint">${plural(images, t("attachment"), t("attachments"))}</div>` : nothing}
    ${text === "" ? nothing : html`<div class="bubble wrapped" dir="auto">${text}</div>`}
    ${state === "failed" ? html`<div class="note bad"><p class="wrapped">${error}</p></div>` : nothing}
    <div class="foot">
      ${label === "" ? time(ts) : html`<span>${label}</span>`}
      ${
        state === "failed" || state === "unsent"
          ? html`<span class="always">
              ${state === "failed" ? html`<button class="small" @click=${() => tools.resend(runId)}>${icon("retry", 14)}${t("Send again")}</button>` : nothing}
              <button class="small" @click=${() => tools.discard(runId)}>${icon("trash", 14)}${t("Discard")}</button>
            </span>`
          : nothing
      }
    </div>
  </div>`;
}
