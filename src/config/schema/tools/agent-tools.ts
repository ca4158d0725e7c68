import { group } from "../pieces.ts";
import { agentExec, elevated, fs } from "./exec.ts";
import { loopDetection } from "./loop-detection.ts";
import { profiledPolicy, toolPolicy } from "./policy.ts";

const sandboxTools = group("Tools in the sandbox.", { tools: toolPolicy("Which tools a sandboxed session has.") });

export { sandboxTools };

export const agentTools = group("What this agent may do; it can only narrow what the tools section allows.", {
  ...profiledPolicy,
  elevated,
  exec: agentExec,
  fs,
  loopDetection,
  sandbox: sandboxTools,
});
