import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import type { ServicePort, LoginPort } from "../../../setup/index.ts";
import { messageOf } from "../../../base/errors.ts";
import { installGateway } from "../gateway/install.ts";
import { control, findService, isInstalled, restartService as restartInstalled } from "../gateway/service/service.ts";
import type { Io } from "../../io.ts";
import { ownLogin } from "../models/auth/own-login.ts";
import { pluginLogin } from "../models/auth/plugin-login.ts";
import { openAuth } from "../models/auth/source.ts";
import { findTarget } from "../../gateway-target.ts";
import { tryGateway } from "../../gateway-call.ts";

const ELSEWHERE = "keep `openclaw gateway` running another way: a container restart policy, a supervisor or an open terminal";

/** Why systemd does not start services for this user here, and what can be done about it. */
function systemdAdvice(io: Io, problem: string): string {
  if (problem.includes("is not installed")) return `systemd is not available (${problem}); ${ELSEWHERE}`;
  const start = `systemd does not run user services in this session (${problem})`;
  if (io.env["WSL_DISTRO_NAME"])
    return `${start}; under WSL add systemd=true below [boot] in /etc/wsl.conf, run wsl --shutdown, then: openclaw gateway install`;
  const name = io.env["USER"] || userInfo().username;
  return `${start}; log in as ${name} instead of using su or sudo, or ask an administrator to run loginctl enable-linger ${name}, then run: openclaw gateway install. Or ${ELSEWHERE}`;
}

/** Whether the service is installed, and whether this machine can have one. */
export async function lookAtService(io: Io): ReturnType<ServicePort["look"]> {
  const service = findService(io);
  if (!service) return { state: "absent", unavailable: `services are available on Linux (systemd), macOS (launchd) and Windows (tasks) only; ${ELSEWHERE}` };
  const state = !isInstalled(service) ? "absent" : readFileSync(service.file, "utf8") === service.content ? "same" : "other";
  const problem = service.kind === "systemd" ? await control(io, [["systemctl", "--user", "show-environment"]]) : undefined;
  return { state, ...(problem === undefined ? {} : { unavailable: systemdAdvice(io, problem) }) };
}

/** Does what `openclaw gateway install` does; what that prints is the text. */
export async function installService(io: Io, force: boolean): ReturnType<ServicePort["install"]> {
  let text = "";
  const write = (part: string): void => void (text += part);
  try {
    const code = await installGateway({ ...io, out: write, err: write }, { force });
    return { ok: code === 0, text: text.trim() };
  } catch (error) {
    return { ok: false, text: `${text}${messageOf(error)}`.trim() };
  }
}

export async function restartService(io: Io): ReturnType<ServicePort["restart"]> {
  const service = findService(io);
  const problem = service ? await restartInstalled(io, service) : "services are not available on this platform";
  return { ok: problem === undefined, text: problem ?? "" };
}

const COPILOT = "github-copilot";

/** Logs in with the plugin that knows how, else as a client that the user registered. */
export async function loginTo(io: Io, provider: string): ReturnType<LoginPort["login"]> {
  const view = await openAuth(io, undefined);
  const result = await pluginLogin(io, view, provider, undefined);
  if (result) return result;
  const credential = await ownLogin(io, view, { provider, method: undefined });
  // What GitHub gives is changed for short-lived tokens, and stored as `models auth login-github-copilot` stores it.
  if (provider === COPILOT) return { profiles: [{ profileId: `${COPILOT}:github`, credential: { type: "token", provider, token: credential.access } }] };
  return { profiles: [{ profileId: `${provider}:${credential.email ?? "default"}`, credential }] };
}

const TRIES = 10;
const PAUSE_MS = 1000;
const CALL_MS = 3000;

/** A line about the health of this machine's gateway; undefined when it does not answer within some seconds, which a service may need to start. */
export async function healthOf(io: Io): Promise<string | undefined> {
  const { setTimeout: pause } = await import("node:timers/promises");
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answered = await tryGateway(io, await findTarget(io, {}), CALL_MS, (client) => client.request("health", {}));
    if (answered.ok && answered.value) return `ready in ${answered.latencyMs} ms, ${answered.value.channelOrder.length} channels`;
    await pause(PAUSE_MS);
  }
  return undefined;
}
