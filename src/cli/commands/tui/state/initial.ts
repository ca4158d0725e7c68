import { EMPTY } from "./editor.ts";
import { GATEWAY_COMMANDS, mergeCommands } from "./own-commands.ts";
import type { Preferences, State } from "./state.ts";

/** Before there is a connection. `sessionKey` as it was written; the gateway knows what it stands for. */
export function initialState(start: { readonly url: string; readonly sessionKey: string; readonly preferences: Preferences }): State {
  return {
    ...start,
    link: { kind: "connecting" },
    connections: 0,
    naming: { defaultAgentId: "main" },
    methods: new Set(),
    agents: [],
    facts: {},
    skew: 0,
    history: [],
    reads: 0,
    read: 0,
    sent: [],
    runs: [],
    notes: [],
    approvals: [],
    editor: EMPTY,
    past: [],
    commands: mergeCommands(GATEWAY_COMMANDS),
    show: { tools: false, thinking: false },
    mouse: false,
    shell: { allowed: false },
    aborting: false,
    leaving: false,
  };
}
