import { html, nothing, type TemplateResult } from "lit";
import { heartbeatText, type EventPayload, type MethodResult } from "openclaw/client";
import { ago, bytes, duration, exactly, plural } from "../../base/figures.ts";
import { icon, type IconName } from "../../look/icons.ts";
import "../../parts/avatar.ts";
import { place } from "../../shell/router.ts";
import { pageOf, programsOf, type ChannelLine, type Overview, type Presence } from "./overview-facts.ts";

export type Agents = MethodResult<"agents.list">;
export type Health = EventPayload<"health">;
export type Beat = EventPayload<"heartbeat">;

/** Someone or something that waits for a person. */
export interface Request {
  readonly icon: IconName;
  readonly title: string;
  readonly detail: string;
  readonly href: string;
  readonly action: string;
}

/** A problem's own page: how the run went, else where it can be fixed. */
function problemAction({ why, page }: Overview["problems"][number]): TemplateResult | typeof nothing {
  if (why !== undefined) return html`<a class="button" href=${place("trace", [why])}>Trace</a>`;
  const target = pageOf(page);
  return target === undefined ? nothing : html`<a class="button" href=${place(target)}>View</a>`;
}

const MOST_PROBLEMS = 12;

/** What waits for a person: requests, then problems with what to do about them. */
export function attentionCard({ problems, ts }: Overview, requests: readonly Request[]): TemplateResult {
  const count = problems.length + requests.length;
  return html`<section class="card flush" aria-labelledby="attention">
    <h2 id="attention" class="title row">Needs attention${count === 0 ? nothing : html`<span class="badge">${count}</span>`}</h2>
    ${count === 0 ? html`<p class="soft empty">Nothing needs attention</p>` : nothing}
    <ul class="lines">
      ${requests.map(
        (request) =>
          html`<li>
            <span class="mark warn">${icon(request.icon, 16)}</span>
            <div class="grow">
              <p class="strong cut">${request.title}</p>
              <p class="faint cut">${request.detail}</p>
            </div>
            <a class="button" href=${request.href}>${request.action}</a>
          </li>`,
      )}
      ${problems.slice(0, MOST_PROBLEMS).map(
        (problem) =>
          html`<li class="problem">
            <span class="mark ${problem.level === "error" ? "bad" : "warn"}" title=${problem.level === "error" ? "Error" : "Warning"}>${icon("warn", 16)}</span>
            <div class="grow">
              <p>${problem.text}</p>
              ${problem.todo === undefined ? nothing : html`<p class="soft">${problem.todo}</p>`}
              <p class="faint" title=${exactly(problem.at)}>${ago(problem.at, ts)}${problem.count > 1 ? `, ${problem.count} times` : ""}</p>
            </div>
            ${problemAction(problem)}
          </li>`,
      )}
    </ul>
  </section>`;
}

