import type { CommandInfo } from "./state.ts";

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"];

const own = (name: string, description: string, choices: readonly string[] = []): CommandInfo => ({ name, description, choices });

/** Commands that this terminal answers itself. */
export const OWN_COMMANDS: readonly CommandInfo[] = [
  own("help", "keys and commands"),
  own("agent", "talk to another agent: /agent <id>"),
  own("agents", "choose an agent"),
  own("session", "go to a session: /session <key>"),
  own("sessions", "choose a session"),
  own("model", "use a model: /model <provider/model>"),
  own("models", "choose a model"),
  own("think", "how long the model thinks", LEVELS),
  own("verbose", "how much tool activity is shown", ["off", "on", "full"]),
  own("reasoning", "whether reasoning is shown", ["off", "on", "stream"]),
  own("usage", "tokens under each answer", ["off", "tokens", "full"]),
  own("elevated", "whether commands leave the sandbox", ["off", "on", "ask", "full"]),
  own("elev", "the same as /elevated", ["off", "on", "ask", "full"]),
  own("activation", "when the agent answers in a group", ["mention", "always"]),
  own("deliver", "whether answers also go to the session's chat", ["on", "off"]),
  own("new", "begin a new conversation"),
  own("reset", "reset this conversation"),
  own("abort", "stop the run"),
  own("subagents", "sub-agents: look at them, open, steer or stop one"),
  own("jobs", "scheduled jobs: next runs, history, run or disable one"),
  own("heartbeat", "how the last heartbeat went, and why it did nothing"),
  own("settings", "what is shown, and how"),
  own("exit", "leave"),
  own("quit", "leave"),
];

/** The gateway's, for gateways that cannot list them. */
export const GATEWAY_COMMANDS: readonly CommandInfo[] = [
  own("status", "the session at a glance"),
  own("commands", "all commands of the gateway"),
  own("whoami", "who the gateway takes you for"),
  own("context", "what is in the context window"),
  own("compact", "sum up the conversation"),
  own("stop", "stop the run"),
  own("queue", "what becomes of messages during a run", ["collect", "followup", "steer", "steer-backlog", "interrupt"]),
  own("send", "whether answers are sent", ["on", "off", "inherit"]),
  own("approve", "decide about a command: /approve <id> allow-once"),
  own("exec", "where commands run"),
  own("skill", "use a skill: /skill <name>"),
  own("restart", "restart the gateway"),
];

/** All of them by name, ours first. */
export function mergeCommands(theirs: readonly CommandInfo[]): readonly CommandInfo[] {
  const names = new Set(OWN_COMMANDS.map(({ name }) => name));
  return [...OWN_COMMANDS, ...theirs.filter(({ name }) => !names.has(name))].sort((a, b) => a.name.localeCompare(b.name));
}

export const HELP = `Keys
Enter sends · Alt+Enter, Shift+Enter or Ctrl+J begins a line · Up and Down recall what was said · Tab completes
Esc stops the run · Ctrl+C clears the input, twice leaves · Ctrl+D leaves · Ctrl+Z suspends
Ctrl+L models · Ctrl+G agents · Ctrl+P sessions · Ctrl+O tool output · Ctrl+T reasoning
PgUp and PgDn scroll, Ctrl+End goes to the newest · Tab on an empty input answers a question about a command
!command runs on this machine, after you allowed it once

Commands
/agent /agents /session /sessions /model /models /think /verbose /reasoning /usage /elevated /activation /deliver
/new /reset /abort /subagents /jobs /heartbeat /settings /exit — every other /command goes to the gateway (/commands lists them)`;
