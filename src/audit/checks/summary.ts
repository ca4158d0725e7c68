import { channelScopes, isOpen } from "../channels.ts";
import { sectionAt, type AuditCheck } from "../finding.ts";

/** What there is to attack, in one line. */
export const summary: AuditCheck = ({ cfg, exposed }) => {
  const scopes = channelScopes(cfg);
  const facts = [
    `channels: ${new Set(scopes.map(({ channel }) => channel)).size}, open: ${scopes.filter(isOpen).length}`,
    `tools.elevated: ${cfg.tools?.elevated?.enabled !== false && Object.keys(sectionAt(cfg, "tools", "elevated", "allowFrom") ?? {}).length > 0 ? "on" : "off"}`,
    `exec: ${cfg.tools?.exec?.security ?? "asks"}`,
    `sandbox: ${cfg.agents?.defaults?.sandbox?.mode ?? "off"}`,
    `hooks: ${cfg.hooks?.enabled === true ? "on" : "off"}`,
    `browser: ${sectionAt(cfg, "browser")?.["enabled"] === true ? "on" : "off"}`,
    `gateway: ${exposed ? "on the network" : "this machine only"}`,
  ];
  return [{ checkId: "summary.attack_surface", severity: "info", title: "attack surface", detail: facts.join("; ") }];
};
