import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { networkInterfaces } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { beaconsOf, createFindings, type Beacon, type Findings } from "./discovery/findings.ts";
import { encodeQuery, parseAnswer, TYPE, type DnsName } from "./discovery/dns-message.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { timeoutOf } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

interface BrowseOptions {
  readonly timeoutMs: number;
  /** Where questions go. Default: the link's group for multicast DNS. */
  readonly to?: { readonly address: string; readonly port: number };
  /** Addresses of this machine to ask from. Default: one of each network, and the loopback. */
  readonly from?: readonly string[];
}

export const SERVICE: DnsName = ["_openclaw-gw", "_tcp", "local"];
const GROUP = { address: "224.0.0.251", port: 5353 } as const;
/** Packets get lost, and answers lack what belongs to them: the question is asked again, and for what is missing. */
const ASK_AGAIN_MS = 500;
const MAX_PACKET_BYTES = 9000;

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).filter(({ family }) => family === "IPv4").map(({ address }) => address));
}

/** A socket whose questions leave through one network. Its port is not that of multicast DNS: answers come back to it alone. */
async function openSocket(address: string, findings: Findings): Promise<Socket | undefined> {
  const socket = createSocket({ type: "udp4" });
  socket.on("message", (packet) => packet.length <= MAX_PACKET_BYTES && parseAnswer(packet).forEach(findings.take));
  try {
    socket.bind({ address, port: 0 });
    await once(socket, "listening");
    socket.setMulticastInterface(address);
    socket.on("error", () => {});
    return socket;
  } catch {
    socket.close();
    return undefined;
  }
}

/** Asks the local network for gateways, and listens for `timeoutMs`. */
export async function browse({ timeoutMs, to = GROUP, from = ownAddresses() }: BrowseOptions): Promise<readonly Beacon[]> {
  const findings = createFindings(SERVICE);
  const sockets = (await Promise.all(from.map((address) => openSocket(address, findings)))).filter((socket) => socket !== undefined);
  const end = performance.now() + timeoutMs;
  try {
    for (let left = timeoutMs; left > 0; left = end - performance.now()) {
      const questions = [{ name: SERVICE, type: TYPE.PTR }, ...findings.missing().map((name) => ({ name, type: TYPE.ANY }))];
      const query = encodeQuery(questions);
      // A network that cannot be sent to has no answers.
      for (const socket of sockets) socket.send(query, to.port, to.address, () => {});
      await wait(Math.min(left, ASK_AGAIN_MS));
    }
  } finally {
    for (const socket of sockets) socket.close();
  }
  return beaconsOf(findings);
}

const TIMEOUT_MS = 2000;

export const discover = defineCommand({
  options: { timeout: { type: "string", value: "ms", help: `Time to listen, in ms (default ${TIMEOUT_MS})` }, json: JSON_OPTION },
  examples: [
    { line: "openclaw gateway discover", does: "Gateways on the local network" },
    { line: "openclaw gateway discover --timeout 500 --json", does: "Listen for half a second and print JSON" },
  ],
  async run({ io, values }) {
    const timeoutMs = timeoutOf(values, TIMEOUT_MS);
    const domain = io.env["OPENCLAW_WIDE_AREA_DOMAIN"]?.trim();
    // Names of a domain of one's own are asked of its DNS server, which is not built.
    if (domain) io.err(`${domain} (OPENCLAW_WIDE_AREA_DOMAIN) is not searched in this version; only the local network is\n`);
    const beacons = await browse({ timeoutMs });
    if (values.json) return printJson(io, { timeoutMs, domains: ["local."], count: beacons.length, beacons });
    if (beacons.length === 0) return io.out(`No gateway found within ${timeoutMs} ms\n`);
    const rows = beacons.map(({ displayName, wsUrl, host }) => [displayName, wsUrl, host]);
    io.out(formatTable(["Name", "Address", "Host"], rows, { style: createStyle(io.color), columns: io.columns }));
    io.err("Anyone on the network can announce a gateway: check the address before you send a token\n");
  },
});
