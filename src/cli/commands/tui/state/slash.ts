import { nearest } from "../../../../base/text.ts";
import { HELP } from "./own-commands.ts";
import { editorWith } from "./editor.ts";
import { openPicker, type JobAction, type Picker, type PickerItem, type SubagentAction } from "./picker.ts";
import { sendMessage, runShell } from "./sending.ts";
import { agentOf, entered, keyFor, noted, shortKey } from "./session.ts";
import { and, only, type Context, type Next, type State } from "./state.ts";

const FIELDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    model: "model",
    think: "thinkingLevel",
    verbose: "verboseLevel",
    reasoning: "reasoningLevel",
    usage: "responseUsage",
    elevated: "elevatedLevel",
    elev: "elevatedLevel",
    activation: "groupActivation",
  }),
);

const onOff = (on: boolean): string => (on ? "on" : "off");

function settingsItems({ show, preferences, mouse }: State): readonly PickerItem[] {
  return [
    { value: "tools", label: "tool output", detail: show.tools ? "whole" : "folded" },
    { value: "thinking", label: "reasoning", detail: show.thinking ? "shown" : "hidden" },
    { value: "deliver", label: "deliver replies to the chat", detail: onOff(preferences.deliver) },
    { value: "mouse", label: "mouse wheel scrolls", detail: onOff(mouse) },
  ];
}

/** Opens a list whose items have to be asked for. */
export function opened(state: State, kind: "models" | "agents" | "sessions" | "subagents" | "jobs"): Next {
  const { provider, model } = state.facts;
  const current = {
    models: provider && model ? `${provider}/${model}` : undefined,
    agents: agentOf(state),
    sessions: state.sessionKey,
    subagents: state.sessionKey,
    jobs: undefined,
  }[kind];
  const title = kind === "subagents" ? "sub-agents" : kind;
  return and({ ...state, picker: openPicker(kind, title, { current }), completion: undefined }, { kind: "pick", what: kind });
}

function toAgent(state: State, id: string): Next {
  return entered(state, keyFor("main", { ...state.naming }, id) ?? state.sessionKey);
}

function set(state: State, name: string, field: string, value: string, context: Context): Next {
  if (value !== "") return and(state, { kind: "patch", sessionKey: state.sessionKey, field, value: value === "default" ? null : value });
  if (name === "model") return opened(state, "models");
  const { thinking, verbose, reasoning, usage } = state.facts;
  const now = { think: thinking, verbose, reasoning, usage }[name] ?? "not set";
  const choices = state.commands.find((command) => command.name === name)?.choices.join(", ") ?? "";
  return only(noted(state, context.now, `${name} is ${now}; one of ${choices}, or default`));
}

function toSession(state: State, written: string, context: Context): Next {
  if (written === "") return opened(state, "sessions");
  const key = keyFor(written, state.naming, agentOf(state));
  if (key === undefined) return only(noted(state, context.now, `"${written}" is not a session; expected main, a name, or agent:<id>:<name>`, "error"));
  const next = entered(state, key);
  return { ...next, state: noted(next.state, context.now, `session ${shortKey(key)} of agent ${agentOf(next.state)}`) };
}

function delivered(state: State, value: string, context: Context): Next {
  const deliver = value === "" ? !state.preferences.deliver : value === "on";
  return only(noted({ ...state, preferences: { ...state.preferences, deliver } }, context.now, `deliver ${onOff(deliver)}`));
}

const STEERED = /^steer\s+(agent:\S+:subagent:\S+)\s+(\S[\s\S]*)$/;

/** Without more the list; steering one by its session works for any of them. The rest is the gateway's, about children of this session. */
function subagents(state: State, argument: string, context: Context): Next {
  const isThere = state.methods.has("subagents.list");
  if (argument === "" && isThere) return opened(state, "subagents");
  const [, sessionKey, message] = (isThere ? STEERED.exec(argument) : undefined) ?? [];
  if (sessionKey !== undefined && message !== undefined) return and(state, { kind: "steer-subagent", sessionKey, message, key: context.newId() });
  return sendMessage(state, `/subagents ${argument}`.trim(), context);
}

const ACTIONS: Readonly<Record<SubagentAction | JobAction, Omit<PickerItem, "value">>> = {
  run: { label: "run now", detail: "and show the result" },
  history: { label: "history", detail: "run history" },
  enable: { label: "enable", detail: "turn the schedule on" },
  disable: { label: "disable", detail: "turn the schedule off" },
  open: { label: "open", detail: "open its session" },
  steer: { label: "steer", detail: "interrupt it with a message" },
  stop: { label: "stop", detail: "with everything it started; no result is reported" },
};

/** Asks what to do with a sub-agent or a job. */
function aboutItem(state: State, kind: "subagent" | "job", { value, label, actions = [] }: PickerItem): Next {
  const items = actions.map((action): PickerItem => ({ value: action, ...ACTIONS[action] }));
  return only({ ...state, picker: openPicker(kind, label, { items, subject: value }) });
}

const JOB_ACTIONS: readonly JobAction[] = ["run", "history", "enable", "disable"];

