import { AppError } from "../../base/errors.ts";
import { formatLocated } from "../../config/index.ts";
import { left, type Asker } from "../asker.ts";
import type { Draft } from "../draft.ts";
import type { Flow, Given, ResetScope } from "../given.ts";
import type { SetupPlace } from "../place.ts";

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

/** Nothing is set up for somebody who does not know what it may do. */
export async function acceptRisk(ask: Asker | undefined, given: Given): Promise<void> {
  if (given.acceptRisk) return;
  if (!ask)
    throw new AppError(
      "INVALID_INPUT",
      "--non-interactive needs --accept-risk: agents can run commands and send messages; give it when you have read docs/channels/access.md",
    );
  await ask.note(RISK, "Before you begin");
  if (!(await ask.confirm({ message: "I know what this can do. Go on?", initialValue: false }))) throw left();
}

/** A file with errors is not built upon. */
export function requireValidFile({ config }: SetupPlace, given: Given): void {
  const snapshot = config.snapshot();
  if (snapshot.valid || given.reset !== undefined) return;
  throw new AppError(
    "CONFIG_INVALID",
    `the configuration is not valid:\n${snapshot.issues.map((issue) => `  ${formatLocated(issue)}`).join("\n")}\nrun: openclaw doctor`,
    { details: { path: snapshot.path, issues: snapshot.issues } },
  );
}

export async function chooseFlow(ask: Asker | undefined, given: Given): Promise<Flow> {
  if (given.flow || !ask) return given.flow ?? "quickstart";
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
export async function handleExisting(place: SetupPlace, draft: Draft, ask: Asker | undefined, given: Given): Promise<boolean> {
  if (given.reset !== undefined) {
    draft.reset(given.reset);
    return false;
  }
  const { exists, path, config } = place.config.snapshot();
  if (!ask || !exists || Object.keys(config).every((key) => key === "meta")) return !ask;
  const handling = await ask.select<Handling>({
    message: `There is a configuration: ${path}`,
    options: [
      { value: "keep", label: "Keep", hint: "ask only for what is missing" },
      { value: "modify", label: "Modify", hint: "ask for everything, with what is set as the answer" },
      // Under a running gateway nothing can be taken away.
      ...(place.insideGateway ? [] : [{ value: "reset" as const, label: "Reset", hint: "put it away and begin anew" }]),
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
