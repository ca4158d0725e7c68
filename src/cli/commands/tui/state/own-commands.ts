import type { CommandInfo } from "./state.ts";

const LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"];

const own = (name: string, description: string, choices: readonly string[] = []): CommandInfo => ({ name, description, choices });

/** Commands that this terminal answers itself. */
export const OWN_COMMANDS: readonly CommandInfo[] = [
  own("help", "Show keys and commands"),
  own("agent", "Switch agent: /agent <id>"),
  own("agents", "Select an agent"),
  own("session", "Switch session: /session <key>"),
  own("sessions", "Select a session"),
  own("model", "Switch model: /model <provider/model>"),
  own("models", "Select a model"),
  own("think", "Set the thinking level", LEVELS),
  own("verbose", "Show tool activity in chats", ["off", "on", "full"]),
  own("reasoning", "Show reasoning", ["off", "on", "stream"]),
  own("usage", "Show token usage under replies", ["off", "tokens", "full"]),
  own("elevated", "Run commands outside the sandbox", ["off", "on", "ask", "full"]),
  own("elev", "Same as /elevated", ["off", "on", "ask", "full"]),
  own("activation", "When to reply in groups", ["mention", "always"]),
  own("deliver", "Also deliver replies to the session's chat", ["on", "off"]),
  own("new", "New chat"),
  own("reset", "Reset this chat"),
  own("abort", "Stop the run"),
  own("subagents", "Show, open, steer or stop sub-agents"),
  own("jobs", "Show, run or disable scheduled jobs"),
  own("heartbeat", "Show the last heartbeat"),
  own("settings", "Display settings"),
  own("exit", "Exit"),
  own("quit", "Exit"),
];

/** The gateway's, for gateways that cannot list them. */
export const GATEWAY_COMMANDS: readonly CommandInfo[] = [
  own("status", "Show the session status"),
  own("commands", "List all commands"),
  own("whoami", "Show your sender id"),
  own("context", "Show the context window"),
  own("compact", "Compact history"),
  own("stop", "Stop the run"),
  own("queue", "How to queue messages during a run", ["collect", "followup", "steer", "steer-backlog", "interrupt"]),
  own("send", "Turn sending replies on or off", ["on", "off", "inherit"]),
  own("approve", "Approve or deny a command: /approve <id> allow-once"),
  own("exec", "Where commands run"),
  own("skill", "Run a skill: /skill <name>"),
  own("restart", "Restart the gateway"),
];

/** All of them by name, ours first. */
export function mergeCommands(theirs: readonly CommandInfo[]): readonly CommandInfo[] {
  const names = new Set(OWN_COMMANDS.map(({ name }) => name));
  return [...OWN_COMMANDS, ...theirs.filter(({ name }) => !names.has(name))].sort((a, b) => a.name.localeCompare(b.name));
}

export const HELP = `Keys
Enter sends · Alt+Enter, Shift+Enter or Ctrl+J adds a line · Up and Down recall messages · Tab completes
Esc stops the run · Ctrl+C clears the input, twice exits · Ctrl+D exits · Ctrl+Z suspends
Ctrl+L models · Ctrl+G agents · Ctrl+P sessions · Ctrl+O tool output · Ctrl+T reasoning
PgUp and PgDn scroll, Ctrl+End jumps to the newest · Tab on an empty input opens a pending approval
!command runs a shell command on this machine; you confirm once

Commands
/agent /agents /session /sessions /model /models /think /verbose /reasoning /usage /elevated /activation /deliver
/new /reset /abort /subagents /jobs /heartbeat /settings /exit; the gateway runs its own commands (/commands lists them)`;
