import { AppError, messageOf } from "../../base/errors.ts";
import type { PluginDiagnostic, PluginEntry } from "../record.ts";
import type { Owner } from "../registry/index.ts";
import type { PluginHostDeps } from "./deps.ts";
import { importGeneration, type Generation, type GenerationDeps, type Imported } from "./generation.ts";
import { locateFailure } from "./locate-failure.ts";
import type { Services } from "./services.ts";
import type { SessionExtensions } from "./sessions.ts";
import { statusOf, type PluginStatus } from "./status.ts";
import { within } from "./within.ts";

/** How long calls of an old generation may still run. */
const PATIENCE_MS = 60_000;
/** When the gateway ends: services, then what plugins do last. With `gateway_stop` that is less than the grace it has. */
const STOP_LIMITS = { each: 1000, total: 2500 };
const LEAVE_MS = 1000;

export interface Slot {
  entry: PluginEntry;
  generation: Generation | undefined;
  /** Why it is not loaded, or why the last reload failed. */
  error: string | undefined;
  /** Loads so far: the number of the newest generation. */
  tries: number;
}

/** What the steps of a plugin's life share. */
export interface House {
  readonly deps: PluginHostDeps;
  readonly slots: Map<string, Slot>;
  /** Found under an id that another one has. */
  readonly overridden: PluginEntry[];
  readonly services: Services;
  readonly sessions: SessionExtensions;
  readonly making: GenerationDeps;
  readonly report: (found: PluginDiagnostic) => void;
  readonly clear: (pluginId: string) => void;
  /** Old generations that still wait for their calls, and their ends. */
  readonly leaving: Map<Generation, Promise<void>>;
  workspaceDir: string | undefined;
}

function fail(house: House, slot: Slot, phase: string, error: unknown): void {
  const { id } = slot.entry;
  const place = locateFailure(error, slot.entry);
  const message = messageOf(error);
  const at = place.line === undefined ? undefined : `${place.source}:${place.line}`;
  slot.error = `${phase}: ${message}${at === undefined || message.includes(at) ? "" : ` (${at})`}`;
  house.report({ level: "error", code: `${phase}-failed`, message: `${phase} failed: ${message}`, pluginId: id, ...place });
}

async function importCode(house: House, slot: Slot): Promise<Imported> {
  slot.tries += 1;
  return importGeneration(slot.entry, slot.tries, house.making);
}

/** What the code says about itself does not change whose settings are meant. */
function checkId(house: House, { entry }: Slot, { definition }: Generation): void {
  if (definition.id === undefined || definition.id === entry.id) return;
  const message = `the code has the id ${JSON.stringify(definition.id)}, the manifest ${JSON.stringify(entry.id)}: the manifest is used`;
  house.report({ level: "warn", code: "id-mismatch", message, pluginId: entry.id, source: entry.source });
}

/** Lets a generation go in the background: the caller need not wait for its last calls. */
function letGo(house: House, generation: Generation, patienceMs: number): void {
  const end = generation.end(patienceMs).finally(() => house.leaving.delete(generation));
  house.leaving.set(generation, end);
}

const servicesOf =
  (generation: Generation) =>
  (service: { readonly owner: Owner }): boolean =>
    service.owner === generation.owner;

/** Takes away everything of a plugin. Its last calls end in the background. */
export async function takeDown(house: House, slot: Slot, reason: "disable" | "restart"): Promise<void> {
  const { generation } = slot;
  if (!generation) return;
  slot.generation = undefined;
  await house.sessions.left(slot.entry.id, reason).catch((error: unknown) => fail(house, slot, "cleanup", error));
  generation.ledger.retire();
  await house.services.stop(servicesOf(generation));
  letGo(house, generation, PATIENCE_MS);
}

/** A generation that is registered and activated, with nothing in place yet. */
async function prepare(house: House, slot: Slot): Promise<Generation> {
  let phase = "load";
  let made: Generation | undefined;
  try {
    const imported = await importCode(house, slot);
    phase = "register";
    made = await imported.register();
    phase = "activate";
    await made.activate();
    checkId(house, slot, made);
    return made;
  } catch (error) {
    if (made) letGo(house, made, 0);
    fail(house, slot, phase, error);
    throw error;
  }
}

