import { AppError } from "../../base/errors.ts";
import { formatLocated } from "../../config/index.ts";
import { left, type Asker } from "../asker.ts";
import type { Draft } from "../draft.ts";
import type { Flow, SetupAnswers, ResetScope } from "../answers.ts";
import type { SetupHost } from "../host.ts";

const RISK = [
  "An agent can read files, run commands and send messages.",
  "A message from a stranger can trick it into doing things you don't want.",
  "",
  "- Allow only people you know. Pairing and allowlists are on by default.",
  "- Keep secrets out of reach of its tools, or turn on the sandbox.",
  "- Use a strong model if other people can message the agent.",
  "",
  "Read more: docs/channels/access.md and docs/agent/sandbox.md",
].join("\n");

/** The user has to accept the risk before anything is set up. */
export async function acceptRisk(ask: Asker | undefined, answers: SetupAnswers): Promise<void> {
  if (answers.acceptRisk) return;
  if (!ask)
    throw new AppError(
      "INVALID_INPUT",
      "--non-interactive needs --accept-risk: agents can run commands and send messages; give it when you have read docs/channels/access.md",
    );
  await ask.note(RISK, "Security");
  if (!(await ask.confirm({ message: "I understand what an agent can do. Continue?", initialValue: false }))) throw left();
}

/** A file with errors is not built upon. */
export function requireValidFile({ config }: SetupHost, answers: SetupAnswers): void {
  const snapshot = config.snapshot();
  if (snapshot.valid || answers.reset !== undefined) return;
  throw new AppError(
    "CONFIG_INVALID",
    `the configuration is not valid:\n${snapshot.issues.map((issue) => `  ${formatLocated(issue)}`).join("\n")}\nrun: openclaw doctor`,
    { details: { path: snapshot.path, issues: snapshot.issues } },
  );
}

export async function chooseFlow(ask: Asker | undefined, answers: SetupAnswers): Promise<Flow> {
  if (answers.flow || !ask) return answers.flow ?? "quickstart";
  return ask.select<Flow>({
    message: "Setup mode",
    options: [
      { value: "quickstart", label: "QuickStart", hint: "recommended settings; you can change everything later" },
      { value: "advanced", label: "Manual", hint: "port, address, credentials, Tailscale, service" },
    ],
    initialValue: "quickstart",
  });
}

type Handling = "keep" | "modify" | "reset";

/** What becomes of a configuration that is there. True: what is set stays, and is not asked for. */
export async function handleExisting(host: SetupHost, draft: Draft, ask: Asker | undefined, answers: SetupAnswers): Promise<boolean> {
  if (answers.reset !== undefined) {
    draft.reset(answers.reset);
    return false;
  }
  const { exists, path, config } = host.config.snapshot();
  if (!ask || !exists || Object.keys(config).every((key) => key === "meta")) return !ask;
  const handling = await ask.select<Handling>({
    message: `Existing configuration found: ${path}`,
    options: [
      { value: "keep", label: "Keep", hint: "only ask for missing settings" },
      { value: "modify", label: "Modify", hint: "review every setting" },
      // Under a running gateway nothing can be taken away.
      ...(host.insideGateway ? [] : [{ value: "reset" as const, label: "Reset", hint: "start over; existing files are renamed, not deleted" }]),
    ],
    initialValue: "keep",
  });
  if (handling === "reset") {
    draft.reset(
      await ask.select<ResetScope>({
        message: "What do you want to reset? Files are renamed, not deleted.",
        options: [
          { value: "config", label: "Configuration" },
          { value: "config+creds+sessions", label: "Configuration, credentials and conversations" },
          { value: "full", label: "Everything, including the workspace" },
        ],
        initialValue: "config",
      }),
    );
  }
  return handling === "keep";
}
