import { homedir } from "node:os";
import type { Command } from "commander";
import { loadCommandHost, type CommandHost } from "../../plugins/index.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { createIdleProcess } from "../../base/idle-process.ts";
import { formatLocated } from "../../config/index.ts";
import { requireValid } from "../config-source.ts";
import type { Io } from "../io.ts";
import { createStyle } from "../output/style.ts";
import { loadPlugins } from "../plugin-source.ts";
import { pluginsFor } from "./declared.ts";

/** Runs `openclaw memory` with arguments, for plugins that bring it as a command of theirs. */
type MemoryCommand = (args: readonly string[]) => Promise<number>;
type Registrar = CommandHost["registrars"][number];

/** Runs a command that a plugin brings. Gives its exit code; nothing when no plugin has the command. */
export async function runPluginCommand(args: readonly string[], io: Io, memoryCommand: MemoryCommand): Promise<number | undefined> {
  const [name = ""] = args;
  const { loaded, inventory } = await loadPlugins(io);
  const { plugins, declared } = pluginsFor(inventory.entries, name);
  if (plugins.length === 0) return undefined;
  requireValid(loaded.snapshot, formatLocated);
  const { openCommandHost } = await loadCommandHost();
  const style = createStyle(io.color);
  const write = ({ level, message }: { readonly level: string; readonly message: string }): void =>
    io.err(level === "info" ? `${message}\n` : `${level === "warn" ? style.yellow("warning:") : style.red("error:")} ${message}\n`);
  const { env, cwd, version } = io;
  const sink = { write, flush: async () => {} };
  const only = { ...inventory, entries: plugins, diagnostics: [] };
  await using host = await openCommandHost({ env, cwd, version, osHome: homedir(), inventory: only, sink, memoryCommand });
  const failed = host.list().filter(({ status }) => status === "error");
  const { program, owner } = await build(host, name, io);
  if (owner === undefined) {
    if (failed.length > 0 || declared) throw notThere(name, declared, failed.length > 0 ? failed : plugins);
    return undefined;
  }
  host.running();
  const code = await parse(program, args, owner);
  return code === 0 && host.faults().length > 0 ? 1 : code;
}

/** No plugin brought the command: one of them could not, or its manifest promises what its code does not keep. */
function notThere(name: string, declared: boolean, plugins: readonly { readonly id: string; readonly error?: string }[]): AppError {
  const named = plugins.map(({ id, error }) => (error === undefined ? id : `${id} (${error})`)).join("; ");
  const message = declared
    ? `the command "${name}" belongs to a plugin that does not provide it: ${named}; see: openclaw plugins doctor`
    : `unknown command "${name}"; these plugins may provide it but could not be loaded: ${named}`;
  return new AppError("PLUGIN_FAILED", message, { details: { command: name, pluginIds: plugins.map(({ id }) => id) } });
}

/** A program with the plugin's commands. The first plugin that brings the command has it; its other registrars may add to it. */
async function build(host: CommandHost, name: string, io: Io): Promise<{ readonly program: Command; readonly owner: string | undefined }> {
  const commander = await import("commander");
  const program = new commander.Command("openclaw").exitOverride().configureOutput({ writeOut: io.out, writeErr: io.err });
  const has = (): boolean => program.commands.some((command) => command.name() === name || command.aliases().includes(name));
  let owner: string | undefined;
  for (const registrar of host.registrars.filter(({ value }) => mayBring(value, name))) {
    if (owner !== undefined && registrar.owner.pluginId !== owner) continue;
    try {
      await host.register(registrar, parentOf(program, registrar.value));
    } catch (error) {
      // One that named the command is the one that is meant; one that did not has nothing to do with it, as far as anybody knows.
      if (registrar.value.commands.includes(name) || owner !== undefined) throw error;
      io.err(`${messageOf(error)}\n`);
    }
    if (has()) owner ??= registrar.owner.pluginId;
  }
  return { program, owner };
}

/** A registrar that names its commands brings no others. */
function mayBring({ commands, parentPath }: Registrar["value"], name: string): boolean {
  return parentPath?.length ? parentPath[0] === name : commands.length === 0 || commands.includes(name);
}

/** The command below which a registrar puts its own; made where it is not there. */
function parentOf(program: Command, { parentPath = [] }: Registrar["value"]): Command {
  return parentPath.reduce((above, part) => above.commands.find((command) => command.name() === part) ?? above.command(part), program);
}

async function parse(program: Command, args: readonly string[], pluginId: string): Promise<number> {
  const { CommanderError } = await import("commander");
  const stuck = Promise.withResolvers<never>();
  using _idle = createIdleProcess().watch(() => stuck.reject(new Error("it never finished")));
  try {
    await Promise.race([program.parseAsync(args, { from: "user" }), stuck.promise]);
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // The parser has already reported what was wrong with the arguments, or printed the help.
    if (error instanceof CommanderError) return error.exitCode;
    throw new AppError("PLUGIN_FAILED", `the command "${args[0]}" of the plugin ${pluginId} failed: ${messageOf(error)}`, {
      cause: error,
      details: { pluginId },
    });
  }
}
