import { html, nothing, type TemplateResult } from "lit";
import { heartbeatText, type EventPayload, type MethodResult } from "openclaw/client";
import { ago, bytes, duration, exactly, inPercent, plural, span } from "../../base/figures.ts";
import "../../parts/avatar.ts";
import "../../parts/disclosure.ts";
import { facts } from "../../parts/key-value.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import { programsOf, type Overview, type Presence } from "./overview-facts.ts";

export type Agents = MethodResult<"agents.list">;
export type Health = EventPayload<"health">;
export type Beat = EventPayload<"heartbeat">;

/** Agents, where there are several, with their conversations and heartbeats. */
export function agentsCard(agents: Agents | undefined, health: Health | undefined, beat: Beat | null | undefined): TemplateResult | typeof nothing {
  if (!agents || agents.agents.length < 2) return nothing;
  const known = new Map((health?.agents ?? []).map((agent) => [agent.agentId, agent]));
  return html`<section class="card flush" aria-labelledby="agents">
    <h2 class="title row"><span id="agents" class="grow">${t("Agents")}</span><a class="more" href=${place("agents")}>${t("All agents")}</a></h2>
    <ul class="lines">
      ${agents.agents.map(({ id, name, identity }) => {
        const agent = known.get(id);
        const wakes = agent?.heartbeat.enabled ? t`heartbeat every ${span(agent.heartbeat.every)}` : undefined;
        const details = [agent ? plural(agent.sessions.count, t("session"), t("sessions")) : undefined, wakes].filter((part) => part !== undefined).join(" · ");
        const shown = identity?.name ?? name ?? id;
        return html`<li>
          <oc-avatar .looks=${{ id, name: shown, emoji: identity?.emoji, avatar: identity?.avatar }}></oc-avatar>
          <div class="grow">
            <p class="cut"><a href=${place("agents", [id])}>${shown}</a></p>
            <p class="faint cut">${details}</p>
          </div>
          ${id === agents.defaultId ? html`<span class="badge">${t("Default")}</span>` : nothing}
        </li>`;
      })}
    </ul>
    ${beat ? html`<p class="faint empty" title=${exactly(beat.ts)}>${t`Last heartbeat, ${ago(beat.ts)}: ${heartbeatText(beat)}`}</p>` : nothing}
  </section>`;
}

const MOST_PROGRAMS = 8;

function clientsText(presence: Presence | undefined): string {
  const programs = programsOf((presence ?? []).filter(({ reason }) => reason !== "disconnect"));
  const shown = programs.slice(0, MOST_PROGRAMS).map(({ entry: { host, text, platform }, count }) => {
    const name = [host ?? text ?? t("Unknown client"), platform].filter((part) => part !== undefined && part !== "").join(", ");
    return count > 1 ? `${name} (${count})` : name;
  });
  return [...shown, ...(programs.length > shown.length ? [t`and ${programs.length - shown.length} more`] : [])].join("; ");
}

/** The process and the machine: one line, and what is behind it. */
export function systemLine({ store, disk, memory, cpu, startedAt, ts, version }: Overview, presence: Presence | undefined): TemplateResult {
  const full = disk && disk.totalBytes > 0 ? 1 - disk.freeBytes / disk.totalBytes : 0;
  const busy = cpu && ts > startedAt ? ((cpu.userMs + cpu.systemMs) / (ts - startedAt)) * 100 : undefined;
  const clients = clientsText(presence);
  const parts = [t`OpenClaw ${version}`, t`up ${duration(ts - startedAt)}`, t`${bytes(memory.rssBytes)} memory`];
  const free = disk ? html` · <span class=${full > 0.95 ? "bad" : full > 0.9 ? "warn" : ""}>${t`${bytes(disk.freeBytes)} disk space free`}</span>` : nothing;
  return html`<div class="system">
    <p class="faint">${parts.join(" · ")}${free}</p>
    <oc-disclosure label=${t("System details")}>
      ${facts([
        [t("Memory"), t`${bytes(memory.rssBytes)} (${bytes(memory.heapUsedBytes)} heap)`],
        ...(busy === undefined ? [] : [[t("Processor"), t`${inPercent(busy)} of a core`] as const]),
        [t("Store"), `${plural(store.sessions, t("session"), t("sessions"))}${store.bytes === undefined ? "" : `, ${bytes(store.bytes)}`}`],
        ...(clients === "" ? [] : [[t("Connected clients"), clients] as const]),
      ])}
      <p><a href=${place("devices")}>${t("Devices")}</a></p>
    </oc-disclosure>
  </div>`;
}
