import { defineCommand, JSON_OPTION } from "../../command.ts";
import { browse } from "../../discovery/browse.ts";
import { timeoutOf } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

const TIMEOUT_MS = 2000;

export const discover = defineCommand({
  options: { timeout: { type: "string", value: "ms", help: `how long to listen (default ${TIMEOUT_MS})` }, json: JSON_OPTION },
  examples: [
    { line: "openclaw gateway discover", does: "those that make themselves known in the local network" },
    { line: "openclaw gateway discover --timeout 500 --json", does: "listening for half a second, for machines" },
  ],
  async run({ io, values }) {
    const timeoutMs = timeoutOf(values, TIMEOUT_MS);
    const domain = io.env["OPENCLAW_WIDE_AREA_DOMAIN"]?.trim();
    // Names of a domain of one's own are asked of its DNS server, which is not built.
    if (domain) io.err(`${domain} (OPENCLAW_WIDE_AREA_DOMAIN) is not looked at yet; only the local network is\n`);
    const beacons = await browse({ timeoutMs });
    if (values.json) return printJson(io, { timeoutMs, domains: ["local."], count: beacons.length, beacons });
    if (beacons.length === 0) return io.out(`no gateway made itself known within ${timeoutMs} ms\n`);
    const rows = beacons.map(({ displayName, wsUrl, host }) => [displayName, wsUrl, host]);
    io.out(formatTable(["Name", "Address", "Host"], rows, { style: createStyle(io.color), columns: io.columns }));
    io.err("anybody in the network can say this: check whom you give a token to\n");
  },
});
