import type { DnsName, DnsRecord } from "./dns-message.ts";

/** A gateway that makes itself known. Nothing of it is proven: anybody in the network can say anything. */
export interface Beacon {
  readonly instanceName: string;
  readonly displayName: string;
  readonly domain: string;
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
  readonly gatewayTls: boolean;
  readonly wsUrl: string;
  readonly txt: Readonly<Record<string, string>>;
}

/** What was heard so far. */
export interface Findings {
  readonly take: (record: DnsRecord) => void;
  /** Names that were announced but not described yet. */
  missing(): readonly DnsName[];
  readonly instances: ReadonlyMap<string, DnsName>;
  readonly services: ReadonlyMap<string, { readonly port: number; readonly target: DnsName }>;
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly addresses: ReadonlyMap<string, ReadonlySet<string>>;
}

/** More than a network has; who sends more is up to something. */
const MAX_NAMES = 200;
const MAX_ASKED = 20;
const MAX_TEXT = 200;

const keyOf = (name: DnsName): string => name.map((label) => label.toLowerCase()).join("\0");

/** What strangers send ends up on a screen: one line, no control characters. */
// eslint-disable-next-line no-control-regex -- these are what is taken out
const clean = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "").slice(0, MAX_TEXT);

export function createFindings(service: DnsName): Findings {
  const instances = new Map<string, DnsName>();
  const services = new Map<string, { readonly port: number; readonly target: DnsName }>();
  const texts = new Map<string, readonly string[]>();
  const addresses = new Map<string, Set<string>>();
  const put = <T>(map: Map<string, T>, key: string, value: T): void => void ((map.has(key) || map.size < MAX_NAMES) && map.set(key, value));
  const wanted = keyOf(service);

  return {
    instances,
    services,
    texts,
    addresses,
    take(record) {
      const key = keyOf(record.name);
      if (record.type === "PTR") {
        if (key === wanted && record.target.length === service.length + 1) put(instances, keyOf(record.target), record.target);
      } else if (record.type === "SRV") put(services, key, record);
      else if (record.type === "TXT") put(texts, key, record.entries);
      else {
        const known = addresses.get(key) ?? new Set<string>();
        if (known.size < MAX_ASKED) put(addresses, key, known.add(record.address));
      }
    },
    missing() {
      const undescribed = [...instances].filter(([key]) => !services.has(key) || !texts.has(key)).map(([, name]) => name);
      const hosts = [...instances.keys()].map((key) => services.get(key)?.target).filter((name) => name !== undefined);
      return [...undescribed, ...hosts.filter((name) => !addresses.has(keyOf(name)))].slice(0, MAX_ASKED);
    },
  };
}

function textOf(entries: readonly string[]): Record<string, string> {
  const pairs = entries
    .filter((entry) => entry.includes("="))
    .map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)] as const);
  return Object.fromEntries(pairs.map(([key, value]) => [clean(key), clean(value)]));
}

/** The gateways whose address is known, in the order of their names. */
export function beaconsOf({ instances, services, texts, addresses }: Findings): readonly Beacon[] {
  const found = [...instances].flatMap(([key, name]): Beacon[] => {
    const service = services.get(key);
    if (!service) return [];
    const txt = textOf(texts.get(key) ?? []);
    const host = clean(service.target.join("."));
    const own = [...(addresses.get(keyOf(service.target)) ?? [])];
    const gatewayTls = txt["gatewayTls"] === "1" || txt["gatewayTls"] === "true";
    const at = own.find((address) => !address.includes(":")) ?? host;
    const instanceName = clean(name[0] ?? "");
    return [
      {
        instanceName,
        displayName: txt["displayName"] || instanceName,
        domain: `${name.slice(3).join(".")}.`,
        host,
        port: service.port,
        addresses: own,
        gatewayTls,
        wsUrl: `${gatewayTls ? "wss" : "ws"}://${at}:${service.port}`,
        txt,
      },
    ];
  });
  return found.toSorted((a, b) => (a.instanceName < b.instanceName ? -1 : 1));
}
