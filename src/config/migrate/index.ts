import type { ValuePath } from "../document/document.ts";
import { deepCopy, isObject } from "../value.ts";
import { agentDefaults, agentModels, agentTools, defaultModelStrings, topLevelIdentity } from "./agent.ts";
import { audioTranscription, routingAgents, routingAllowFrom, routingGroupChat, routingSections } from "./routing.ts";
import { agentEntries, claudeCliProfile, disabledPlugins, gatewayToken, matchNames, movedSections, topLevelChannels, ttsEnabled } from "./sections.ts";
import type { Migrated, MigrationTree } from "./tree.ts";

export type { Migrated } from "./tree.ts";
export type MigrationReport = readonly Migrated[];

/** In this order: later ones see what earlier ones moved. */
const MIGRATIONS: readonly ((tree: MigrationTree) => void)[] = [
  agentEntries,
  topLevelChannels,
  routingAllowFrom,
  routingGroupChat,
  routingSections,
  routingAgents,
  audioTranscription,
  agentTools,
  agentModels,
  agentDefaults,
  defaultModelStrings,
  topLevelIdentity,
  movedSections,
  ttsEnabled,
  gatewayToken,
  matchNames,
  claudeCliProfile,
  disabledPlugins,
];

/** Moves settings from their old places to the new ones, in a copy. A value in the new place wins over one in the old. */
export function migrate(config: unknown): { readonly value: unknown; readonly report: MigrationReport } {
  if (!isObject(config)) return { value: config, report: [] };
  const tree: MigrationTree = { config: deepCopy(config), report: [] };
  for (const migration of MIGRATIONS) migration(tree);
  return tree.report.length === 0 ? { value: config, report: [] } : { value: tree.config, report: tree.report };
}

/** Where a path of a migrated configuration was before, following `report` back. */
export function pathBeforeMigration(path: ValuePath, report: MigrationReport): ValuePath {
  const moved = report.findLast(
    ({ toPath }) => toPath.length > 0 && toPath.length <= path.length && toPath.every((segment, at) => String(segment) === String(path[at])),
  );
  return moved ? [...moved.fromPath, ...path.slice(moved.toPath.length)] : path;
}
