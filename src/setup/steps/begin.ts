import { AppError } from "../../base/errors.ts";
import { formatLocated } from "../../config/index.ts";
import { left, type Asker } from "../asker.ts";
import type { Draft } from "../draft.ts";
import type { Flow, SetupAnswers, ResetScope } from "../answers.ts";
import type { SetupHost } from "../host.ts";

const RISK = [
  "An agent reads files, runs commands and sends messages when its tools are on.",
  "A message from a stranger can talk it into things you would not do.",
  "",
  "- Let in only people you know: pairing and allowlists are on from the start.",
  "- Keep secrets away from what its tools can read, or turn on the sandbox.",
  "- Use the best model you can for a bot that others can write to.",
  "",
  "How to keep it safe: docs/channels/access.md and docs/agent/sandbox.md",
].join("\n");

/** The user has to accept the risk before anything is set up. */
export async function acceptRisk(ask: Asker | undefined, answers: SetupAnswers): Promise<void> {
  if (answers.acceptRisk) return;
  if (!ask)
    throw new AppError(
      "INVALID_INPUT",
      "--non-interactive needs --accept-risk: agents can run commands and send messages; give it when you have read docs/channels/access.md",
    );
  await ask.note(RISK, "Before you begin");
  if (!(await ask.confirm({ message: "I know what this can do. Go on?", initialValue: false }))) throw left();
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
    message: "How much do you want to decide?",
    options: [
      { value: "quickstart", label: "QuickStart", hint: "the usual settings; everything can be changed later" },
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
    message: `There is a configuration: ${path}`,
    options: [
      { value: "keep", label: "Keep", hint: "ask only for what is missing" },
      { value: "modify", label: "Modify", hint: "ask for everything, with what is set as the answer" },
      // Under a running gateway nothing can be taken away.
      ...(host.insideGateway ? [] : [{ value: "reset" as const, label: "Reset", hint: "put it away and start over" }]),
    ],
    initialValue: "keep",
  });
  if (handling === "reset") {
    draft.reset(
      await ask.select<ResetScope>({
        message: "What is put away? Nothing is deleted: it gets another name.",
        options: [
          { value: "config", label: "The configuration" },
          { value: "config+creds+sessions", label: "Configuration, credentials and conversations" },
          { value: "full", label: "All of that and the workspace" },
        ],
        initialValue: "config",
      }),
    );
  }
  return handling === "keep";
}
