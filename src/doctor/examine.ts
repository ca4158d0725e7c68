import { openChats, owners } from "./checks/access.ts";
import { configFile, configKeys, configLegacy, configRemarks, gatewayAuth, gatewayMode } from "./checks/config.ts";
import { channels, hooks, plugins, skills } from "./checks/extensions.ts";
import { channelAccounts, channelRules, gatewayHealth } from "./checks/gateway.ts";
import { legacyState } from "./checks/legacy-state.ts";
import { sessionLocks, fileModes, stateFolder, stateFolders, stateParts } from "./checks/state.ts";
import { defaultModel, gmailModel, memorySearch, modelKeys } from "./checks/models.ts";
import { configNames } from "./checks/names.ts";
import { browserProgram, clockSkew, controlUi, nodeVersion, oldVariables, timeZone } from "./checks/program.ts";
import { sandbox, workspaceTips } from "./checks/agents.ts";
import { linger, otherInstances, otherServices, serviceFile } from "./checks/service.ts";
import { freeDisk, storeFile, transcripts } from "./checks/store.ts";
import type { Check, Finding, Level, Repair, Topic } from "./finding.ts";
import { messageOf } from "../base/errors.ts";
import type { DoctorDeps } from "./deps.ts";

/** Every check, in the documented order: what is repaired early is seen by what comes later. */
export const CHECKS: readonly Check[] = [
  nodeVersion,
  controlUi,
  browserProgram,
  oldVariables,
  clockSkew,
  timeZone,
  configFile,
  configNames,
  configKeys,
  configLegacy,
  configRemarks,
  gatewayMode,
  modelKeys,
  defaultModel,
  gatewayAuth,
  legacyState,
  stateFolder,
  stateParts,
  fileModes,
  stateFolders,
  storeFile,
  freeDisk,
  transcripts,
  sessionLocks,
  sandbox,
  serviceFile,
  otherServices,
  linger,
  otherInstances,
  openChats,
  owners,
  gmailModel,
  hooks,
  skills,
  plugins,
  memorySearch,
  workspaceTips,
  gatewayHealth,
  channels,
  channelRules,
  channelAccounts,
];

/** A finding as it ended. */
export interface Outcome {
  readonly id: string;
  readonly topic: Topic;
  readonly title: string;
  /** `ok` once it is repaired. */
  readonly level: Level;
  readonly text: string;
  readonly todo?: string;
  /** What a repair did. */
  readonly repaired?: string;
  /** What a repair would do that was not made. */
  readonly repair?: { readonly summary: string; readonly safe: boolean; readonly force?: boolean };
}

interface ExamineOptions {
  readonly checks: readonly Check[];
  /** Called for each check that found something, before anything is repaired. */
  readonly onFound?: (check: Check, findings: readonly Finding[]) => void;
  /** Whether to repair this. */
  readonly decide: (repair: Repair, check: Check) => boolean | Promise<boolean>;
  /** Called for each repair that was tried. */
  readonly onTried?: (outcome: Outcome) => void;
}

async function look(check: Check, deps: DoctorDeps): Promise<readonly Finding[]> {
  try {
    const findings = await check.run(deps);
    return findings.length > 0 ? findings : [{ level: "ok", text: `${check.title}: well` }];
  } catch (error) {
    return [
      {
        part: "failed",
        level: "error",
        text: `${check.title}: the check failed: ${messageOf(error)}`,
        todo: "run openclaw doctor again; if this persists, please report it",
      },
    ];
  }
}

const described = ({ summary, safe, force }: Repair): NonNullable<Outcome["repair"]> => ({ summary, safe, ...(force ? { force } : {}) });

async function tried(repair: Repair, shown: Omit<Outcome, "repair">): Promise<Outcome> {
  const { todo: _todo, ...rest } = shown;
  try {
    return { ...rest, level: "ok", repaired: await repair.apply() };
  } catch (error) {
    return { ...shown, text: `${shown.text}; the repair failed: ${messageOf(error)}`, repair: described(repair) };
  }
}

/** Makes the checks in order. Each sees what the repairs before it did; one that fails is a finding like any other. A repair that several findings share is made once. */
export async function examine(deps: DoctorDeps, { checks, onFound, decide, onTried }: ExamineOptions): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const check of checks) {
    const findings = await look(check, deps);
    onFound?.(check, findings);
    const decided = new Map<Repair, boolean>();
    const made = new Map<Repair, Outcome>();
    for (const { part, level, text, todo, repair } of findings) {
      const id = part === undefined ? check.id : `${check.id}:${part}`;
      const shown = { id, topic: check.topic, title: check.title, level, text, ...(todo === undefined ? {} : { todo }) };
      if (!repair) {
        outcomes.push(shown);
        continue;
      }
      if (!decided.has(repair)) decided.set(repair, await decide(repair, check));
      const earlier = made.get(repair);
      if (!decided.get(repair)) outcomes.push({ ...shown, repair: described(repair) });
      else if (earlier) outcomes.push({ ...earlier, id, text: earlier.repaired === undefined ? `${text}; the repair did not help` : text });
      else {
        const outcome = await tried(repair, shown);
        made.set(repair, outcome);
        onTried?.(outcome);
        outcomes.push(outcome);
      }
    }
  }
  return outcomes;
}