function actOnJob(state: State, { subject: id, title: name }: Picker, chosen: string, context: Context): Next {
  const action = JOB_ACTIONS.find((one) => one === chosen);
  if (action === undefined || id === undefined) return only(state);
  const next = action === "run" ? noted(state, context.now, `Started ${name}`) : state;
  return and(next, { kind: "job", action, id, name, key: context.newId() });
}

function jobs(state: State, _argument: string, { now }: Context): Next {
  return state.methods.has("cron.list") ? opened(state, "jobs") : only(noted(state, now, "This gateway does not list jobs", "error"));
}

function actOn(state: State, sessionKey: string, action: string, context: Context): Next {
  if (action === "open") return entered(state, sessionKey);
  if (action === "stop") return and(state, { kind: "stop-subagent", sessionKey, key: context.newId() });
  return only({ ...state, editor: editorWith(`/subagents steer ${sessionKey} `), completion: undefined });
}

type Answer = (state: State, argument: string, context: Context) => Next;

const ANSWERS: Readonly<Record<string, Answer>> = {
  help: (state, _argument, { now }) => only(noted(state, now, HELP)),
  agent: (state, argument) => (argument === "" ? opened(state, "agents") : toAgent(state, argument)),
  agents: (state) => opened(state, "agents"),
  session: toSession,
  sessions: (state) => opened(state, "sessions"),
  models: (state) => opened(state, "models"),
  subagents,
  jobs,
  heartbeat: (state) => and(state, { kind: "heartbeat" }),
  deliver: delivered,
  abort: (state) => and({ ...state, aborting: true }, { kind: "abort", sessionKey: state.sessionKey }),
  settings: (state) => only({ ...state, picker: openPicker("settings", "settings", { items: settingsItems(state) }) }),
  exit: (state) => and({ ...state, leaving: true }, { kind: "exit" }),
  quit: (state) => and({ ...state, leaving: true }, { kind: "exit" }),
};

/** A misspelt command: what to write instead. Undefined for known ones, for texts such as /etc/hosts, and for names that resemble no command: the gateway answers those. */
function suggestion(state: State, name: string): string | undefined {
  if (!/^[a-z][\w-]*$/.test(name) || !state.methods.has("commands.list")) return undefined;
  const known = state.commands.flatMap((command) => [command.name, ...(command.aliases ?? [])]);
  const close = known.includes(name) ? undefined : nearest(name, known);
  return close === undefined ? undefined : `Unknown command /${name}. Did you mean /${close}?`;
}

/** Answers a command of our own; the gateway gets every other that it knows. */
export function runSlash(state: State, text: string, context: Context): Next {
  const [, name = "", rest = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  const command = name.toLowerCase();
  const argument = rest.trim();
  const answer = Object.hasOwn(ANSWERS, command) ? ANSWERS[command] : undefined;
  if (answer) return answer(state, argument, context);
  const field = FIELDS.get(command);
  if (field !== undefined) return set(state, command, field, argument, context);
  // With more behind it the gateway reads it: a model, a first message.
  if ((command === "new" || command === "reset") && argument === "") return and(state, { kind: "reset", sessionKey: state.sessionKey, reason: command });
  const unknown = state.refused === text ? undefined : suggestion(state, command);
  if (unknown === undefined) return sendMessage({ ...state, refused: undefined }, text, context);
  return only(noted({ ...state, editor: editorWith(text), refused: text }, context.now, unknown, "error"));
}

function setting(state: State, value: string): Next {
  const { show, preferences, mouse } = state;
  const changed: State = {
    ...state,
    show: { tools: value === "tools" ? !show.tools : show.tools, thinking: value === "thinking" ? !show.thinking : show.thinking },
    preferences: { ...preferences, deliver: value === "deliver" ? !preferences.deliver : preferences.deliver },
    mouse: value === "mouse" ? !mouse : mouse,
  };
  const picker = state.picker && { ...state.picker, items: settingsItems(changed) };
  return and({ ...changed, picker }, ...(value === "mouse" ? [{ kind: "mouse" as const, on: changed.mouse }] : []));
}

/** Something was chosen from a list. */
export function chosen(state: State, item: PickerItem, context: Context): Next {
  const { picker } = state;
  if (!picker) return only(state);
  if (picker.kind === "settings") return setting(state, item.value);
  if (picker.kind === "subagents") return aboutItem(state, "subagent", item);
  if (picker.kind === "jobs") return aboutItem(state, "job", item);
  const closed: State = { ...state, picker: undefined };
  if (picker.kind === "job") return actOnJob(closed, picker, item.value, context);
  if (picker.kind === "subagent") return actOn(closed, picker.subject ?? "", item.value, context);
  if (picker.kind === "agents") return toAgent(closed, item.value);
  if (picker.kind === "sessions") return entered(closed, item.value);
  if (picker.kind === "models") return and(closed, { kind: "patch", sessionKey: state.sessionKey, field: "model", value: item.value });
  if (item.value !== "yes" || picker.command === undefined) return only(closed);
  return runShell({ ...closed, shell: { ...closed.shell, allowed: true } }, picker.command);
}
