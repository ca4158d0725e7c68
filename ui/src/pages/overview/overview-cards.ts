import { html, nothing, type TemplateResult } from "lit";
import { heartbeatText, type EventPayload, type MethodResult } from "openclaw/client";
import { ago, bytes, duration, exactly, plural } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import "../../parts/avatar.ts";
import { place } from "../../shell/router.ts";
import { pageOf, programsOf, type ChannelLine, type Overview, type Presence } from "./overview-facts.ts";

export type Agents = MethodResult<"agents.list">;
export type Health = EventPayload<"health">;
export type Beat = EventPayload<"heartbeat">;

/** What to do about what is wrong. */
export function problemsCard({ problems, ts }: Overview): TemplateResult | typeof nothing {
  if (problems.length === 0) return nothing;
  return html`<section class="card flush wide" aria-labelledby="problems">
    <h2 id="problems" class="title">Recent problems</h2>
    <ul class="lines">
      ${problems.slice(0, 12).map(
        ({ at, level, text, todo, count, why, page }) =>
          html`<li class="problem">
            <span class="badge ${level === "error" ? "bad" : "warn"}">${level === "error" ? "error" : "warning"}</span>
            <div class="grow">
              <p>${text}</p>
              ${todo === undefined ? nothing : html`<p class="soft">${todo}</p>`}
            </div>
            <span class="faint side" title=${exactly(at)}>${ago(at, ts)}${count > 1 ? html`<br />${count} times` : nothing}</span>
            ${
              why === undefined
                ? pageOf(page) === undefined
                  ? nothing
                  : html`<a class="button" href=${place(pageOf(page)!)}>Look</a>`
                : html`<a class="button" href=${place("trace", [why])}>${icon("trace", 15)} Trace</a>`
            }
          </li>`,
      )}
    </ul>
  </section>`;
}

/** What runs and what waits. */
export function runsCard({ runs, queues, ts }: Overview, stop: ((sessionKey: string, runId: string) => void) | undefined): TemplateResult {
  return html`<section class="card flush wide" aria-labelledby="runs">
    <h2 id="runs" class="title">Under way</h2>
    ${
      runs.length === 0 && queues.length === 0
        ? html`<p class="soft empty">Nothing runs and nothing waits. <a href=${place("trace")}>Recent runs</a></p>`
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
                  <span class="badge">${waiting} wait</span>
                  <p class="grow cut"><a href=${place("chat", [sessionKey])} title=${sessionKey}>${name}</a></p>
                  <span class="faint side">for ${duration(Math.max(0, ts - oldestAt))}</span>
                </li>`,
            )}
          </ul>`
    }
  </section>`;
}

export function channelsCard(lines: readonly ChannelLine[] | undefined): TemplateResult {
  return html`<section class="card flush" aria-labelledby="channels">
    <h2 id="channels" class="title row"><span class="grow">Channels</span><a class="more" href=${place("channels")}>All channels</a></h2>
    ${
      lines === undefined
        ? nothing
        : lines.length === 0
          ? html`<p class="soft empty">No channel yet. <a href=${place("channels")}>Connect one</a>, and messages of a messenger are answered too.</p>`
          : html`<ul class="lines">
              ${lines.map(
                ({ name, state, level, error, lastAt }) =>
                  html`<li>
                    <div class="grow">
                      <p class="cut">${name}</p>
                      ${error === undefined ? nothing : html`<p class="wrong">${error}</p>`}
                      ${error !== undefined || lastAt === undefined ? nothing : html`<p class="faint">last message ${ago(lastAt)}</p>`}
                    </div>
                    <span class="badge ${level}">${state}</span>
                  </li>`,
              )}
            </ul>`
    }
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
              <p class="cut">${host ?? text ?? "a program"}${count > 1 ? html` <span class="soft">(${count})</span>` : nothing}</p>
              <p class="faint cut">${[mode, platform, version].filter((part) => part !== undefined && part !== "").join(" · ")}</p>
            </div>
            <span class="faint side" title=${exactly(ts)}>${reason === "disconnect" ? "left " : ""}${ago(ts)}</span>
          </li>`,
      )}
    </ul>
    ${programs.length > shown.length ? html`<p class="faint empty">and ${programs.length - shown.length} more</p>` : nothing}
  </section>`;
}

const tile = (name: string, value: string | TemplateResult, more: string | TemplateResult = "", level = ""): TemplateResult =>
  html`<div class="tile ${level}">
    <dt>${name}</dt>
    <dd>${value}</dd>
    <dd class="faint">${more}</dd>
  </div>`;

/** The machine, the store and the model, one figure each. */
export function tiles(overview: Overview, healthMs: number | undefined): TemplateResult {
  const { answering, store, disk, memory, cpu, startedAt, ts, version } = overview;
  const full = disk && disk.totalBytes > 0 ? 1 - disk.freeBytes / disk.totalBytes : 0;
  const busy = cpu && ts > startedAt ? ((cpu.userMs + cpu.systemMs) / (ts - startedAt)) * 100 : undefined;
  return html`<dl class="tiles">
    ${tile("Answers", answering.model ?? "no model", html`<span title=${answering.why}>${answering.offline ? html`built in, offline. <a href=${place("start")}>Add a model</a>` : answering.why}</span>`, answering.model === null ? "bad" : "")}
    ${tile("Up for", duration(ts - startedAt), `version ${version}${healthMs === undefined ? "" : `, looked at in ${duration(healthMs)}`}`)}
    ${tile("Memory", bytes(memory.rssBytes), `${bytes(memory.heapUsedBytes)} heap${busy === undefined ? "" : `, ${busy.toFixed(1)} % of a core`}`)}
    ${disk ? tile("Disk free", bytes(disk.freeBytes), `${Math.round(full * 100)} % of ${bytes(disk.totalBytes)} in use`, full > 0.95 ? "bad" : full > 0.9 ? "warn" : "") : nothing}
    ${tile("Store", store.bytes === undefined ? store.engine : bytes(store.bytes), `${plural(store.sessions, "session")}${store.walBytes === undefined ? "" : `, log ${bytes(store.walBytes)}`}`)}
  </dl>`;
}
