import { checksFor, type AnyFunction, type Fields } from "./arguments.ts";
import type { Binding, Runner } from "./binding.ts";
import type { ChannelRegistration, CliRegistration, ProviderRegistration, ServiceRegistration } from "./kinds.ts";
import type { Table } from "./table.ts";
import { uncalledIn } from "./uncalled.ts";

/** Parts of a channel stand two levels deep: `gateway.startAccount`. */
const PART_DEPTH = 2;

const isFunction = (value: unknown): value is AnyFunction => typeof value === "function";

const isPlain = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);

/** A copy whose functions run as the plugin, with the objects they stood on as `this`. Instances of classes are left as they are. */
export function bindParts(scope: Runner, parts: Fields, what: string, depth = PART_DEPTH): Fields {
  const bound = Object.entries(parts).map(([name, part]): readonly [string, unknown] => {
    if (isFunction(part)) return [name, scope.bind(part.bind(parts), `${what} ${name}`)];
    return [name, depth > 1 && isPlain(part) ? bindParts(scope, part, `${what} ${name}`, depth - 1) : part];
  });
  return isPlain(parts) ? Object.fromEntries(bound) : parts;
}

/** Registers a channel, with its dock if one is given. */
export function registerChannel({ ledger, scope, tell }: Binding, table: Table<ChannelRegistration>, given: unknown): void {
  const checks = checksFor("api.registerChannel");
  const registration = checks.fields("registration", given);
  const wrapped = typeof registration["plugin"] === "object" && registration["plugin"] !== null;
  const plugin = wrapped ? checks.fields("registration.plugin", registration["plugin"]) : registration;
  const id = checks.text("the channel's id", plugin["id"], 64);
  const dock = wrapped && registration["dock"] !== undefined ? checks.fields("registration.dock", registration["dock"]) : undefined;
  const value: ChannelRegistration = {
    id,
    plugin: bindParts(scope, plugin, `channel ${id}`),
    ...(dock ? { dock: bindParts(scope, dock, `channel ${id}`) } : {}),
  };
  const uncalled = uncalledIn(plugin);
  if (uncalled.length > 0) tell("warn", "members-not-called", `the channel ${id} has members that this version does not call: ${uncalled.join(", ")}`);
  ledger.enter({ kind: "channel", name: id, apply: () => table.add(id, ledger.owner, value) });
}

export function registerProvider({ ledger, scope }: Binding, table: Table<ProviderRegistration>, given: unknown): void {
  const checks = checksFor("api.registerProvider");
  const provider = checks.fields("provider", given);
  const id = checks.text("provider.id", provider["id"], 128);
  ledger.enter({ kind: "provider", name: id, apply: () => table.add(id, ledger.owner, { id, provider: bindParts(scope, provider, `provider ${id}`) }) });
}

/** Registers what adds commands to `openclaw`. Without names it is run for every command that is not known otherwise. */
export function registerCli(binding: Binding, table: Table<CliRegistration>, registrar: unknown, given: unknown): void {
  const { ledger, scope, nextNumber } = binding;
  const checks = checksFor("api.registerCli");
  const register = scope.bind(checks.fn("registrar", registrar), "a CLI registrar");
  const options = checks.options("options", given);
  const descriptors: readonly Fields[] =
    options["descriptors"] === undefined
      ? []
      : Array.isArray(options["descriptors"])
        ? options["descriptors"].map((one, at) => checks.fields(`options.descriptors[${at}]`, one))
        : checks.fail("options.descriptors", "a list", options["descriptors"]);
  const named = options["commands"] === undefined ? [] : checks.texts("options.commands", options["commands"]);
  const commands = [...new Set([...named, ...descriptors.map((one, at) => checks.text(`options.descriptors[${at}].name`, one["name"]))])];
  const parentPath = options["parentPath"] === undefined ? undefined : checks.texts("options.parentPath", options["parentPath"]);
  const value: CliRegistration = { commands, descriptors, register, ...(parentPath ? { parentPath } : {}) };
  ledger.enter({ kind: "cli", name: commands.join(", ") || "(unnamed)", apply: () => table.add(`cli ${nextNumber()}`, ledger.owner, value) });
}

export function registerService({ ledger, scope }: Binding, table: Table<ServiceRegistration>, given: unknown): void {
  const checks = checksFor("api.registerService");
  const service = checks.fields("service", given);
  const id = checks.text("service.id", service["id"], 128);
  const start = checks.fn("service.start", service["start"]);
  const stop = checks.maybeFn("service.stop", service["stop"]);
  const value: ServiceRegistration = {
    id,
    start: scope.bind((context: Fields) => Reflect.apply(start, service, [context]), `service ${id} start`),
    ...(stop ? { stop: scope.bind((context: Fields) => Reflect.apply(stop, service, [context]), `service ${id} stop`) } : {}),
  };
  ledger.enter({ kind: "service", name: id, apply: () => table.add(`${ledger.owner.pluginId}/${id}`, ledger.owner, value) });
}
