import { createServer } from "node:net";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../../base/errors.ts";
import { gatewayPort, lockFile, stateLockPath } from "../../config/index.ts";
import { lockHolder } from "../../base/instance-lock.ts";
import type { ServiceFacts } from "../deps.ts";
import { namesIn } from "../files.ts";
import type { Check, Finding } from "../finding.ts";
import { auditService, isCustom, parseService } from "../service-audit.ts";

/** The installed service file against what this version installs. */
export const serviceFile: Check = {
  id: "service.file",
  topic: "service",
  title: "Service file",
  run({ config, service: find }) {
    const service = find();
    if (service?.installed === undefined) return [];
    const installed: ServiceFacts & { installed: string } = { ...service, installed: service.installed };
    const configured = config.current.gateway?.auth?.token;
    const issues = auditService(installed, typeof configured === "string" ? configured : undefined);
    const force = isCustom(installed);
    const todo = force ? "it was edited by hand; overwrite it with: openclaw doctor --fix --force" : "rewrite it with: openclaw doctor --fix";
    const apply = async (): Promise<string> => {
      // What the file alone has would be lost with it.
      const token = parseService(service.kind, installed.installed).environment.get("OPENCLAW_GATEWAY_TOKEN");
      const saves = token !== undefined && configured === undefined;
      if (saves) await config.edit({ kind: "patch", value: { gateway: { auth: { token } } } }, { by: "cli doctor" });
      return `${saves ? "Saved its token as gateway.auth.token. " : ""}${await service.renew()}`;
    };
    // All of them go with one rewrite.
    const repair = { summary: `rewrite ${service.file}`, safe: false, ...(force ? { force } : {}), apply };
    return issues.map(({ code, text }): Finding => ({ part: code, level: "warn", text: `${service.file}: ${text}`, todo, repair }));
  },
};

const OF_US = /(?:openclaw|clawdbot|moltbot|moldbot)/i;

/** Another service that starts a gateway, or one of an earlier version. */
export const otherServices: Check = {
  id: "service.others",
  topic: "service",
  title: "Other services",
  run({ service: find, deep }) {
    const service = find();
    if (!service) return [];
    const folders = [...service.folders.user, ...(deep ? service.folders.system : [])];
    const files = folders.flatMap((folder) => namesIn(folder).map((name) => join(folder, name)));
    const others = files.filter((path) => path !== service.file && /\.(?:service|plist)$/.test(path) && OF_US.test(path) && runsGateway(path));
    return others.map((path): Finding => {
      const todo =
        service.kind === "systemd"
          ? `systemctl --user disable --now ${path.slice(path.lastIndexOf("/") + 1)}, then remove the file`
          : `launchctl bootout gui/$UID ${path}, then remove the file`;
      return { level: "warn", text: `${path} also starts a gateway`, todo: `unless it is another profile: ${todo}` };
    });
  },
};

function runsGateway(path: string): boolean {
  try {
    return /gateway/i.test(readFileSync(path, "utf8"));
  } catch {
    return false;
  }
}

/** A user's services end with the last login, unless they may linger. */
export const linger: Check = {
  id: "service.linger",
  topic: "service",
  title: "Service lingering",
  run({ service: find, userName, platform }) {
    const service = find();
    if (platform !== "linux" || service?.installed === undefined || existsSync(join("/var/lib/systemd/linger", userName))) return [];
    return [{ level: "info", text: "the service stops when you log out", todo: "loginctl enable-linger" }];
  },
};

/** Whether a port could be listened on; undefined when that is unknown. */
function isFree(port: number): Promise<boolean | undefined> {
  const { promise, resolve } = Promise.withResolvers<boolean | undefined>();
  const server = createServer();
  server.once("error", (error) => resolve(systemCode(error) === "EADDRINUSE" ? false : undefined));
  server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  return promise;
}

/** No other process uses the port, and no other gateway the configuration. */
export const otherInstances: Check = {
  id: "gateway.instances",
  topic: "service",
  title: "Other instances",
  async run({ config, env, temporary, uid }) {
    const { state, file } = config.paths;
    if (config.current.gateway?.mode === "remote") return [];
    const mine = lockHolder(stateLockPath(state));
    const other = lockHolder(lockFile(file, temporary, uid));
    const findings: Finding[] = [];
    if (other && other.stateDir !== state) {
      findings.push({
        part: "config",
        level: "warn",
        text: `process ${other.pid} runs a gateway with this configuration and the state in ${other.stateDir}`,
        todo: `stop it (kill ${other.pid}), or use a separate configuration for each`,
      });
    }
    const port = gatewayPort(env, { config: config.current.gateway?.port });
    if (mine === undefined && port !== 0 && (await isFree(port)) === false) {
      findings.push({
        part: "port",
        level: "warn",
        text: `port ${port} is used by another program, so the gateway cannot listen on it`,
        todo: "stop that program, or change the port: openclaw config set gateway.port <n>",
      });
    }
    return findings;
  },
};
