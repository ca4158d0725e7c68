/** Types shared by all parts of this module. */

/** Where a plugin was found; earlier in this list wins over later. */
export const ORIGINS = ["config", "workspace", "global", "bundled"] as const;
export type PluginOrigin = (typeof ORIGINS)[number];

/** Something the user should know about a plugin. */
export interface PluginDiagnostic {
  readonly level: "warn" | "error";
  readonly message: string;
  readonly pluginId?: string;
  /** The file it is about. */
  readonly source?: string;
  /** In `source`, from 1. */
  readonly line?: number;
  /** In `line`, from 1. */
  readonly column?: number;
  /** What it is about in the configuration, dotted: `plugins.entries.voice.config.port`. `source` is then the configuration's file. */
  readonly path?: string;
  /** Machine-readable: `manifest-missing`, `sdk-names-missing`, `hook-unknown`, … */
  readonly code?: string;
}

/** One plugin that was found, and what was decided about it, without loading any of its code. */
export interface PluginEntry {
  readonly id: string;
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly origin: PluginOrigin;
  /** Folder that the plugin may not leave. */
  readonly rootDir: string;
  /** Absolute file to import. */
  readonly source: string;
  readonly manifest: PluginManifest;
  readonly enabled: boolean;
  /** Why it is on or off. Always set if off; if on, only where that is not the default. */
  readonly reason?: string;
  /** An error found before any code was read: in the manifest or the configuration. Only enabled plugins without an error may be imported. */
  readonly error?: string;
  /** Required settings that are not set, as configuration paths, when nothing else prevents loading. */
  readonly missingSettings?: readonly string[];
  /** The operator named it: in `plugins.allow`, or with `plugins.entries.<id>.enabled: true`. */
  readonly explicit?: boolean;
  /** `plugins.entries.<id>.config` as it stands in the configuration. */
  readonly pluginConfig?: Readonly<Record<string, unknown>>;
  /** Folders with skills, absolute; all of them exist. */
  readonly skillDirs?: readonly string[];
  /** `openclaw.channel` of its package.json: how catalogues show its channel. */
  readonly channelCard?: Readonly<Record<string, unknown>>;
}

/** `openclaw.plugin.json`. */
export interface PluginManifest {
  readonly id: string;
  readonly configSchema: Readonly<Record<string, unknown>>;
  readonly name?: string;
  readonly description?: string;
  readonly version?: string;
  readonly kind?: string | readonly string[];
  readonly channels?: readonly string[];
  readonly providers?: readonly string[];
  readonly skills?: readonly string[];
  readonly uiHints?: Readonly<
    Record<
      string,
      { readonly label?: string; readonly help?: string; readonly advanced?: boolean; readonly sensitive?: boolean; readonly placeholder?: string }
    >
  >;
  readonly contracts?: Readonly<Record<string, readonly string[]>>;
  /** All other fields of the file. */
  readonly rest: Readonly<Record<string, unknown>>;
}
