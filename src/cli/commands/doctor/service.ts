import { chmodSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { ServiceFacts } from "../../../doctor/index.ts";
import { writeAtomic } from "../../../base/files.ts";
import type { Io } from "../../io.ts";
import type { ServiceDefinition } from "../gateway/service/definition.ts";
import { control, findService, isInstalled } from "../gateway/service/service.ts";

const SYSTEM = {
  systemd: ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"],
  launchd: ["/Library/LaunchDaemons", "/Library/LaunchAgents"],
} as const;

async function renew(io: Io, { file, content, mode, forget }: ServiceDefinition): Promise<string> {
  const kept = `${file}.bak`;
  const temporary = (path: string): string => `${path}.${process.pid}.new`;
  writeAtomic(kept, readFileSync(file), { mode: 0o600, temporary: temporary(kept) });
  writeAtomic(file, content, { mode, temporary: temporary(file) });
  // The file's own mode, whatever the umask is.
  chmodSync(file, mode);
  const problem = await control(io, forget);
  const remark = problem === undefined ? "" : ` (the platform was not notified: ${problem})`;
  return `rewrote ${file}${remark}; the previous file is ${kept}; it takes effect with: openclaw gateway restart`;
}

/** This user's service as the doctor looks at it. */
export function serviceFacts(io: Io): ServiceFacts | undefined {
  const service = findService(io);
  if (!service) return undefined;
  const { kind, label, file, content } = service;
  return {
    kind,
    label,
    file,
    content,
    installed: isInstalled(service) ? readFileSync(file, "utf8") : undefined,
    folders: { user: [dirname(file)], system: SYSTEM[kind] },
    renew: () => renew(io, service),
  };
}
