/**
 * The model catalogue, wire formats, providers, auth profiles, failover, usage.
 * The door of the room. Importing it loads none of them.
 */
export type { CallEvent, CallRequest, CallResult } from "./call/call.ts";
export type { RawCall, RawLog } from "./call/driver.ts";
export type { ModelCost, ModelEntry, ModelSource, WireCompat } from "./entry.ts";
export type { AuthProfiles, CredentialRest } from "./auth/profiles.ts";
export type { Attempt } from "./failover/words.ts";
export type { FailureClass, Trouble } from "./failover/classify.ts";
export type { ModelEvent } from "./wire/format.ts";
export type { BudgetCheck, BudgetReport, Budgets, BudgetState, Caller } from "./budgets/index.ts";
export type { Catalogue, CatalogueFilter, ModelName, PluginProvider } from "./catalogue/index.ts";
export type { ProviderQuota, Quota, QuotaOptions, QuotaReport, QuotaWindow } from "./quota/index.ts";
export type { Discovery, Found } from "./discovery/index.ts";
export type { DescribedChoice, ModelRef, Selection, SelectionInput } from "./selection/index.ts";

/** What is there to choose from and how it is chosen: catalogue, selection, providers, discovery. Loaded when first asked for. */
export const loadChoice = () => import("./choice.ts");

/** Credentials: profiles, their order, logins. Loaded when first asked for. */
export const loadProfiles = () => import("./auth/index.ts");

/** Short questions that show whether a model can be reached. Loaded when first asked for. */
export const loadProbe = () => import("./probe/index.ts");

/** Free models at OpenRouter. Loaded when first asked for. */
export const loadScan = () => import("./scan/index.ts");

/** Limits on what models may cost. Loaded when first asked for. */
export const loadBudgets = () => import("./budgets/index.ts");

/** How much of providers' allowances is used. Loaded when first asked for. */
export const loadQuota = () => import("./quota/index.ts");

/** The model that needs neither key nor network. Loaded when first asked for. */
export const loadOffline = () => import("./offline/index.ts");

export type { Models, ModelsDeps, ModelWish } from "./create-models.ts";

/** Everything that chooses and calls models. Loaded when the first message is answered. */
export const loadModels = () => import("./create-models.ts");

/** Loads all code that calls need, with the catalogue and the model that needs no key. */
export async function loadCallCode(): Promise<void> {
  const [{ loadWire, WIRE_APIS }, { loadTables }] = await Promise.all([import("./wire/index.ts"), import("./catalogue/frozen.ts")]);
  await Promise.all([loadModels(), loadChoice(), loadBudgets(), loadOffline(), loadTables(), ...WIRE_APIS.map(loadWire)]);
}
export { type AnsweringModel, answeringModel } from "./answering-model.ts";
