import { dirname } from "node:path";
import type { Setup } from "../context.ts";

/** Which hooks run on events such as /new. Those that are not chosen are turned off by name, because hooks that are on as a whole run unless they are. */
export async function setUpHooks({ ask, draft, host, keep }: Setup, workspace: string): Promise<void> {
  const known = draft.config.hooks?.internal;
  if (!ask || keep) return;
  const { loadInternalHooks } = await import("../../automation/index.ts");
  const { findHooks } = await loadInternalHooks();
  const { state: stateDir, home } = host.config.paths;
  const configDir = dirname(host.config.snapshot().path);
  const found = await findHooks({ config: draft.config, env: host.env, platform: process.platform, workspaceDir: workspace, stateDir, home, configDir });
  const offered = found.hooks.filter(({ eligible, disabled, problem }) => eligible || (disabled && problem === undefined));
  if (offered.length === 0) return;
  const chosen = await ask.multiselect({
    message: "Which hooks do you want to enable? (optional)",
    options: offered.map(({ name, description, emoji }) => ({ value: name, label: `${emoji === undefined ? "" : `${emoji} `}${name}`, hint: description })),
    initialValues: known?.enabled === true ? offered.filter(({ eligible }) => eligible).map(({ name }) => name) : [],
  });
  if (chosen.length === 0) {
    if (known?.enabled === true) draft.merge({ hooks: { internal: { enabled: false } } });
    return;
  }
  const entries = Object.fromEntries(offered.map(({ name, key }) => [key, { enabled: chosen.includes(name) }]));
  draft.merge({ hooks: { internal: { enabled: true, entries } } });
}
