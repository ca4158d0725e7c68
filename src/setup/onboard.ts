/** The first setup, step by step. Nobody knows here whether a terminal, a connection or nobody at all answers. */
import type { Asker } from "./asker.ts";
import type { Setup } from "./context.ts";
import { createDraft, type Committed } from "./draft.ts";
import type { SetupAnswers } from "./answers.ts";
import type { SetupHost } from "./host.ts";
import { stampRun, writeUsual } from "./stamp.ts";
import { acceptRisk, chooseFlow, handleExisting, requireValidFile } from "./steps/begin.ts";
import { setUpChannels } from "./steps/channels.ts";
import { setUpGateway, type GatewaySummary } from "./steps/gateway.ts";
import { installPrograms, type Installed } from "./steps/programs.ts";
import { setUpHooks } from "./steps/hooks.ts";
import { giveOwner } from "./steps/owner.ts";
import { setUpModel } from "./steps/model/index.ts";
import { applyService, chooseService } from "./steps/service.ts";
import { setUpSkills } from "./steps/skills.ts";
import { chooseWorkspace, seedFolders } from "./steps/workspace.ts";
import { AppError } from "../base/errors.ts";

interface RemoteResult {
  readonly mode: "remote";
  readonly remoteUrl: string;
  readonly auth: "token" | "none";
}

async function chooseMode({ ask, answers, flow, draft, host }: Setup): Promise<"local" | "remote"> {
  if (host.insideGateway && answers.mode === "remote")
    throw new AppError(
      "INVALID_INPUT",
      "a running gateway cannot switch to remote mode; run openclaw onboard --mode remote on the machine that connects to it",
    );
  if (answers.mode) return answers.mode;
  if (!ask || flow === "quickstart" || host.insideGateway) return "local";
  return ask.select<"local" | "remote">({
    message: "Where should the gateway run?",
    options: [
      { value: "local", label: "On this machine" },
      { value: "remote", label: "Elsewhere", hint: "this machine connects to it" },
    ],
    initialValue: draft.config.gateway?.mode ?? "local",
  });
}

const wrongUrl = (url: string): string | undefined =>
  /^wss?:\/\/[^\s/]+/.test(url.trim()) ? undefined : "a URL that starts with ws:// or wss://, such as wss://gateway.example:18789";

/** Where the gateway is that this machine uses. */
async function setUpRemote({ ask, answers, draft, host }: Setup): Promise<RemoteResult> {
  const known = draft.config.gateway?.remote;
  const url =
    answers.remote?.url ??
    (ask ? await ask.text({ message: "URL", initialValue: known?.url, placeholder: "wss://gateway.example:18789", validate: wrongUrl }) : undefined);
  if (url === undefined)
    throw new AppError("INVALID_INPUT", "--mode remote needs --remote-url: the address of the gateway, such as wss://gateway.example:18789");
  const wrong = wrongUrl(url);
  if (wrong !== undefined) throw new AppError("INVALID_INPUT", `expected ${wrong}; got ${JSON.stringify(url)}`);
  const token = answers.remote?.token ?? (ask ? (await ask.password({ message: "Token (empty if this machine is paired or none is needed)" })).trim() : "");
  if (token !== "") host.redactor.register(token);
  draft.merge({ gateway: { mode: "remote", remote: { url: url.trim(), ...(token === "" ? {} : { token }) } } });
  return { mode: "remote", remoteUrl: url.trim(), auth: token === "" && known?.token === undefined ? "none" : "token" };
}

export interface LocalResult {
  readonly mode: "local";
  readonly workspace: string;
  readonly authChoice: string;
  /** Undefined: nobody chose one, and whatever is there answers. */
  readonly model?: string;
  readonly gateway: GatewaySummary;
  readonly channels: readonly string[];
  /** Programs of skills that were to be installed. */
  readonly programs: readonly Installed[];
  readonly installDaemon: boolean;
  /** False: the service was asked for and could not be installed, or its gateway does not answer. */
  readonly ok: boolean;
  readonly skipSkills: boolean;
  readonly skipHealth: boolean;
}

export type OnboardResult = (LocalResult | RemoteResult) & { readonly committed: Committed; readonly notes: readonly string[] };

export interface OnboardOptions {
  readonly ask?: Asker | undefined;
  readonly answers?: SetupAnswers;
  /** For the file: `onboard`, `wizard.start`, … */
  readonly command: string;
}

/** Sets everything up. Rejects with `CANCELLED` when the person leaves; then nothing was written. */
export async function onboard(host: SetupHost, { ask, answers = {}, command }: OnboardOptions): Promise<OnboardResult> {
  const notes: string[] = [];
  const notify = async (text: string): Promise<void> => {
    if (ask) await ask.note(text);
    else notes.push(text);
  };
  await acceptRisk(ask, answers);
  requireValidFile(host, answers);
  const flow = await chooseFlow(ask, answers);
  const draft = createDraft(host);
  const keep = await handleExisting(host, draft, ask, answers);
  const setup: Setup = { host, draft, ask, answers, flow, keep, notify };
  const by = `setup ${command}`;
  if ((await chooseMode(setup)) === "remote") {
    const result = await setUpRemote(setup);
    stampRun(setup, command, "remote");
    return { ...result, committed: await draft.commit(by), notes };
  }
  const { committed, ...result } = await local(setup, command, by);
  return { ...result, committed, notes };
}

async function local(setup: Setup, command: string, by: string): Promise<LocalResult & { readonly committed: Committed }> {
  const { host, draft, answers } = setup;
  const workspace = await chooseWorkspace(setup);
  const { authChoice, model } = await setUpModel(setup);
  const gateway = await setUpGateway(setup);
  const channels = await setUpChannels(setup);
  await giveOwner(setup);
  const programs = await setUpSkills(setup, workspace);
  await setUpHooks(setup, workspace);
  const service = await chooseService(setup);
  writeUsual(setup);
  stampRun(setup, command, "local");
  // Nothing is asked after this: who leaves has changed nothing.
  const committed = await draft.commit(by);
  await seedFolders(host, workspace);
  const installedPrograms = await installPrograms(setup, programs);
  const wanted = service !== "none";
  const installed = await applyService(setup, service);
  const healthy = answers.skip?.health || host.insideGateway || !installed ? true : await checkHealth(setup, wanted);
  return {
    mode: "local",
    workspace,
    authChoice,
    ...(model === undefined ? {} : { model }),
    gateway,
    channels,
    programs: installedPrograms,
    installDaemon: wanted,
    ok: installed && (healthy || !wanted),
    skipSkills: answers.skip?.skills ?? false,
    skipHealth: answers.skip?.health ?? false,
    committed,
  };
}

/** Whether the gateway answers, where one should. */
async function checkHealth({ host, notify }: Setup, expected: boolean): Promise<boolean> {
  if (!expected && !host.isRunning()) return true;
  const health = await host.health?.();
  if (health !== undefined) await notify(`Gateway is running: ${health}`);
  else if (expected) await notify("The service is installed, but the gateway does not answer yet. Check it with: openclaw gateway status");
  return health !== undefined;
}
