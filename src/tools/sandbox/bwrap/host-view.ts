import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { isInside } from "../../../base/files.ts";

/** Programs and libraries. Where they are links into /usr, links they stay. */
const SYSTEM = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Of /etc only what programs need to start and speak; no users, keys or services. */
const SETTINGS = [
  "alternatives",
  "bash.bashrc",
  "ca-certificates",
  "ca-certificates.conf",
  "debian_version",
  "gitconfig",
  "host.conf",
  "inputrc",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "locale.alias",
  "locale.conf",
  "localtime",
  "magic",
  "mime.types",
  "nsswitch.conf",
  "os-release",
  "pki/ca-trust",
  "pki/tls/certs",
  "profile",
  "protocols",
  "services",
  "ssl/certs",
  "ssl/openssl.cnf",
  "terminfo",
  "timezone",
];
/** Only of use where there is a network. */
const NETWORK_SETTINGS = ["hosts", "resolv.conf"];

/** Arguments that show the system to read and nothing else of this machine. `hidden` folders below it stay empty. */
export function hostView(network: "none" | "host", hidden: readonly string[]): readonly string[] {
  const args = ["--ro-bind", "/usr", "/usr"];
  for (const folder of SYSTEM) args.push(...shown(folder));
  for (const name of [...SETTINGS, ...(network === "host" ? NETWORK_SETTINGS : [])]) args.push("--ro-bind-try", `/etc/${name}`, `/etc/${name}`);
  for (const folder of ["/usr/local/etc", ...hidden]) {
    if (existsSync(folder) && ["/usr", ...SYSTEM].some((root) => isInside(root, folder))) args.push("--tmpfs", folder, "--remount-ro", folder);
  }
  return args;
}

function shown(folder: string): readonly string[] {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found) return [];
  return found.isSymbolicLink() ? ["--symlink", readlinkSync(folder), folder] : ["--ro-bind", folder, folder];
}
