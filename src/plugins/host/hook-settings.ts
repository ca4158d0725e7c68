import { messageOf } from "../../base/errors.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { resolveHookSettings, type HookSettings } from "../../hooks/index.ts";

export interface HookSettingsDeps {
  readonly config: () => OpenClawConfig;
  /** Ids of plugins that came with the gateway. */
  readonly isBundled: (pluginId: string) => boolean;
  readonly onInvalid: (pluginId: string, message: string) => void;
}

/** What the operator says about a plugin's hooks: the same object until the configuration changes. Settings that are wrong count as none. */
export function hookSettings({ config, isBundled, onInvalid }: HookSettingsDeps): (pluginId: string) => HookSettings {
  let of: OpenClawConfig | undefined;
  let known = new Map<string, HookSettings>();

  function read(pluginId: string): HookSettings {
    try {
      const settings = resolveHookSettings(of?.plugins?.entries?.[pluginId] ?? {}, `plugins.entries.${pluginId}`);
      return isBundled(pluginId) ? { ...settings, bundled: true } : settings;
    } catch (error) {
      onInvalid(pluginId, messageOf(error));
      return {};
    }
  }

  return (pluginId) => {
    const current = config();
    if (current !== of) [of, known] = [current, new Map()];
    let settings = known.get(pluginId);
    if (!settings) known.set(pluginId, (settings = read(pluginId)));
    return settings;
  };
}
