import type { Check, Finding } from "../finding.ts";

const PROBE_MS = 3000;
/** Platforms answer over the internet. */
const ACCOUNTS_MS = 5000;

/** It runs, it answers, and it is well. */
export const gatewayHealth: Check = {
  id: "gateway.health",
  topic: "gateway",
  title: "Gateway",
  async run({ config, probe, version }) {
    if (config.current.gateway?.mode === "remote")
      return [{ part: "remote", level: "info", text: "the gateway is remote", todo: "check it with: openclaw gateway probe" }];
    const { holder, url, reachable, health, error } = await probe(PROBE_MS);
    if (!holder)
      return [{ part: "stopped", level: "info", text: "the gateway is not running", todo: "openclaw gateway (or openclaw gateway start, if it is a service)" }];
    if (!reachable || !health)
      return [
        {
          part: "silent",
          level: "error",
          text: `the gateway does not answer: ${error ?? "no response"}`,
          todo: "openclaw logs; then openclaw gateway restart",
        },
      ];
    const findings = health.problems.map((text): Finding => ({
      part: "problem",
      level: health.status === "failed" ? "error" : "warn",
      text,
      todo: "see the log: openclaw logs",
    }));
    if (health.version !== version) {
      findings.push({
        part: "version",
        level: "warn",
        text: `the gateway at ${url} is version ${health.version}, this is ${version}`,
        todo: "openclaw gateway restart",
      });
    }
    return findings;
  },
};

/** Accounts of channels, as the running gateway sees them. */
export const channelAccounts: Check = {
  id: "channels.accounts",
  topic: "gateway",
  title: "Channel accounts",
  async run({ config, accounts, probe }) {
    if (config.current.gateway?.mode === "remote" || !(await probe(PROBE_MS)).reachable) return [];
    return (await accounts(ACCOUNTS_MS)).map(({ channel, accountId, text, fix }): Finding => ({
      part: `${channel}.${accountId}`,
      level: "warn",
      text: `${channel} (${accountId}): ${text}`,
      todo: fix ?? "openclaw channels status --probe",
    }));
  },
};

/** What the rules of channels see in the configuration of their accounts. */
export const channelRules: Check = {
  id: "channels.rules",
  topic: "gateway",
  title: "Channel settings",
  async run({ config, channelRules: run }) {
    const { valid, config: current } = config.snapshot();
    if (!valid || Object.keys(current.channels ?? {}).length === 0) return [];
    return (await run()).map(({ channel, accountId, id, level, message, fix }): Finding => ({
      part: `${channel}.${accountId}.${id}`,
      level,
      text: `${channel} (${accountId}): ${message}`,
      todo: fix,
    }));
  },
};
