import { advanced, amount, choice, count, flag, group, ids, map, text, texts } from "../pieces.ts";

const execProperties = {
  host: choice("Where commands run.", ["sandbox", "gateway", "node"]),
  security: choice("Which commands may run.", ["deny", "allowlist", "full"]),
  ask: choice("When a person is asked first.", ["off", "on-miss", "always"]),
  node: text("Node that commands run on when host is node."),
  pathPrepend: texts("Folders put before PATH."),
  safeBins: texts("Programs that only filter their input and need no approval."),
  passEnv: texts("Variables of the gateway's environment that commands inherit besides the usual ones; * at the end of a name stands for any rest."),
  backgroundMs: count("A command that takes longer goes to the background."),
  timeoutSec: count("A command that takes longer is ended."),
  cleanupMs: count("How long a finished background command stays listed.", advanced),
  notifyOnExit: flag("Notify the agent when a background command ends."),
  notifyOnExitEmptySuccess: flag("Also when it succeeded and printed nothing.", advanced),
  applyPatch: group("The apply_patch tool.", {
    enabled: flag("Offer it."),
    workspaceOnly: flag("Only inside the workspace."),
    allowModels: texts("Only to these models."),
  }),
};

export const exec = group("The exec tool.", execProperties);
export const agentExec = group("The exec tool of this agent.", {
  ...execProperties,
  approvalRunningNoticeMs: amount("Report that a command is still running after this long; 0 is never.", advanced),
});

export const fs = group("The file tools.", {
  workspaceOnly: flag("Only inside the workspace, for reading too."),
  outside: choice("Writes outside of the workspace: ask a person first, allow them or deny them.", ["ask", "allow", "deny"]),
  unseal: texts("Paths of sealed files that tools may use all the same.", advanced),
});

export const elevated = group("Commands outside the sandbox on a sender's request.", {
  enabled: flag("Allow them."),
  allowFrom: map("Who may ask, by channel.", ids("Senders; * is anyone.")),
});
