import { Type } from "typebox";
import { advanced, amount, choice, count, flag, group, map, number, secretMap, text, textOrNumber, texts } from "../pieces.ts";

const ulimit = Type.Union([Type.String(), Type.Number(), group("Both limits.", { soft: amount("Soft limit."), hard: amount("Hard limit.") })]);

const docker = group("The container that tools run in.", {
  image: text("Image."),
  containerPrefix: text("Beginning of container names.", advanced),
  workdir: text("Folder of the workspace inside."),
  readOnlyRoot: flag("Mount the root file system read-only."),
  tmpfs: texts("Folders kept in memory.", advanced),
  network: text("Docker network; none by default, host is refused."),
  user: text("User and group, as uid:gid."),
  capDrop: texts("Capabilities to drop.", advanced),
  env: secretMap("Environment variables inside."),
  setupCommand: text("Shell command run once after creation."),
  pidsLimit: count("Most processes inside.", advanced),
  memory: textOrNumber("Memory limit, such as 1g."),
  memorySwap: textOrNumber("Memory and swap together.", advanced),
  cpus: number("CPU share, such as 1.5.", { exclusiveMinimum: 0 }),
  ulimits: map("Limits by name, such as nofile.", ulimit, advanced),
  seccompProfile: text("Seccomp profile file; unconfined is refused.", advanced),
  apparmorProfile: text("AppArmor profile; unconfined is refused.", advanced),
  dns: texts("DNS servers.", advanced),
  extraHosts: texts("Extra host entries, as name:address.", advanced),
  binds: texts("Extra mounts, as /host:/container:mode."),
});

const bwrap = group("Bubblewrap: namespaces of the Linux kernel, without a daemon or containers.", {
  command: text("Program; bwrap on PATH by default.", advanced),
  network: choice("none cuts it off; host shares this machine's network, local services included.", ["none", "host"]),
  env: secretMap("Environment variables inside."),
  binds: texts("Extra mounts, as /host:/inside:mode."),
  pidsLimit: count("Most processes of one command."),
  memory: textOrNumber("Most memory of one process, such as 2g."),
  fileSize: textOrNumber("Largest file that may be written, such as 1g.", advanced),
  tmpSize: textOrNumber("Size of each folder kept in memory, such as 256m.", advanced),
});

const browser = group("A browser in a separate container.", {
  enabled: flag("Start it with the sandbox."),
  image: text("Image."),
  containerPrefix: text("Beginning of container names.", advanced),
  cdpPort: count("Port of the browser's control protocol.", advanced),
  vncPort: count("Port of the screen.", advanced),
  noVncPort: count("Port of the screen's web page.", advanced),
  headless: flag("Run without a screen."),
  enableNoVnc: flag("Serve the screen as a web page."),
  allowHostControl: flag("Let sandboxed sessions use the browser of the host."),
  autoStart: flag("Start it when it is first needed."),
  autoStartTimeoutMs: count("How long a start may take.", advanced),
  binds: texts("Mounts; when given, the tool container's are not used."),
});

export const sandbox = group("Runs an agent's tools in a sandbox.", {
  mode: choice("non-main leaves the main session on the host.", ["off", "non-main", "all"]),
  workspaceAccess: choice("How the workspace is mounted.", ["none", "ro", "rw"]),
  sessionToolsVisibility: choice("Which sessions a sandboxed session sees.", ["spawned", "all"]),
  scope: choice("Who shares one container.", ["session", "agent", "shared"]),
  perSession: flag("Older form of scope: true is session, false is shared.", advanced),
  workspaceRoot: text("Folder of the sandboxes' workspaces."),
  backend: choice("What the sandbox is made with; docker by default.", ["docker", "bwrap"]),
  docker,
  bwrap,
  browser,
  prune: group("When unused containers are removed.", {
    idleHours: amount("After this many idle hours; 0 is never."),
    maxAgeDays: amount("After this many days in any case; 0 is never."),
  }),
});
