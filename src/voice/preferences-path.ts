import { join } from "node:path";
import { expandHome, type Config } from "../config/index.ts";

/** The file with what people chose about speech. */
export function preferencesPath(config: Pick<Config, "current" | "env" | "paths">): string {
  const path = config.env()["OPENCLAW_TTS_PREFS"]?.trim() || config.current.messages?.tts?.prefsPath?.trim();
  return path ? expandHome(path, config.paths.home) : join(config.paths.state, "settings", "tts.json");
}
