import { homedir } from "node:os";
import { loadCommandHost } from "../../../../plugins/index.ts";
import { AppError, messageOf } from "../../../../base/errors.ts";
import type { ProviderAuthContext, ProviderAuthMethod, ProviderAuthResult, ProviderPlugin } from "../../../../protocol/index.ts";
import type { Io } from "../../../io.ts";
import { isRemote, openUrl } from "../../../open-browser.ts";
import { loadPlugins } from "../../../plugin-source.ts";
import { prompterFor, runtimeOf } from "../../../prompter.ts";
import type { AuthView } from "./source.ts";

function contextFor(io: Io, view: AuthView, workspaceDir: string | undefined): ProviderAuthContext {
  return {
    config: structuredClone(view.config),
    agentDir: view.agentDir,
    workspaceDir,
    prompter: prompterFor(io),
    runtime: runtimeOf(io, "the login"),
    isRemote: isRemote(io.env),
    openUrl: (url) => openUrl(io.env, url),
    oauth: {
      createVpsAwareHandlers: ({ prompter, isRemote: far, openUrl: open, localBrowserMessage, manualPromptMessage }) => ({
        async onAuth({ url }) {
          io.err(far ? `Open this URL in a browser:\n${url}\n` : `${localBrowserMessage}\n${url}\n`);
          if (!far) await open(url);
        },
        onPrompt: ({ message, placeholder }) => prompter.text({ message: manualPromptMessage ?? message, placeholder }),
      }),
    },
  };
}

function methodOf({ id, auth }: ProviderPlugin, wanted: string | undefined): ProviderAuthMethod {
  const named = wanted === undefined ? (auth.length === 1 ? auth[0] : undefined) : auth.find((method) => method.id === wanted || method.kind === wanted);
  if (named) return named;
  const known = auth.map((method) => `${method.id} (${method.label})`).join(", ") || "none";
  throw new AppError("INVALID_INPUT", `expected --method with a login method of ${id}: ${known}`);
}

/** Lets a plugin log the user in. Undefined when no enabled plugin has the provider. */
export async function pluginLogin(io: Io, view: AuthView, provider: string, method: string | undefined): Promise<ProviderAuthResult | undefined> {
  const { inventory } = await loadPlugins(io);
  const has = (names: readonly string[] | undefined): boolean => names?.some((name) => view.canonical(name) === provider) ?? false;
  const plugins = inventory.entries.filter((entry) => entry.enabled && entry.error === undefined && has(entry.manifest.providers));
  const [owner] = plugins;
  if (!owner) {
    const off = inventory.entries.find((entry) => !entry.enabled && has(entry.manifest.providers));
    if (off) io.err(`The plugin ${off.id} provides ${provider} but is disabled. Enable it with: openclaw plugins enable ${off.id}\n`);
    return undefined;
  }
  const { openCommandHost } = await loadCommandHost();
  const sink = { write: ({ message }: { readonly message: string }) => io.err(`${message}\n`), flush: async () => {} };
  const { env, cwd, version } = io;
  await using host = await openCommandHost({ env, cwd, version, osHome: homedir(), inventory: { ...inventory, entries: plugins, diagnostics: [] }, sink });
  const found = host.providers.find(({ value }) => view.canonical(value.id) === provider);
  if (!found) {
    const why = host.list().find(({ error }) => error !== undefined)?.error ?? "it registers no such provider";
    throw new AppError("PLUGIN_FAILED", `the plugin ${owner.id} should provide ${provider} but does not: ${why}`);
  }
  const plugin = found.value.provider as unknown as ProviderPlugin;
  const chosen = methodOf({ ...plugin, auth: Array.isArray(plugin.auth) ? plugin.auth : [] }, method);
  host.running();
  try {
    return await chosen.run(contextFor(io, view, inventory.workspaceDir));
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("PLUGIN_FAILED", `the login of the plugin ${found.owner.pluginId} failed: ${view.redactor.text(messageOf(error))}`, { cause: error });
  }
}
