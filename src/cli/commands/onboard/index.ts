import type { Asker, OnboardResult } from "../../../setup/index.ts";
import { type Io, printJson } from "../../io.ts";
import { AppError } from "../../../base/errors.ts";
import { defineCommand } from "../../command.ts";
import { createStyle } from "../../output/style.ts";
import { withSetupHost, openAsker } from "./host.ts";
import { answersFrom, ONBOARD_OPTIONS, type OnboardValues } from "./flags.ts";

type Beginning = "page" | "tui" | "later";

/** A gateway answers: how the person wants to begin. */
function askNext(ask: Asker, { runnable }: Pick<Io, "runnable">): Promise<Beginning> {
  return ask.select<Beginning>({
    message: "The gateway is running. How do you want to begin?",
    options: [
      { value: "page", label: "In the browser", hint: runnable("openclaw dashboard") },
      { value: "tui", label: "Here, in the terminal", hint: runnable("openclaw tui") },
      { value: "later", label: "Later" },
    ],
    initialValue: "page",
  });
}

/** Opens it. Gives the exit code. */
async function begin(io: Io, how: Beginning): Promise<number> {
  if (how === "later") return 0;
  const { dashboard } = await import("../dashboard.ts");
  const command = how === "page" ? dashboard : (await import("../tui/index.ts")).tui;
  return (await command.run({ io, values: {}, positionals: [] })) ?? 0;
}

/** Runs the gateway in this terminal, which prints the link to the Control UI, until Ctrl-C. */
async function startGateway(io: Io): Promise<number> {
  return (await import("../gateway/run.ts")).runGateway(io, { open: true });
}

/** The documented summary. */
function summaryOf(result: OnboardResult, values: OnboardValues): object {
  if (result.mode === "remote") return { mode: result.mode, remoteUrl: result.remoteUrl, auth: result.auth };
  const { mode, workspace, authChoice, model, gateway, programs, installDaemon, skipSkills, skipHealth } = result;
  return {
    mode,
    workspace,
    authChoice,
    ...(model === undefined ? {} : { model }),
    gateway,
    installDaemon,
    ...(installDaemon ? { daemonRuntime: values["daemon-runtime"] ?? "node" } : {}),
    skipSkills,
    ...(programs.length > 0 ? { programs } : {}),
    skipHealth,
  };
}

/** What was set, and what to do next. */
function show(io: Io, result: OnboardResult, values: OnboardValues): void {
  const style = createStyle(io.color);
  const row = (name: string, value: string): string => `  ${name.padEnd(10)} ${value}\n`;
  for (const { from, to } of result.committed.removed) io.out(row("moved", `${from} → ${to}`));
  if (result.mode === "remote") {
    io.out(row("gateway", `${result.remoteUrl} (${result.auth === "none" ? "no token" : "with a token"})`));
    io.out(io.runnable(`\nTry it: ${style.bold("openclaw health")}\n`));
    return;
  }
  const { gateway, model, workspace, channels, programs, installDaemon } = result;
  io.out(io.runnable(row("model", model ?? "not set; see which model is used with: openclaw models status")));
  io.out(row("workspace", workspace));
  io.out(
    row(
      "gateway",
      `port ${gateway.port}, ${gateway.bind}, ${gateway.authMode}${gateway.tailscaleMode === "off" ? "" : `, Tailscale ${gateway.tailscaleMode}`}`,
    ),
  );
  if (channels.length > 0) io.out(row("channels", channels.join(", ")));
  for (const { skill, ok, command } of programs) io.out(row("skill", `${skill}: ${ok ? "ready" : `failed: ${command}`}`));
  if (values["skip-ui"]) return;
  if (!installDaemon) io.out(io.runnable(`\nStart it:          ${style.bold("openclaw gateway")}\n`));
  io.out(io.runnable(`${installDaemon ? "\n" : ""}Open the page:     ${style.bold("openclaw dashboard")}\nOr stay here:      ${style.bold("openclaw tui")}\n`));
}

/** Runs the whole setup for `onboard` and `setup`. */
export async function runOnboard(io: Io, values: OnboardValues, command: string): Promise<number> {
  const answers = await answersFrom(values);
  const silent = values["non-interactive"] === true;
  if (!silent && !io.interactive)
    throw new AppError("INVALID_INPUT", `openclaw ${command} needs a terminal; without one use --non-interactive --accept-risk and flags`);
  let next: (() => Promise<number>) | undefined;
  const code = await withSetupHost(io, async (host) => {
    const { onboard } = await import("../../../setup/index.ts");
    const ask = silent ? undefined : await openAsker(io);
    await ask?.intro(`openclaw ${io.version}`);
    const result = await onboard(host, { ask, answers, command });
    await ask?.outro("Done.");
    for (const note of result.notes) io.err(`${note}\n`);
    if (values.json) printJson(io, summaryOf(result, values));
    else show(io, result, values);
    if (result.mode !== "local") return 0;
    if (ask && result.ok && !values.json && !values["skip-ui"]) {
      if (host.isRunning()) {
        const how = await askNext(ask, io);
        next = () => begin(io, how);
      } else if (!result.installDaemon && (await ask.confirm({ message: "Start the gateway now?", initialValue: true }))) next = () => startGateway(io);
    }
    return result.ok ? 0 : 1;
  });
  // By then nothing holds the configuration any more.
  return code === 0 && next ? next() : code;
}

export const onboard = defineCommand({
  options: ONBOARD_OPTIONS,
  examples: [
    {
      line: "openclaw onboard --non-interactive --accept-risk --skip-health",
      does: "Default setup without questions; leave out the flags to be asked",
    },
    {
      line: "openclaw onboard --non-interactive --accept-risk --skip-health --custom-base-url http://127.0.0.1:8000/v1 --custom-model-id mine --json",
      does: "Use a custom provider",
    },
  ],
  async run({ io, values }) {
    return runOnboard(io, values, "onboard");
  },
});
