/** The first setup, step by step. Nobody knows here whether a terminal, a connection or nobody at all answers. */
import type { Asker } from "./asker.ts";
import type { Setup } from "./context.ts";
import { createDraft, type Committed } from "./draft.ts";
import type { Given } from "./given.ts";
import type { SetupPlace } from "./place.ts";
import { stampRun, writeUsual } from "./stamp.ts";
import { acceptRisk, chooseFlow, handleExisting, requireValidFile } from "./steps/begin.ts";
import { setUpChannels } from "./steps/channels.ts";
import { setUpGateway, type GatewaySummary } from "./steps/gateway.ts";
import { installPrograms, type Installed } from "./steps/programs.ts";
import { giveOwner } from "./steps/owner.ts";
import { setUpModel } from "./steps/model/index.ts";
import { chooseMode, setUpRemote, type RemoteResult } from "./steps/remote.ts";
import { applyService, chooseService } from "./steps/service.ts";
import { setUpSkills } from "./steps/skills.ts";
import { chooseWorkspace, seedFolders } from "./steps/workspace.ts";

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
  readonly given?: Given;
  /** For the file: `onboard`, `wizard.start`, … */
  readonly command: string;
}

/** Sets everything up. Rejects with `CANCELLED` when the person leaves; then nothing was written. */
export async function onboard(place: SetupPlace, { ask, given = {}, command }: OnboardOptions): Promise<OnboardResult> {
  const notes: string[] = [];
  const tell = async (text: string): Promise<void> => {
    if (ask) await ask.note(text);
    else notes.push(text);
  };
  await acceptRisk(ask, given);
  requireValidFile(place, given);
  const flow = await chooseFlow(ask, given);
  const draft = createDraft(place);
  const keep = await handleExisting(place, draft, ask, given);
  const setup: Setup = { place, draft, ask, given, flow, keep, tell };
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
  const { place, draft, given } = setup;
  const workspace = await chooseWorkspace(setup);
  const { authChoice, model } = await setUpModel(setup);
  const gateway = await setUpGateway(setup);
  const channels = await setUpChannels(setup);
  giveOwner(setup);
  const programs = await setUpSkills(setup, workspace);
  const service = await chooseService(setup);
  writeUsual(setup);
  stampRun(setup, command, "local");
  // Nothing is asked after this: who leaves has changed nothing.
  const committed = await draft.commit(by);
  await seedFolders(place, workspace);
  const installedPrograms = await installPrograms(setup, programs);
  const wanted = service !== "none";
  const installed = await applyService(setup, service);
  const healthy = given.skip?.health || place.insideGateway || !installed ? true : await checkHealth(setup, wanted);
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
    skipSkills: given.skip?.skills ?? false,
    skipHealth: given.skip?.health ?? false,
    committed,
  };
}

/** Whether the gateway answers, where one should. */
async function checkHealth({ place, tell }: Setup, expected: boolean): Promise<boolean> {
  if (!expected && !place.isRunning()) return true;
  const health = await place.health?.();
  if (health !== undefined) await tell(`the gateway answers: ${health}`);
  else if (expected) await tell("the service is installed, but its gateway does not answer yet; look with: openclaw gateway status");
  return health !== undefined;
}
