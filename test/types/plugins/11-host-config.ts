/** The gateway's own checked configuration is what plugins get. */
import type { OpenClawConfig as PluginConfig } from "openclaw/plugin-sdk";
import type { OpenClawConfig } from "../../../src/config/index.ts";

export const asPluginsSeeIt = (config: OpenClawConfig): PluginConfig => config;