/** Runs in progress and queued messages. */
export function activityCard({ runs, queues, ts }: Overview, stop: ((sessionKey: string, runId: string) => void) | undefined): TemplateResult {
  return html`<section class="card flush" aria-labelledby="runs">
    <h2 id="runs" class="title row"><span class="grow">Activity</span><a class="more" href=${place("trace")}>All runs</a></h2>
    ${
      runs.length === 0 && queues.length === 0
        ? html`<p class="soft empty">Idle</p>`
        : html`<ul class="lines">
            ${runs.map(
              ({ runId, sessionKey, name = sessionKey, startedAt, doing, model, channel }) =>
                html`<li>
                  <span class="pulse" role="presentation"></span>
                  <div class="grow">
                    <p class="cut"><a href=${place("chat", [sessionKey])} title=${sessionKey}>${name}</a></p>
                    <p class="faint cut">${[doing, model, channel].filter((part) => part !== undefined).join(" · ")}</p>
                  </div>
                  <span class="num side">${duration(Math.max(0, ts - startedAt))}</span>
                  <a class="button" href=${place("trace", [runId])} aria-label="Trace of this run">${icon("trace", 15)}</a>
                  ${stop ? html`<button @click=${() => stop(sessionKey, runId)} aria-label="Stop the run of ${name}">${icon("stop", 15)} Stop</button>` : nothing}
                </li>`,
            )}
            ${queues.map(
              ({ sessionKey, name = sessionKey, waiting, oldestAt }) =>
                html`<li>
                  <span class="badge">${waiting} queued</span>
                  <p class="grow cut"><a href=${place("chat", [sessionKey])} title=${sessionKey}>${name}</a></p>
                  <span class="faint side">for ${duration(Math.max(0, ts - oldestAt))}</span>
                </li>`,
            )}
          </ul>`
    }
  </section>`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

interface HealthLine {
  readonly name: string;
  readonly href: string;
  readonly detail: string | TemplateResult;
  readonly state: string;
  readonly level: ChannelLine["level"];
  readonly error?: string | undefined;
}

const healthLine = ({ name, href, detail, state, level, error }: HealthLine): TemplateResult =>
  html`<li>
    <div class="grow">
      <p class="cut"><a class="quiet" href=${href}>${name}</a> <span class="faint">${detail}</span></p>
      ${error === undefined ? nothing : html`<p class="wrong">${error}</p>`}
    </div>
    <span class="state"><span class="dot ${level}" role="presentation"></span>${capital(state)}</span>
  </li>`;

/** The gateway, the model and every channel, with their state. */
export function healthCard(overview: Overview, channels: readonly ChannelLine[] | undefined): TemplateResult {
  const { answering, startedAt, ts } = overview;
  const model: HealthLine = {
    name: answering.offline ? "Built-in offline model" : (answering.model ?? "Model"),
    href: place(answering.offline ? "start" : "config"),
    detail: answering.offline ? "Add a model for real answers" : html`<span title=${answering.why}>${answering.why}</span>`,
    state: answering.model === null ? "Missing" : "Ready",
    level: answering.model === null ? "bad" : "good",
  };
  return html`<section class="card flush" aria-labelledby="health">
    <h2 id="health" class="title row"><span class="grow">Health</span><a class="more" href=${place("channels")}>Channels</a></h2>
    <ul class="lines">
      ${healthLine({ name: "Gateway", href: place("logs"), detail: `up ${duration(ts - startedAt)}`, state: "Running", level: "good" })} ${healthLine(model)}
      ${(channels ?? []).map(({ name, state, level, error, lastAt }) =>
        healthLine({ name, href: place("channels"), detail: lastAt === undefined ? "" : `last message ${ago(lastAt)}`, state, level, error }),
      )}
      ${
        channels?.length === 0
          ? html`<li>
              <p class="soft grow">No channels yet. <a href=${place("channels")}>Connect a channel</a> to chat from your phone.</p>
            </li>`
          : nothing
      }
    </ul>
  </section>`;
}

export function agentsCard(agents: Agents | undefined, health: Health | undefined, beat: Beat | null | undefined): TemplateResult {
  const facts = new Map((health?.agents ?? []).map((agent) => [agent.agentId, agent]));
  return html`<section class="card flush" aria-labelledby="agents">
    <h2 id="agents" class="title row"><span class="grow">Agents</span><a class="more" href=${place("agents")}>All agents</a></h2>
    <ul class="lines">
      ${(agents?.agents ?? []).map(({ id, name, identity }) => {
        const known = facts.get(id);
        const wakes = known?.heartbeat.enabled ? `wakes every ${known.heartbeat.every}` : undefined;
        const details = [known ? plural(known.sessions.count, "session") : undefined, wakes].filter((part) => part !== undefined).join(" · ");
        const shown = identity?.name ?? name ?? id;
        return html`<li>
          <oc-avatar .looks=${{ id, name: shown, emoji: identity?.emoji, avatar: identity?.avatar }}></oc-avatar>
          <div class="grow">
            <p class="cut"><a href=${place("agents", [id])}>${shown}</a></p>
            <p class="faint cut">${details}</p>
          </div>
          ${id === agents?.defaultId ? html`<span class="badge">default</span>` : nothing}
        </li>`;
      })}
    </ul>
    ${beat ? html`<p class="faint empty" title=${exactly(beat.ts)}>Last heartbeat, ${ago(beat.ts)}: ${heartbeatText(beat)}</p>` : nothing}
  </section>`;
}

export function presenceCard(presence: Presence | undefined): TemplateResult {
  const programs = programsOf(presence ?? []);
  const shown = programs.slice(0, 8);
  return html`<section class="card flush" aria-labelledby="presence">
    <h2 id="presence" class="title row"><span class="grow">Connected</span><a class="more" href=${place("devices")}>Devices</a></h2>
    <ul class="lines">
      ${shown.map(
        ({ entry: { host, mode, platform, version, ts, text, reason }, count }) =>
          html`<li>
            <div class="grow">
              <p class="cut">${host ?? text ?? "Unknown client"}${count > 1 ? html` <span class="soft">(${count})</span>` : nothing}</p>
              <p class="faint cut">${[mode, platform, version].filter((part) => part !== undefined && part !== "").join(" · ")}</p>
            </div>
            <span class="faint side" title=${exactly(ts)}>${reason === "disconnect" ? "left " : ""}${ago(ts)}</span>
          </li>`,
      )}
    </ul>
    ${programs.length > shown.length ? html`<p class="faint empty">and ${programs.length - shown.length} more</p>` : nothing}
  </section>`;
}

/** The process and the machine, in one line. */
export function systemLine({ store, disk, memory, cpu, startedAt, ts, version }: Overview): TemplateResult {
  const full = disk && disk.totalBytes > 0 ? 1 - disk.freeBytes / disk.totalBytes : 0;
  const busy = cpu && ts > startedAt ? ((cpu.userMs + cpu.systemMs) / (ts - startedAt)) * 100 : undefined;
  const parts = [
    `OpenClaw ${version}`,
    `${bytes(memory.rssBytes)} memory (${bytes(memory.heapUsedBytes)} heap)`,
    busy === undefined ? undefined : `${busy.toFixed(1)} % of a core`,
    `${plural(store.sessions, "session")}${store.bytes === undefined ? "" : `, ${bytes(store.bytes)} stored`}`,
  ].filter((part) => part !== undefined);
  const free = disk ? html` · <span class=${full > 0.95 ? "bad" : full > 0.9 ? "warn" : ""}>${bytes(disk.freeBytes)} disk space free</span>` : nothing;
  return html`<p class="faint system">${parts.join(" · ")}${free}</p>`;
}
