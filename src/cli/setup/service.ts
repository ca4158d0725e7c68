import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import type { ServicePort } from "../../setup/index.ts";
import { messageOf } from "../../base/errors.ts";
import { installGateway } from "../commands/gateway/install.ts";
import { control, findService, isInstalled } from "../commands/gateway/service/service.ts";
import type { Io } from "../io.ts";

const ELSEWHERE = "let something else keep `openclaw gateway` running: a container's restart policy, a supervisor, a terminal that stays open";

/** Why systemd does not start services for this user here, and what can be done about it. */
function systemdAdvice(io: Io, problem: string): string {
  if (problem.includes("is not installed")) return `systemd is not here (${problem}); ${ELSEWHERE}`;
  const start = `systemd runs no services for you in this session (${problem})`;
  if (io.env["WSL_DISTRO_NAME"])
    return `${start}; under WSL put systemd=true below [boot] into /etc/wsl.conf, run wsl --shutdown, then: openclaw gateway install`;
  const name = io.env["USER"] || userInfo().username;
  return `${start}; su and sudo open no session: log in as ${name}, or let an administrator run loginctl enable-linger ${name}, then: openclaw gateway install. Or ${ELSEWHERE}`;
}

/** Whether the service is installed, and whether this machine can have one. */
export async function lookAtService(io: Io): ReturnType<ServicePort["look"]> {
  const service = findService(io);
  if (!service) return { state: "absent", unavailable: `there are services on Linux (systemd) and macOS (launchd) only; ${ELSEWHERE}` };
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
  const problem = service ? await control(io, service.restart) : "there is no service on this platform";
  return { ok: problem === undefined, text: problem ?? "" };
}
