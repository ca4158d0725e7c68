/** What a client can announce in `connect.caps`. Nodes announce what they can do in words of their own. */
export const CAPABILITIES = {
  /** It shows tools: it is sent the tool events of runs that it takes part in. */
  toolEvents: "tool-events",
  /** It puts texts together: `agent` events carry new text alone, and no `chat` event of state `delta` repeats it. */
  textDeltas: "text-deltas",
} as const;
