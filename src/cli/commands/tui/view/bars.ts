import { formatDuration } from "../../../../base/text.ts";
import { cleanLine } from "../text/clean.ts";
import { DIM, span, type Line, type Style } from "../text/line.ts";
import { fit, textWidth } from "../text/width.ts";
import { agentOf, isBusy, shortKey } from "../state/session.ts";
import type { State } from "../state/state.ts";

const WARN: Style = { colour: "yellow" };
const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];
const SPIN_MS = 125;

function agentName(state: State): string {
  const id = agentOf(state);
  const name = state.agents.find((agent) => agent.id === id)?.name;
  return cleanLine(name === undefined || name === id ? id : `${name} (${id})`);
}

/** Where one is: gateway, agent, session. */
export function headerLine(state: State, columns: number): Line {
  const text = ` openclaw tui · ${cleanLine(state.url)} · agent ${agentName(state)} · session ${cleanLine(shortKey(state.sessionKey))}`;
  const shown = fit(text, columns);
  return [span(shown + " ".repeat(Math.max(0, columns - textWidth(shown))), { inverse: true })];
}

function activity(state: State): string {
  const run = state.runs.find(({ outcome }) => !outcome);
  if (state.aborting) return "stopping";
  if (state.shell.running !== undefined) return `running ${cleanLine(state.shell.running)}`;
  if (!run) return state.sent.some((one) => one.state === "sending" && one.sessionKey === state.sessionKey) ? "sending" : "waiting for the reply";
  if (run.compacting) return "compacting history";
  const last = run.segments.at(-1);
  if (last?.kind === "tool" && last.status === "running") return `running ${cleanLine(last.name)}`;
  if (last?.kind === "thinking") return "reasoning";
  return last?.kind === "text" ? "answering" : "waiting for the model";
}

function since(state: State, now: number): number {
  const run = state.runs.find(({ outcome }) => !outcome);
  const sent = state.sent.find((one) => one.sessionKey === state.sessionKey && one.ended === undefined && one.state !== "failed");
  return Math.max(0, now + state.skew - Math.min(run?.startedAt ?? Infinity, sent?.at ?? Infinity));
}

/** What is going on. */
export function statusLine(state: State, now: number, unseen: number): Line {
  const { link } = state;
  const parts: Line[] = [];
  if (link.kind === "connecting") parts.push([span("connecting …", WARN)]);
  if (link.kind === "lost") {
    const wait = Math.max(0, Math.ceil((link.retryAt - now) / 1000));
    parts.push([span(`Disconnected, reconnecting ${wait > 0 ? `in ${wait} s` : "now"}: ${cleanLine(link.why)}`, WARN)]);
  } else if (isBusy(state) || state.shell.running !== undefined) {
    const took = isBusy(state) ? since(state, now) : 0;
    const spin = SPINNER[Math.floor(now / SPIN_MS) % SPINNER.length] ?? "";
    parts.push([span(`${spin} ${activity(state)}`, { colour: "green" }), span(`${took >= 1000 ? ` ${formatDuration(took)}` : ""} · Esc stops`, DIM)]);
  } else if (link.kind === "open")
    parts.push([span(state.armedAt === undefined ? "ready" : "Press Ctrl+C again to exit", state.armedAt === undefined ? DIM : WARN)]);
  if (state.approvals.length > 0)
    parts.push([span(`${state.approvals.length} pending ${state.approvals.length === 1 ? "approval" : "approvals"} (Tab)`, { ...WARN, bold: true })]);
  if (unseen > 0) parts.push([span(`${unseen} new lines below (Ctrl+End)`, DIM)]);
  return parts.flatMap((part, index) => (index === 0 ? part : [span(" · ", DIM), ...part]));
}

function tokens(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

const CONNECTION: Readonly<Record<State["link"]["kind"], string>> = { connecting: "connecting", open: "connected", lost: "disconnected" };

/** The session at a glance. Where it does not fit, what says least goes first. */
export function footerLine(state: State, columns: number): Line {
  const { facts, preferences, link } = state;
  const { model, provider, thinking, verbose, reasoning, totalTokens, contextTokens } = facts;
  const used = totalTokens === undefined ? "–" : tokens(totalTokens);
  const share = totalTokens !== undefined && contextTokens ? `/${tokens(contextTokens)} (${Math.round((totalTokens / contextTokens) * 100)}%)` : "";
  const level = (name: string, value: string | undefined, usual: string) => ({
    text: `${name} ${value ?? usual}`,
    weight: value === undefined || value === usual ? 1 : 4,
  });
  let parts = [
    { text: CONNECTION[link.kind], weight: 9 },
    { text: `agent ${agentOf(state)}`, weight: 2 },
    { text: `session ${shortKey(state.sessionKey)}`, weight: 3 },
    { text: model === undefined ? "default model" : [provider, model].filter(Boolean).join("/"), weight: 8 },
    level("think", preferences.thinking ?? thinking, "default"),
    level("verbose", verbose, "off"),
    level("reasoning", reasoning, "off"),
    { text: `tokens ${used}${share}`, weight: 7 },
    level("deliver", preferences.deliver ? "on" : "off", "off"),
  ].map(({ text, weight }) => ({ text: cleanLine(text), weight }));
  const width = (): number => parts.reduce((sum, { text }) => sum + textWidth(text) + 3, -3);
  for (let weight = 1; width() > columns && parts.length > 1; weight += 1) parts = parts.filter((part) => part.weight > weight || part.weight === 9);
  return [span(parts.map(({ text }) => text).join(" · "), DIM)];
}