async function swap(house: House, slot: Slot): Promise<void> {
  const old = slot.generation;
  const made = await prepare(house, slot);
  // Between these lines nothing else runs: no call finds the plugin missing.
  old?.ledger.retire();
  made.ledger.commit();
  slot.generation = made;
  slot.error = undefined;
  if (old) {
    await house.services.stop(servicesOf(old));
    letGo(house, old, PATIENCE_MS);
  }
  if (house.services.started) await house.services.start();
}

/** Brings a plugin up to date: reloads it, or takes it down if it is no longer enabled. */
export async function reloadSlot(house: House, id: string): Promise<PluginStatus> {
  const { entries } = await house.deps.inventory();
  const entry = entries.find((one) => one.id === id && (one.enabled || one.error !== undefined)) ?? entries.find((one) => one.id === id);
  const slot = house.slots.get(id);
  const known = slot ?? (entry && { entry, generation: undefined, error: undefined, tries: 0 });
  if (!known) throw new AppError("NOT_FOUND", `there is no plugin ${JSON.stringify(id)}: openclaw plugins list shows all`);
  house.slots.set(id, known);
  house.clear(id);
  if (!entry?.enabled) {
    await takeDown(house, known, "disable");
    if (entry) known.entry = entry;
    else house.slots.delete(id);
  } else {
    if (entry.error !== undefined) {
      fail(house, known, "load", new AppError("PLUGIN_FAILED", entry.error));
      throw new AppError("PLUGIN_FAILED", `${id} cannot be loaded: ${entry.error}`);
    }
    known.entry = entry;
    await swap(house, known);
  }
  return statusOf(known.entry, known.generation, known.error);
}

/** Loads, registers and activates everything that is enabled. */
export async function startAll(house: House): Promise<void> {
  const { entries, diagnostics, workspaceDir } = await house.deps.inventory();
  house.workspaceDir = workspaceDir;
  for (const found of diagnostics) house.report(found);
  const chosen: Slot[] = [];
  for (const entry of entries) {
    const known = house.slots.get(entry.id);
    if (known?.entry.enabled || (known && !entry.enabled)) {
      house.overridden.push(entry);
      continue;
    }
    if (known) house.overridden.push(known.entry);
    house.slots.set(entry.id, { entry, generation: undefined, error: undefined, tries: 0 });
  }
  for (const slot of house.slots.values()) if (slot.entry.enabled && slot.entry.error === undefined) chosen.push(slot);
  // Code is imported side by side; it registers in order.
  const imported = await Promise.allSettled(chosen.map((slot) => importCode(house, slot)));
  const loaded: { readonly slot: Slot; readonly generation: NonNullable<Slot["generation"]> }[] = [];
  for (const [at, slot] of chosen.entries()) {
    const result = imported[at];
    if (!result) continue;
    try {
      if (result.status === "rejected") throw result.reason;
      const generation = await result.value.register();
      slot.generation = generation;
      generation.ledger.commit();
      checkId(house, slot, generation);
      loaded.push({ slot, generation });
    } catch (error) {
      fail(house, slot, result.status === "rejected" ? "load" : "register", error);
    }
  }
  for (const { slot, generation } of loaded) {
    try {
      await generation.activate();
    } catch (error) {
      letGo(house, generation, 0);
      slot.generation = undefined;
      fail(house, slot, "activate", error);
    }
  }
}

/** The gateway ends: services stop, in reverse. Bounded, whatever they do. */
export const stopServices = ({ services }: House): Promise<void> => services.stop(() => true, STOP_LIMITS);

/** Everything ends: services in reverse, then each plugin. Bounded, whatever they do. */
export async function stopAll(house: House): Promise<void> {
  const { clock } = house.deps;
  const loaded = [...house.slots.values()].filter((slot) => slot.generation).toReversed();
  await Promise.all([stopServices(house), ...loaded.map((slot) => house.sessions.left(slot.entry.id, "restart").catch(() => {}))]);
  for (const slot of loaded) {
    if (slot.generation) letGo(house, slot.generation, 0);
    slot.generation = undefined;
  }
  await within(clock, LEAVE_MS, "the shutdown of plugins", () => Promise.all(house.leaving.values()), house.making.idle).catch(() => {});
  for (const generation of house.leaving.keys()) generation.scope.end();
}
