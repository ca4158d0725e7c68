/** Options of a driver: `--some-name value`, `--flag`, or `BENCH_SOME_NAME` in the environment. What follows `--` is left alone. */
export type Defaults = Readonly<Record<string, string | number | boolean>>;

type Widened<T> = { -readonly [K in keyof T]: T[K] extends number ? number : T[K] extends boolean ? boolean : string };

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function read(text: string, like: string | number | boolean): string | number | boolean {
  if (typeof like === "number") return Number(text);
  return typeof like === "boolean" ? text === "1" || text === "true" : text;
}

export function parseOptions<const D extends Defaults>(defaults: D, argv: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const values: Record<string, string | number | boolean> = { ...defaults };
  for (const [name, value] of Object.entries(defaults)) {
    const set = env[`BENCH_${kebab(name).replaceAll("-", "_").toUpperCase()}`];
    if (set !== undefined) values[name] = read(set, value);
  }
  const byFlag = new Map(Object.entries(defaults).map(([name, value]) => [`--${kebab(name)}`, { name, value }]));
  const rest: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at]!;
    if (word === "--") {
      rest.push(...argv.slice(at + 1));
      break;
    }
    const known = byFlag.get(word);
    if (!known && word.startsWith("--")) throw new Error(`unknown option ${word}; known are ${[...byFlag.keys()].join(", ")}`);
    if (!known) rest.push(word);
    else values[known.name] = typeof known.value === "boolean" ? true : read(argv[(at += 1)] ?? "", known.value);
  }
  return { ...(values as Widened<D>), rest };
}

/** How to reach a gateway; the same for every driver. */
export const CONNECTION = {
  url: "ws://127.0.0.1:18789",
  token: "",
  protocol: 3,
  clientId: "gateway-client",
  clientMode: "backend",
  device: false,
} as const;
